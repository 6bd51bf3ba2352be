import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createDatabase, createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace, signIn } from '../support/tenant.ts';

const CREATE_TOKEN = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }';
const SET_MEMBER = 'mutation ($w: ID!, $u: ID!, $r: Role!) { setMember(workspaceId: $w, userId: $u, role: $r) { id } }';
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

describe.each(EITHER_DATABASE)('nothing that a token makes exceeds or outlives it, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'lasting');
  });
  afterAll(() => server.stop());

  async function codeOf(query: string, variables: unknown, token: string): Promise<string> {
    return (await server.query(query, variables, token)).errors?.[0]?.extensions.code ?? 'done';
  }

  async function personal(expiresAt?: string): Promise<string> {
    const input = { name: 'script', kind: 'PERSONAL', expiresAt };
    return (await server.gql(CREATE_TOKEN, { input }))['createToken'].secret;
  }

  test('an expiring PERSONAL token makes neither users nor tokens that last longer', async () => {
    const short = await personal(inHours(1));
    const user = 'mutation ($e: String!) { createUser(input: { email: $e }) { id } }';
    expect(await codeOf(user, { e: 'lasting@example.org' }, short)).toBe('FORBIDDEN');
    for (const expiresAt of [undefined, inHours(2)]) {
      expect(await codeOf(CREATE_TOKEN, { input: { name: 'x', kind: 'PERSONAL', expiresAt } }, short)).toBe(
        'FORBIDDEN',
      );
      const input = { name: 'x', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ'], expiresAt };
      expect(await codeOf(CREATE_TOKEN, { input }, short)).toBe('FORBIDDEN');
    }
    const input = { name: 'x', kind: 'PERSONAL', expiresAt: inHours(0.5) };
    expect(await codeOf(CREATE_TOKEN, { input }, short)).toBe('done');
    expect(await codeOf(user, { e: 'lasting@example.org' }, await personal())).toBe('done');
  });

  test('an expiring token changes none that outlasts it, and ends none later than itself', async () => {
    const all = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
    const { id: productId } = await createProduct(server, { workspaceId });
    const short = await createToken(server, ADMIN_TOKEN, workspaceId, all, { expiresAt: inHours(1) });
    const update = (id: string, input: object, secret: string): Promise<string> =>
      codeOf(
        'mutation ($id: ID!, $input: UpdateTokenInput!) { updateToken(id: $id, input: $input) { id } }',
        { id, input },
        secret,
      );
    const limits = { productIds: [productId] };
    const lasting = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ'], limits);
    const longer = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ'], { ...limits, expiresAt: inHours(2) });
    for (const { id } of [lasting, longer]) {
      for (const input of [{ productIds: null }, { deviceIds: null }, { ...limits, name: 'y' }])
        expect(await update(id, input, short.secret), JSON.stringify(input)).toBe('FORBIDDEN');
      expect(await update(id, { expiresAt: null }, short.secret)).toBe('FORBIDDEN');
      expect(await update(id, { name: 'renamed' }, short.secret)).toBe('done');
    }
    const seen = async (): Promise<number> =>
      (await server.gql('{ products { totalCount } }', {}, lasting.secret))['products'].totalCount;
    await createProduct(server, { workspaceId });
    expect(await seen()).toBe(1);
    // What ends before it may be as wide as it is itself.
    expect(await update(longer.id, { productIds: null, expiresAt: inHours(0.5) }, short.secret)).toBe('done');
    expect(await update(short.id, { name: 'mine' }, short.secret)).toBe('done');
    expect(await update(lasting.id, { productIds: null }, ADMIN_TOKEN)).toBe('done');
    expect(await seen()).toBe(2);
  });

  test('nothing that lets somebody in for good is done with an expiring token of an operator', async () => {
    const short = await personal(inHours(1));
    const { userId } = await createMember(server, workspaceId, 'EDITOR');
    const { viewer } = await server.gql('{ viewer { user { id } } }');
    const refused: [mutation: string, variables: object][] = [
      ['createWorkspace(name: "lasting") { id }', {}],
      ['createUser(input: { email: "for-good@example.org", operator: true }) { id }', {}],
      ['updateUser(id: $id, input: { password: "a password of its own" }) { id }', { id: userId }],
      ['updateUser(id: $id, input: { operator: true }) { id }', { id: userId }],
      ['changePassword(newPassword: "a password of its own") { id }', {}],
      ['setMember(workspaceId: $w, userId: $id, role: ADMIN) { id }', { w: workspaceId, id: userId }],
      ['setMember(workspaceId: $w, userId: $id, role: ADMIN) { id }', { w: workspaceId, id: viewer.user.id }],
    ];
    for (const [mutation, variables] of refused) {
      const names = Object.keys(variables).map((name) => `$${name}: ID!`);
      const head = names.length === 0 ? 'mutation' : `mutation (${names.join()})`;
      expect(await codeOf(`${head} { ${mutation} }`, variables, short), mutation).toBe('FORBIDDEN');
    }
  });

  test('a person who signed in may, although the session expires', async () => {
    const admin = await createMember(server, workspaceId, 'ADMIN');
    const session = await signIn(server, admin.email);
    const input = { name: 'x', kind: 'INDIVIDUAL', workspaceId, scopes: ['READ'] };
    expect(await codeOf(CREATE_TOKEN, { input }, session)).toBe('done');
    expect(await codeOf(SET_MEMBER, { w: workspaceId, u: admin.userId, r: 'ADMIN' }, session)).toBe('done');
  });

  test('an ADMIN token adds members only for good, and only with what it has itself', async () => {
    const { userId } = await createMember(server, workspaceId, 'VIEWER');
    const all = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
    const short = await createToken(server, ADMIN_TOKEN, workspaceId, all, { expiresAt: inHours(1) });
    expect(await codeOf(SET_MEMBER, { w: workspaceId, u: userId, r: 'ADMIN' }, short.secret)).toBe('FORBIDDEN');
    const narrow = await createToken(server, ADMIN_TOKEN, workspaceId, ['READ', 'ADMIN']);
    expect(await codeOf(SET_MEMBER, { w: workspaceId, u: userId, r: 'EDITOR' }, narrow.secret)).toBe('FORBIDDEN');
    expect(await codeOf(SET_MEMBER, { w: workspaceId, u: userId, r: 'VIEWER' }, narrow.secret)).toBe('done');
    const whole = await createToken(server, ADMIN_TOKEN, workspaceId, all);
    expect(await codeOf(SET_MEMBER, { w: workspaceId, u: userId, r: 'ADMIN' }, whole.secret)).toBe('done');
  });
});

