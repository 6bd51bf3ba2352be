import { GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { createProduct, EITHER_DATABASE, type GqlAnswer, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace, PASSWORD, signIn } from '../support/tenant.ts';
import { firstPush } from '../support/subscribe.ts';

const ALL = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
/** Time for the right to end at first; on a slow machine it is tried again with twice as much. */
const LEAST_MS = 300;
const MOST_MS = 50_000;
const slow = (ms: number): string =>
  `function Decoder() { const start = Date.now(); while (Date.now() - start < ${ms}); return [] }`;
const MORE = 'createToken(input: { kind: PERSONAL, name: "left behind" }) { secret }';

/** What is asked for, where the right to it ends while something before it takes long. */
interface Ending {
  token: string;
  /** The mutation that comes last. */
  last: string;
  /** Ends the right to it. */
  end: () => Promise<unknown>;
}

describe.each(EITHER_DATABASE)('rights that end while mutations run, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  /** Where everybody who is asked may try decoders, whatever else they lose. */
  let productId: string;
  let slowIn: string;
  beforeAll(async () => {
    server = await startServer({ database, env: { DECODER_TIMEOUT_MS: '60000', ANONYMOUS_PER_MINUTE: '0' } });
    workspaceId = await createWorkspace(server, 'ending');
    slowIn = await createWorkspace(server, 'slow');
    ({ id: productId } = await createProduct(server, { workspaceId: slowIn }));
  });
  afterAll(() => server.stop());

  async function isMarked(name: string): Promise<boolean> {
    const query = 'query ($id: ID!) { product(id: $id) { name } }';
    return (await server.gql(query, { id: productId }))['product'].name === name;
  }

  type Ask = (document: string, token: string) => Promise<GqlAnswer | null>;

  /** The code of the last mutation's error, of which the right ends once the first of its operation has run. */
  async function codeOfLast(make: () => Promise<Ending>, ask: Ask): Promise<string | undefined> {
    for (let ms = LEAST_MS; ms < MOST_MS; ms *= 2) {
      const { token, last, end } = await make();
      const mark = crypto.randomUUID();
      const document = `mutation {
        begun: updateProduct(id: "${productId}", input: { name: "${mark}" }) { id }
        slow: testDecoder(productId: "${productId}", source: ${JSON.stringify(slow(ms))}, request: { body: "" }) { ok }
        last: ${last}
      }`;
      const asked = performance.now();
      const running = ask(document, token);
      await expect.poll(() => isMarked(mark), { interval: 5 }).toBe(true);
      await end();
      const isInTime = performance.now() - asked < ms;
      const errors = (await running)?.errors ?? [];
      // By then the slow one, which takes so long, may have ended.
      if (!isInTime) continue;
      // Those before it were allowed.
      expect(errors.map(({ path }) => path)).toEqual([['last']]);
      return errors[0]?.extensions.code;
    }
    return 'was never in time';
  }

  const byHttp: Ask = (document, token) => server.query(document, {}, token);

  async function individual(): Promise<Ending> {
    const { id, secret } = await createToken(server, server.adminToken, slowIn, ALL);
    const last = `createToken(input: { kind: INDIVIDUAL, name: "x", workspaceId: "${slowIn}", scopes: [READ] }) { secret }`;
    const end = () => server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
    return { token: secret, last, end };
  }

  async function member() {
    const { userId, email, token } = await createMember(server, workspaceId, 'ADMIN');
    await server.gql('mutation ($w: ID!, $u: ID!) { setMember(workspaceId: $w, userId: $u, role: EDITOR) { id } }', {
      w: slowIn,
      u: userId,
    });
    return { userId, email, token };
  }

  async function removedMember(last: (userId: string) => string): Promise<Ending> {
    const { userId, token } = await member();
    const remove = 'mutation ($w: ID!, $u: ID!) { removeMember(workspaceId: $w, userId: $u) { id } }';
    return { token, last: last(userId), end: () => server.gql(remove, { w: workspaceId, u: userId }) };
  }

  async function session(): Promise<Ending> {
    const { email, token } = await member();
    const other = await signIn(server, email);
    const change = `mutation { changePassword(currentPassword: "${PASSWORD}", newPassword: "${PASSWORD}!") { id } }`;
    return { token, last: MORE, end: () => server.gql(change, {}, other) };
  }

  async function operator(): Promise<Ending> {
    const { userId, token } = await member();
    const set =
      'mutation ($id: ID!, $operator: Boolean!) { updateUser(id: $id, input: { operator: $operator }) { id } }';
    await server.gql(set, { id: userId, operator: true });
    const last = `createUser(input: { email: "${crypto.randomUUID()}@example.org", operator: true }) { id }`;
    return { token, last, end: () => server.gql(set, { id: userId, operator: false }) };
  }

  const tokenOf = () =>
    `createToken(input: { kind: INDIVIDUAL, name: "x", workspaceId: "${workspaceId}", scopes: [READ] }) { secret }`;
  const backIn = (userId: string) =>
    `setMember(workspaceId: "${workspaceId}", userId: "${userId}", role: ADMIN) { id }`;

  test.each([
    ['a token that is revoked makes no other', 'UNAUTHENTICATED', individual],
    ['an ADMIN who is removed makes no token', 'NOT_FOUND', () => removedMember(tokenOf)],
    ['an ADMIN who is removed does not come back', 'NOT_FOUND', () => removedMember(backIn)],
    ['a session that a new password ended makes no token', 'UNAUTHENTICATED', session],
    ['an operator who is none any more makes none', 'FORBIDDEN', operator],
  ])('%s', async (_, code, make) => {
    expect(await codeOfLast(make, byHttp)).toBe(code);
  });

  test('nor does one over a WebSocket', async () => {
    const bySocket: Ask = (document, token) => firstPush(server.url, token, document, {});
    expect(await codeOfLast(individual, bySocket)).toBe('UNAUTHENTICATED');
  });

  test('what a mutation itself has taken away those after it have not', async () => {
    const { id, secret } = await createToken(server, server.adminToken, workspaceId, ALL);
    const { data, errors } = await server.query(
      `mutation { revoked: revokeToken(id: "${id}") last: createProduct(input: { name: "x" }) { id } }`,
      {},
      secret,
    );
    expect(data).toBeNull();
    expect(errors).toMatchObject([{ path: ['last'], extensions: { code: 'UNAUTHENTICATED' } }]);
  });
});

test('a query whose token is revoked while it waits for its turn is told so', async () => {
  const viewer = {
    type: GraphQLString,
    resolve: (_: unknown, __: unknown, context: GraphqlContext) => context.access.tokenId,
  };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { viewer } }) });
  const operations = new Operations(schema, new FairScheduler());
  const access = { tokenId: 'waits' } as Access;
  const ask = async (present: () => Access | null): Promise<unknown> => {
    const context = new GraphqlContext(access, '', {} as never, {} as never, undefined, present);
    const { result } = await operations.execute(await operations.admit({ query: '{ viewer }' }, context));
    return result.errors?.[0]?.originalError ?? result.data?.['viewer'];
  };
  expect(await ask(() => access)).toBe('waits');
  expect(await ask(() => null)).toMatchObject({ code: 'UNAUTHENTICATED' });
});
