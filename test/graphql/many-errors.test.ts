import { setTimeout as pause } from 'node:timers/promises';
import { GraphQLInt, GraphQLList, GraphQLObjectType, GraphQLSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { FairScheduler } from '../../src/scheduling/fair-scheduler.ts';
import { AppError } from '../../src/errors.ts';
import { MAX_ERRORS } from '../../src/graphql/context/answer-limits.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { Operations } from '../../src/graphql/operation/operations.ts';
import { countedWork } from '../support/counted-work.ts';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, type GqlAnswer, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const DEVICES = 500;
const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

describe('an operation in which very much fails', () => {
  let server: TestServer;
  let product: TestProduct;
  let reader: string;
  let recorder: string;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true });
    product = await createProduct(server, {
      serialNumbers: Array.from({ length: DEVICES }, (_, at) => `s${at}`),
      fields: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`f${at}`, 'FLOAT'])),
      input: { decoder: 'function Decoder() {}' },
    });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const token = async (scope: string): Promise<string> =>
      (await createToken(server, server.adminToken, workspaces[0].id, [scope])).secret;
    reader = await token('READ');
    recorder = await token('RECORD');
  });
  afterAll(() => server.stop());

  /** The answer, and how long its text is. */
  async function asked(query: string, variables: object, token: string) {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Token ${token}` },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    return { answer: JSON.parse(text) as GqlAnswer, length: text.length };
  }

  /** The same, during which others are heard at least so many times. */
  async function askedInPieces(least: number, ...of: Parameters<typeof asked>) {
    let last: Awaited<ReturnType<typeof asked>> | null = null;
    await expectPieces(least, () => piecesOfServer(server, async () => void (last = await asked(...of))));
    return last!;
  }

  const authors = (field: string, name = 'devices'): string =>
    `{ ${name}: devices(first: ${DEVICES}) { edges { node { ${field} } } } }`;
  const ONCE = 'product { decoder { author } }';
  /** As often as the names of an operation allow: 18 times. */
  const OFTEN = aliases(2, `product { ${aliases(3, `decoder { ${aliases(3, 'author')} }`)} }`);

  test('makes no promises where nothing of it fails and what is looked up is known', async () => {
    let answer: GqlAnswer = { data: null };
    const ask = async (): Promise<void> => {
      ({ answer } = await asked(authors(OFTEN), {}, server.adminToken));
    };
    expect((await countedWork(server, ask)).promises).toBeLessThan(5_000);
    expect(answer.errors).toBeUndefined();
    expect(answer.data?.['devices'].edges).toHaveLength(DEVICES);
  });

  test('is refused as a whole when more fails than is told', async () => {
    const { answer } = await asked(authors(OFTEN), {}, reader);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'errors' } }]);
    expect(answer.data).toBeNull();
  });

  test('tells of each item of the longest page', async () => {
    const { answer } = await asked(authors(ONCE), {}, reader);
    expect(answer.errors?.length).toBe(MAX_ERRORS);
    expect(answer.data?.['devices'].edges.length).toBe(DEVICES);
  });

  test('does not tell a name of 300,000 characters 500 times', async () => {
    const { answer, length } = await asked(authors(ONCE, 'x'.repeat(300_000)), {}, reader);
    expect(answer.errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN', 'QUERY_TOO_COMPLEX']);
    expect(length).toBeLessThan(1_000_000);
  });

  test('takes no memory for what is told nobody', async () => {
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) {
      recordMeasurements(deviceId: $d, entries: $e) { rejected { matchedDevice { ${aliases(3, 'lastHeardAt')} } } } }`;
    const e = Array.from({ length: 10_000 }, () => ({ field: 'x', value: 1 }));
    const before = server.process.residentMb();
    const { answer } = await asked(query, { d: product.deviceIds[0], e }, recorder);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'errors' } }]);
    expect(server.process.residentMb() - before).toBeLessThan(300);
  });

  test('takes no memory either for what fails only when it was looked up', async () => {
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) {
      recordMeasurements(deviceId: $d, entries: $e) { rejected { matchedDevice {
        ${aliases(3, 'latest(fields: ["nope"]) { value }')} } } } }`;
    const e = Array.from({ length: 2_500 }, () => ({ field: 'x', value: 1 }));
    const before = server.process.residentMb();
    const { answer } = await asked(query, { d: product.deviceIds[0], e }, server.adminToken);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'errors' } }]);
    expect(server.process.residentMb() - before).toBeLessThan(600);
  });

  test('that succeeds is no piece where all wait for one device', async () => {
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) {
      recordMeasurements(deviceId: $d, entries: $e) { rejected { matchedDevice {
        ${aliases(3, 'product { fields { id } }')} } } } }`;
    const e = Array.from({ length: 1_000 }, () => ({ field: 'x', value: 1 }));
    const { answer } = await askedInPieces(4, query, { d: product.deviceIds[0], e }, server.adminToken);
    expect(answer.data?.['recordMeasurements'].rejected).toHaveLength(1_000);
  });

  test('is too dear where a variable that is null fits none of its fields', async () => {
    const query = `query ($x: String = "a") {
      devices(first: ${DEVICES}) { edges { node { product { ${aliases(3, 'field(identifier: $x) { id }')} } } } } }`;
    const { answer } = await asked(query, { x: null }, reader);
    expect(answer.errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', limit: 'cost' } }]);
  });

  test('leaves the server running where one item of a list fails at once, and one before it later: it had ended', async () => {
    const password = 'a password of hers';
    const person = { email: 'two-roles@example.org', name: 'two roles', password };
    const { createUser } = await server.gql(
      'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
      { input: person },
    );
    const { createWorkspace } = await server.gql('mutation { createWorkspace(name: "other") { id } }');
    await createProduct(server, { workspaceId: createWorkspace.id, serialNumbers: [] });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    for (const { id } of workspaces)
      await server.gql(
        'mutation ($w: ID!, $u: ID!, $r: Role!) { setMember(workspaceId: $w, userId: $u, role: $r) { id } }',
        {
          w: id,
          u: createUser.id,
          r: id === createWorkspace.id ? 'VIEWER' : 'EDITOR',
        },
      );
    const { signIn } = await server.gql(
      'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { secret } }',
      { email: person.email, password },
      null,
    );
    const query = '{ products { edges { node { webhookUrl devices(first: 0) { totalCount } } } } }';
    const { errors } = await server.query(query, {}, signIn.secret);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['FORBIDDEN']);
    await pause(200);
    expect((await server.gql('{ viewer { user { email } } }', {}, signIn.secret)).viewer.user.email).toBe(person.email);
    expect(server.process.child.exitCode).toBeNull();
  });

  test('says what is wrong with variables, of long ones the first', async () => {
    const query = 'mutation ($i: CreateProductInput!) { createProduct(input: $i) { id } }';
    const unknown = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`z${at}`, 1]));
    const short = await asked(query, { i: { name: 'x', ...unknown } }, reader);
    expect(short.answer.errors?.length).toBe(40);
    const long = await asked(query, { i: { name: 'x'.repeat(900_000), ...unknown } }, reader);
    expect(long.answer.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }, {}]);
    expect(long.length).toBeLessThan(2_000_000);
  });
});

