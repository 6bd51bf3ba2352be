import { graphqlSync, getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuditLog } from '../../src/domain/audit/audit-log.ts';
import { AUDITED, HIDDEN, SIZED, TOLD } from '../../src/domain/audit/audited-operations.ts';
import { createSchema } from '../../src/graphql/schema.ts';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createTenant, createToken, createWorkspace, PASSWORD, signIn } from '../support/tenant.ts';
import { DESTRUCTIVE, OPENS, REACHES } from './operations.ts';

interface InputType {
  name: string | null;
  kind: string;
  ofType: InputType | null;
}
interface Input {
  name: string;
  type: InputType;
}

const { __schema } = graphqlSync({ schema: createSchema(null), source: getIntrospectionQuery() }).data as any;
const types = new Map<string, { name: string; fields: (Input & { args: Input[] })[]; inputFields: Input[] | null }>(
  __schema.types.map((type: { name: string }) => [type.name, type]),
);
const mutations = types.get('Mutation')!.fields;

/** The argument's name and those of all inputs inside. */
function namesOf({ name, type }: Input): string[] {
  let named = type;
  while (named.ofType !== null) named = named.ofType;
  // What is told by its length is not looked into.
  const inner = SIZED.has(name) ? [] : (types.get(named.name!)?.inputFields ?? []);
  return [name, ...inner.flatMap(namesOf)];
}

describe('the table of the audit log', () => {
  test('names every mutation of the schema', () => {
    expect(Object.keys(AUDITED).sort()).toEqual(mutations.map(({ name }) => name).sort());
  });

  test('says of every argument of what is audited whether it is told, sized or hidden', () => {
    const audited = mutations.filter(({ name }) => AUDITED[name] !== null);
    const names = new Set(audited.flatMap(({ args }) => args.flatMap(namesOf)));
    for (const name of names) expect([TOLD, SIZED, HIDDEN].filter((list) => list.has(name)).length, name).toBe(1);
    for (const name of [...TOLD, ...SIZED, ...HIDDEN]) expect(names, name).toContain(name);
  });
});

const LOG = `query ($w: ID, $from: DateTime, $to: DateTime, $user: ID, $operation: String, $first: Int, $after: String) {
  auditLog(workspaceId: $w, from: $from, to: $to, userId: $user, operation: $operation, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { id at operation tokenId tokenName userId userEmail subjects arguments } }
  }
}`;