test('no write rate makes a wait without end', async () => {
  const server = await startServer({ database: 'sqlite' });
  try {
    const { id, deviceIds } = await createProduct(server);
    const set = 'mutation ($id: ID!, $rate: Float) { setWriteRate(productId: $id, perSecond: $rate) }';
    for (const rate of [5e-324, 1e-9, -1, 1e7]) {
      const answer = await server.query(set, { id, rate });
      expect(answer.errors?.[0]?.extensions.code, String(rate)).toBe('BAD_USER_INPUT');
    }
    await server.gql(set, { id, rate: 0.00001 });
    const entry = { field: 'temperature', value: 1 };
    expect((await server.record(deviceIds[0]!, entry)).status).toBe(200);
    const limited = await server.record(deviceIds[0]!, entry);
    expect(limited.status).toBe(429);
    expect(Number(limited.headers.get('retry-after'))).toBe(86_400);
    await server.gql(set, { id, rate: 0 });
    expect((await server.record(deviceIds[0]!, entry)).status).toBe(200);
  } finally {
    await server.stop();
  }
});

describe.each(EITHER_DATABASE)('over a restart on %s', (name) => {
  test('a revoked ADMIN_TOKEN stays revoked, a new one works, and cursors and ids go on', async () => {
    const database = await createDatabase(name);
    try {
      const first = await startServer({ database });
      const product = await createProduct(first, { serialNumbers: ['a', 'b', 'c'] });
      const query =
        'query ($id: ID!, $after: String) { product(id: $id) { fields { id } devices(first: 1, after: $after) { edges { node { serialNumber } } pageInfo { endCursor } } } }';
      const page = (await first.gql(query, { id: product.id }))['product'];
      const cursor: string = page.devices.pageInfo.endCursor;
      const fieldId: string = page.fields[0].id;
      const add =
        'mutation ($id: ID!) { addConfigurationField(productId: $id, input: { identifier: "N", type: NUMBER }) { id } }';
      const configurationId: string = (await first.gql(add, { id: product.id }))['addConfigurationField'].id;
      for (const text of [cursor, fieldId, configurationId]) {
        expect(text).not.toMatch(/^\d+$/);
        expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/device|field|configuration/);
      }
      const { viewer } = await first.gql('{ viewer { token { id } } }');
      await first.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: viewer.token.id });
      await first.stop();

      const again = await startServer({ database });
      expect((await again.query('{ viewer { token { id } } }')).errors?.[0]?.extensions.code).toBe('UNAUTHENTICATED');
      expect(again.process.lines.some(({ msg }) => String(msg).startsWith('ADMIN_TOKEN was revoked'))).toBe(true);
      await again.stop();

      const token = 'another-admin-token-0123456789abcdefghijkl';
      const third = await startServer({ database, env: { ADMIN_TOKEN: token } });
      const next = (await third.gql(query, { id: product.id, after: cursor }, token))['product'];
      expect(next.devices.edges).toEqual([{ node: { serialNumber: 'b' } }]);
      expect(next.fields[0].id).toBe(fieldId);
      const update = 'mutation ($id: ID!) { updateField(id: $id, input: { unit: "K" }) { unit } }';
      expect((await third.gql(update, { id: fieldId }, token))['updateField'].unit).toBe('K');
      for (const forged of ['1', `${fieldId.slice(0, -2)}AA`, Buffer.from('field 1').toString('base64url'), ''])
        expect((await third.query(update, { id: forged }, token)).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
      const remove = 'mutation ($id: ID!) { removeConfigurationField(id: $id) }';
      for (const wrong of ['1', fieldId, `${configurationId.slice(0, -2)}AA`])
        expect((await third.query(remove, { id: wrong }, token)).errors?.[0]?.extensions.code).toBe('NOT_FOUND');
      expect(await third.gql(remove, { id: configurationId }, token)).toEqual({
        removeConfigurationField: configurationId,
      });
      await third.stop();
    } finally {
      await database.drop();
    }
  });
});