test.each([
  ['the database is away, is UNAVAILABLE', 'UNAVAILABLE'],
  ['the token may not read them, is QUERY_TOO_COMPLEX', 'FORBIDDEN'],
] as const)('an operation of which very many fields fail because %s', async (_, code) => {
  const resolve = async (): Promise<never> => {
    throw new AppError(code, 'no');
  };
  const item = new GraphQLObjectType({ name: 'Item', fields: { value: { type: GraphQLInt, resolve } } });
  const items = { type: new GraphQLList(item), resolve: () => Array.from({ length: MAX_ERRORS + 100 }, () => ({})) };
  const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { items } }) });
  const operations = new Operations(schema, new FairScheduler());
  const context = new GraphqlContext({ tokenId: 'one' } as Access, '', {} as never, {} as never);
  const { result } = await operations.execute(await operations.admit({ query: '{ items { value } }' }, context));
  const told = code === 'UNAVAILABLE' ? code : 'QUERY_TOO_COMPLEX';
  expect(result.errors?.map(({ originalError }) => (originalError as AppError).code)).toEqual([told]);
  expect(result.data).toBeNull();
});

test.each([1, MAX_ERRORS + 100])(
  'a client that is gone is no database that is away: nobody else is refused for %d fields',
  async (count) => {
    const shares = new FairScheduler();
    const refused = vi.spyOn(shares, 'refuse');
    const gone = new AppError('UNAVAILABLE', 'The client is gone.');
    const resolve = async (): Promise<never> => {
      asking.budget.end(gone);
      throw gone;
    };
    const item = new GraphQLObjectType({ name: 'Item', fields: { value: { type: GraphQLInt, resolve } } });
    const items = { type: new GraphQLList(item), resolve: () => Array.from({ length: count }, () => ({})) };
    const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: 'Query', fields: { items } }) });
    const operations = new Operations(schema, shares);
    const asking = new GraphqlContext({ tokenId: 'one' } as Access, '', {} as never, {} as never);
    await operations.execute(await operations.admit({ query: '{ items { value } }' }, asking.again()));
    expect(refused).not.toHaveBeenCalled();
  },
);