describe.each(DATABASES)('the audit log on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  async function entries(w: string | null, more: Record<string, unknown> = {}, token?: string): Promise<any[]> {
    const { auditLog } = await server.gql(LOG, { w, first: 500, ...more }, token);
    return auditLog.edges.map(({ node }: { node: unknown }) => node);
  }

  test('has an entry for every administrative mutation that was carried out', async () => {
    const owner = await createTenant(server);
    const done = new Set<string>();
    const run = async (name: string, by: string): Promise<void> => {
      const [kind, operation] = name.split('.') as [string, string];
      if (kind !== 'Mutation' || AUDITED[operation] !== 'workspace') return;
      const { query, variables } = REACHES[name]![0]!;
      await server.gql(query, variables(owner, owner), by);
      done.add(operation);
    };
    for (const name of Object.keys(REACHES).filter((key) => !DESTRUCTIVE.includes(key)))
      await run(name, owner.personal);
    for (const name of DESTRUCTIVE.filter((key) => !/removeMember|deleteWorkspace/.test(key)))
      await run(name, owner.personal);
    await run('Mutation.removeMember', server.adminToken);
    const expected = Object.keys(AUDITED).filter((name) => AUDITED[name] === 'workspace');
    expect([...done].sort()).toEqual(expected.sort());
    const log = await entries(owner.workspaceId);
    const told = new Set(log.map(({ operation }) => operation));
    expect(expected.filter((name) => !told.has(name))).toEqual([]);
    const mine = log.filter(({ operation }) => operation !== 'setMember' && operation !== 'removeMember');
    expect(new Set(mine.map(({ userEmail }) => userEmail))).toEqual(new Set([owner.email]));
    for (const { tokenName } of mine) expect(tokenName).toBe('sign-in');
    // Nothing that lets somebody in, and no source.
    const text = JSON.stringify(log);
    for (const secret of [owner.personal, owner.individual, owner.webhookId, PASSWORD, 'function Decoder'])
      expect(text).not.toContain(secret);
  });

  test('tells who did what to what, without secrets', async () => {
    const workspace = await createWorkspace(server, 'told');
    const token = await createToken(server, server.adminToken, workspace, ['READ', 'CONFIGURE', 'ADMIN']);
    const source = 'function Decoder() { return [] /* marker-source */ }';
    const before = Date.now();
    const product = await createProduct(server, {
      token: token.secret,
      input: { decoder: source, name: 'n'.repeat(150) },
    });
    await server.gql(
      `mutation ($id: ID!, $device: ID!, $source: String!) {
         saveDecoder(productId: $id, source: $source, note: "mended") { version }
         updateDevice(id: $device, input: { metadata: { key: "marker-metadata" }, tags: [], location: null }) { id }
         deleteMeasurements(deviceId: $device, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z") { measurements }
       }`,
      { id: product.id, device: product.deviceIds[0], source },
      token.secret,
    );
    const log = await entries(workspace);
    expect(log.map(({ operation, subjects }) => [operation, subjects])).toEqual([
      ['deleteMeasurements', []],
      ['updateDevice', product.deviceIds],
      ['saveDecoder', []],
      ['createDevices', product.deviceIds],
      ['createProduct', [product.id]],
      ['createToken', [token.id]],
    ]);
    for (const entry of log.slice(0, 5)) {
      expect(entry).toMatchObject({ tokenId: token.id, tokenName: 'token', userId: null, userEmail: null });
      expect(Date.parse(entry.at)).toBeGreaterThanOrEqual(before);
    }
    expect(log[5]).toMatchObject({ userEmail: 'operator@localhost' });
    expect(log[2].arguments).toEqual({
      productId: product.id,
      source: `(${source.length} characters)`,
      note: 'mended',
    });
    expect(log[1].arguments).toEqual({
      id: product.deviceIds[0],
      input: { metadata: '(25 characters)', tags: [], location: null },
    });
    expect(log[4].arguments.input).toMatchObject({ name: `${'n'.repeat(100)}… (150 characters)` });
    expect(JSON.stringify(log)).not.toContain('marker-');
  });

  test('has none for what was refused, only counted or failed', async () => {
    const workspace = await createWorkspace(server, 'refused');
    const { token } = await createMember(server, workspace, 'EDITOR');
    const input = { decoder: 'function Decoder() { return [] }' };
    const product = await createProduct(server, { token, workspaceId: workspace, input });
    const count = (await entries(workspace)).length;
    const refused = [
      'mutation ($w: ID!) { renameWorkspace(id: $w, name: "x") { id } }',
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "x", serialNumber: "serial-1" }]) { id } }',
      'mutation ($p: ID!) { createDevices(productId: $p, devices: [{ name: "a" }, { name: "b" }, { name: "c" }]) { id } }',
      'mutation ($d: ID!) { updateDevice(id: $d, input: { name: "" }) { id } }',
    ];
    const ids = { w: workspace, p: product.id, d: product.deviceIds[0] };
    for (const query of refused) expect((await server.query(query, ids, token)).errors).toHaveLength(1);
    await server.gql(
      `mutation ($d: ID!, $p: ID!) {
         deleteMeasurements(deviceId: $d, from: "2026-01-01T00:00:00Z", to: "2026-01-02T00:00:00Z", dryRun: true) { measurements }
         replayCalls(productId: $p, dryRun: true) { calls }
       }`,
      ids,
      token,
    );
    expect(await entries(workspace)).toHaveLength(count);
  });

  test('is for ADMINs of the workspace, and without one for operators', async () => {
    const workspace = await createWorkspace(server, 'readers');
    const admin = await createMember(server, workspace, 'ADMIN');
    const editor = await createMember(server, workspace, 'EDITOR');
    expect((await entries(workspace, {}, admin.token)).map(({ operation }) => operation)).toEqual([
      'setMember',
      'setMember',
    ]);
    for (const [w, token, code] of [
      [workspace, editor.token, 'FORBIDDEN'],
      [null, admin.token, 'FORBIDDEN'],
      [(await createTenant(server)).workspaceId, admin.token, 'NOT_FOUND'],
    ] as const)
      expect((await server.query(LOG, { w }, token)).errors?.[0]?.extensions.code).toBe(code);
    const { query, variables } = OPENS['Mutation.changePassword']!;
    await server.gql(query, variables!({} as never), admin.token);
    const [last, ...others] = await entries(null);
    expect(last).toMatchObject({ operation: 'changePassword', userEmail: admin.email, subjects: [admin.userId] });
    expect(last.arguments).toEqual({ currentPassword: '(hidden)', newPassword: '(hidden)' });
    const created = others.find(({ subjects }) => subjects[0] === workspace);
    expect(created).toMatchObject({ operation: 'createWorkspace', arguments: { name: 'readers' } });
    expect(others.filter(({ operation }) => operation === 'signIn')).toEqual([]);
  });

  test('shows what was asked, which names devices and their values, to who may READ', async () => {
    const { workspaceId, personal } = await createTenant(server);
    const admin = (await createToken(server, personal, workspaceId, ['ADMIN'])).secret;
    const both = (await createToken(server, personal, workspaceId, ['ADMIN', 'READ'])).secret;
    expect((await server.query(LOG, { w: workspaceId }, admin)).errors?.[0]).toMatchObject({
      extensions: { code: 'FORBIDDEN' },
      message: expect.stringContaining('READ'),
    });
    const { auditLog } = await server.gql(LOG.replace(' arguments', ''), { w: workspaceId }, admin);
    expect(auditLog.edges.length).toBeGreaterThan(0);
    expect((await entries(workspaceId, {}, both))[0].arguments).toMatchObject({ input: expect.anything() });
  });

  test('of no workspace is for operators who are members of none, too', async () => {
    const email = 'operator@example.org';
    const create = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
    await server.gql(create, { input: { email, password: PASSWORD, operator: true } });
    const [last] = await entries(null, { operation: 'createUser' }, await signIn(server, email));
    expect(last.arguments).toMatchObject({ input: { email } });
  });

  test('of a deleted workspace is gone, but its deletion is told', async () => {
    const workspace = await createWorkspace(server, 'gone');
    await createProduct(server, { workspaceId: workspace });
    await server.gql('mutation ($id: ID!) { deleteWorkspace(id: $id) }', { id: workspace });
    const [last] = await entries(null);
    expect(last).toMatchObject({ operation: 'deleteWorkspace', arguments: { id: workspace } });
    expect((await server.query(LOG, { w: workspace })).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
  });

  test('comes in pages, and by time, user and mutation', async () => {
    const workspace = await createWorkspace(server, 'pages');
    const admin = await createMember(server, workspace, 'ADMIN');
    const rename = 'mutation ($id: ID!, $name: String!) { renameWorkspace(id: $id, name: $name) { id } }';
    for (const name of ['a', 'b', 'c']) await server.gql(rename, { id: workspace, name }, admin.token);
    await server.gql(rename, { id: workspace, name: 'd' });
    const names = (list: any[]): unknown[] => list.map((entry) => entry.arguments.name ?? entry.operation);
    const seen: unknown[] = [];
    for (let after: string | null = null; ;) {
      const { auditLog }: any = await server.gql(LOG, { w: workspace, first: 2, after });
      expect(auditLog.totalCount).toBe(5);
      seen.push(...names(auditLog.edges.map(({ node }: any) => node)));
      if (!auditLog.pageInfo.hasNextPage) break;
      after = auditLog.pageInfo.endCursor;
    }
    expect(seen).toEqual(['d', 'c', 'b', 'a', 'setMember']);
    expect(names(await entries(workspace, { user: admin.userId }))).toEqual(['c', 'b', 'a']);
    expect(names(await entries(workspace, { operation: 'setMember' }))).toEqual(['setMember']);
    const [, , b] = await entries(workspace);
    expect(names(await entries(workspace, { from: b.at, to: b.at }))).toEqual([]);
    const until = names(await entries(workspace, { to: b.at }));
    const since = names(await entries(workspace, { from: b.at }));
    expect(since).toContain('b');
    expect(until).not.toContain('b');
    expect([...since, ...until]).toEqual(['d', 'c', 'b', 'a', 'setMember']);
    expect((await server.query(LOG, { w: workspace, user: '\0' })).data?.['auditLog'].edges).toEqual([]);
  });
});

test('no database looks for a mutation with a name of 900,000 characters: 20 such questions were one piece of 6 s', async () => {
  const looked: string[] = [];
  const look = (where: { operation?: string }): void => void looked.push(where.operation ?? '');
  const em = {
    find: async (_: unknown, where: object) => (look(where), []),
    findOne: async () => null,
    count: async (_: unknown, where: object) => (look(where), 0),
  };
  const log = new AuditLog({ database: { read: () => em } as never, now: () => 0 });
  const access = { requireOperator: () => {} } as never;
  const filter = { operation: 'x'.repeat(900_000) };
  await log.list(access, null, filter, 10, null);
  await log.count(access, null, filter);
  expect(Math.max(...looked.map(({ length }) => length))).toBe(100);
});
