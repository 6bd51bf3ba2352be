import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const CREATE = `mutation ($input: CreateTokenInput!) {
  createToken(input: $input) { secret token { id name kind scopes products { id } devices { id } expiresAt lastUsedAt } }
}`;
const REVOKE = 'mutation ($id: ID!) { revokeToken(id: $id) }';
const VIEWER = '{ viewer { token { id } } }';

describe.each(EITHER_DATABASE)('tokens on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let admin: { userId: string; token: string };
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'tokens');
    admin = await createMember(server, workspaceId, 'ADMIN');
    product = await createProduct(server, { token: admin.token, serialNumbers: ['a', 'b'] });
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function code(query: string, variables: unknown, token?: string | null): Promise<string | undefined> {
    return (await server.query(query, variables, token)).errors?.[0]?.extensions.code;
  }

  async function refusal(
    input: Record<string, unknown>,
    token = admin.token,
  ): Promise<{ code: string; message: string }> {
    const answer = await server.query(CREATE, { input: { name: 'x', kind: 'INDIVIDUAL', ...input } }, token);
    expect(answer.data).toBeNull();
    const [error] = answer.errors ?? [];
    return { code: error?.extensions.code ?? '', message: error?.message ?? '' };
  }

  test('a token gets another secret from an ADMIN who has all of its scopes, and the old one ends', async () => {
    const renew = 'mutation ($id: ID!) { renewToken(id: $id) { secret token { id } } }';
    const { id, secret } = await createToken(server, admin.token, workspaceId, ['READ', 'RECORD']);
    expect(await code(VIEWER, {}, secret)).toBeUndefined();
    const { renewToken } = await server.gql(renew, { id }, admin.token);
    expect(renewToken).toEqual({ secret: expect.stringMatching(/^inl_[\w-]{43}$/), token: { id } });
    expect(await code(VIEWER, {}, secret)).toBe('UNAUTHENTICATED');
    expect((await server.gql(VIEWER, {}, renewToken.secret))['viewer'].token.id).toBe(id);
    const narrow = await createToken(server, admin.token, workspaceId, ['ADMIN', 'READ']);
    expect(await code(renew, { id }, narrow.secret)).toBe('FORBIDDEN');
    const short = await createToken(server, admin.token, workspaceId, ['ADMIN', 'READ', 'RECORD'], {
      expiresAt: '2090-01-01T00:00:00Z',
    });
    expect(await code(renew, { id }, short.secret)).toBe('FORBIDDEN');
    const { viewer } = await server.gql(VIEWER, {}, admin.token);
    expect(await code(renew, { id: viewer.token.id }, admin.token)).toBe('BAD_USER_INPUT');
  });

  test('an individual token has its scopes and limits, and its secret is shown once', async () => {
    const input = {
      name: 'sensor',
      kind: 'INDIVIDUAL',
      scopes: ['RECORD', 'READ'],
      deviceIds: [product.deviceIds[0]],
      expiresAt: '2099-01-01T00:00:00Z',
    };
    // workspaceId left out: the token sees one workspace only.
    const { createToken: created } = await server.gql(CREATE, { input }, admin.token);
    expect(created.secret).toMatch(/^inl_[\w-]{43}$/);
    expect(created.token).toEqual({
      id: expect.any(String),
      name: 'sensor',
      kind: 'INDIVIDUAL',
      scopes: ['RECORD', 'READ'],
      products: null,
      devices: [{ id: product.deviceIds[0] }],
      expiresAt: '2099-01-01T00:00:00.000Z',
      lastUsedAt: null,
    });
    const entry = { field: 'temperature', value: 1 };
    expect((await server.record(product.deviceIds[0]!, entry, { token: created.secret })).status).toBe(200);
    const other = await server.record(product.deviceIds[1]!, entry, { token: created.secret });
    expect([403, 404]).toContain(other.status);
  });

  test('a personal token acts as its user everywhere', async () => {
    const { createToken: created } = await server.gql(
      CREATE,
      { input: { name: 'cli', kind: 'PERSONAL' } },
      admin.token,
    );
    expect(created.token).toMatchObject({
      kind: 'PERSONAL',
      scopes: ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'],
      expiresAt: null,
    });
    const { viewer } = await server.gql('{ viewer { user { id } workspaces { id } } }', {}, created.secret);
    expect(viewer).toEqual({ user: { id: admin.userId }, workspaces: [{ id: workspaceId }] });
  });

  test.each(['workspaceId', 'scopes', 'productIds', 'deviceIds'])('a personal token takes no %s', async (key) => {
    const value = key === 'workspaceId' ? workspaceId : key === 'scopes' ? ['READ'] : ['x'];
    const found = await refusal({ kind: 'PERSONAL', [key]: value });
    expect(found).toEqual({ code: 'BAD_USER_INPUT', message: expect.stringContaining(`input.${key}`) });
  });

  test.each([
    ['scopes', {}],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['READ', 'READ'] }],
    ['productIds', { scopes: ['READ'], productIds: [] }],
    ['deviceIds', { scopes: ['READ'], deviceIds: [] }],
    ['expiresAt', { scopes: ['READ'], expiresAt: '2020-01-01T00:00:00Z' }],
    ['name', { scopes: ['READ'], name: '' }],
    ['name', { scopes: ['READ'], name: 'a\0' }],
  ])('a wrong %s is refused: %j', async (key, input) => {
    const found = await refusal(input);
    expect(found).toEqual({ code: 'BAD_USER_INPUT', message: expect.stringContaining(`input.${key}`) });
  });

  test('where the token sees several workspaces, one has to be named', async () => {
    const found = await refusal({ scopes: ['READ'] }, server.adminToken);
    expect(found).toEqual({ code: 'BAD_USER_INPUT', message: expect.stringContaining('input.workspaceId') });
  });

  test('a token never grants more than its creator has', async () => {
    const { secret } = await createToken(server, admin.token, workspaceId, ['ADMIN', 'READ']);
    expect((await refusal({ workspaceId, scopes: ['CONFIGURE'] }, secret)).code).toBe('FORBIDDEN');
    expect(await code(CREATE, { input: { name: 'x', kind: 'INDIVIDUAL', scopes: ['READ'] } }, secret)).toBeUndefined();
    expect((await refusal({ kind: 'PERSONAL' }, secret)).code).toBe('FORBIDDEN');
    const editor = await createMember(server, workspaceId, 'EDITOR');
    expect((await refusal({ workspaceId, scopes: ['READ'] }, editor.token)).code).toBe('FORBIDDEN');
    const limited = await createToken(server, admin.token, workspaceId, ['ADMIN'], { productIds: [product.id] });
    expect((await refusal({ workspaceId, scopes: ['ADMIN'] }, limited.secret)).code).toBe('FORBIDDEN');
    const expiring = await createToken(server, admin.token, workspaceId, ['ADMIN'], {
      expiresAt: '2090-01-01T00:00:00Z',
    });
    expect((await refusal({ workspaceId, scopes: ['ADMIN'] }, expiring.secret)).code).toBe('FORBIDDEN');
    const later = { workspaceId, scopes: ['ADMIN'], expiresAt: '2090-01-02T00:00:00Z' };
    expect((await refusal(later, expiring.secret)).code).toBe('FORBIDDEN');
  });

  test('a revoked token is refused by the very next request, on both doors', async () => {
    const { id, secret } = await createToken(server, admin.token, workspaceId, ['READ', 'RECORD']);
    const record = (): Promise<number> =>
      server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 }, { token: secret }).then((a) => a.status);
    expect(await code(VIEWER, {}, secret)).toBeUndefined();
    expect(await record()).toBe(200);
    expect(await server.gql(REVOKE, { id }, admin.token)).toEqual({ revokeToken: id });
    expect(await code(VIEWER, {}, secret)).toBe('UNAUTHENTICATED');
    expect(await record()).toBe(401);
    expect(await code(REVOKE, { id }, admin.token)).toBe('NOT_FOUND');
  });

  test("one's own personal tokens can be revoked, another user's do not exist", async () => {
    const { createToken: own } = await server.gql(CREATE, { input: { name: 'mine', kind: 'PERSONAL' } }, admin.token);
    expect(await code(REVOKE, { id: own.token.id })).toBe('NOT_FOUND');
    const { secret } = await createToken(server, admin.token, workspaceId, ['ADMIN']);
    expect(await code(REVOKE, { id: own.token.id }, secret)).toBe('NOT_FOUND');
    expect(await code(REVOKE, { id: own.token.id }, own.secret)).toBeUndefined();
    expect(await code(VIEWER, {}, own.secret)).toBe('UNAUTHENTICATED');
  });

  test('an expired token is refused', async () => {
    const expiresAt = new Date(Date.now() + 10_000).toISOString();
    const { secret } = await createToken(server, admin.token, workspaceId, ['READ'], { expiresAt });
    expect(await code(VIEWER, {}, secret)).toBeUndefined();
    await expect.poll(() => code(VIEWER, {}, secret)).toBe('UNAUTHENTICATED');
  });

  test('a token limited to a deleted product sees nothing, rather than everything', async () => {
    const doomed = await createProduct(server, { token: admin.token, serialNumbers: [] });
    const { secret } = await createToken(server, admin.token, workspaceId, ['READ'], { productIds: [doomed.id] });
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id: doomed.id }, admin.token);
    const data = await server.gql(
      '{ devices { edges { node { id } } } products { edges { node { id } } } viewer { token { products { id } } } }',
      {},
      secret,
    );
    expect(data).toEqual({ devices: { edges: [] }, products: { edges: [] }, viewer: { token: { products: [] } } });
  });

  test('Workspace.tokens lists the individual tokens, without secrets or hashes', async () => {
    const { workspace } = await server.gql(
      'query ($id: ID!) { workspace(id: $id) { tokens { id name kind } } }',
      { id: workspaceId },
      admin.token,
    );
    expect(workspace.tokens.length).toBeGreaterThan(3);
    expect(new Set(workspace.tokens.map((token: { kind: string }) => token.kind))).toEqual(new Set(['INDIVIDUAL']));
    const { __type } = await server.gql('{ __type(name: "Token") { fields { name } } }');
    const names = __type.fields.map((field: { name: string }) => field.name);
    expect(names).not.toContain('hash');
    expect(names).not.toContain('secret');
  });
});
