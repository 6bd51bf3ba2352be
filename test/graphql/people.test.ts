import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace, PASSWORD, signIn } from '../support/tenant.ts';

const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
const BY_EMAIL = 'query ($email: String!) { user(email: $email) { id email } }';
const UPDATE_USER =
  'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { email name operator } }';
const DELETE_USER = 'mutation ($id: ID!) { deleteUser(id: $id) }';
const PASSWORDS =
  'mutation ($now: String, $new: String!) { changePassword(currentPassword: $now, newPassword: $new) { id } }';
const UPDATE_TOKEN = `mutation ($id: ID!, $input: UpdateTokenInput!) {
  updateToken(id: $id, input: $input) { name expiresAt products { id } devices { id } }
}`;
const WHO = '{ viewer { user { id } } }';

describe.each(EITHER_DATABASE)('people, their tokens and workspaces on %s', (database) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  async function code(query: string, variables: unknown, token?: string | null): Promise<string | undefined> {
    return (await server.query(query, variables, token)).errors?.[0]?.extensions.code;
  }

  test('a password that an operator sets or takes away ends what the user is signed in with, and nothing else', async () => {
    const { userId, token, email } = await createMember(server, await createWorkspace(server, 'reset'), 'VIEWER');
    const create = 'mutation { createToken(input: { kind: PERSONAL, name: "script" }) { secret } }';
    const script = (await server.gql(create, {}, token))['createToken'].secret;
    for (const password of ['another password', null]) {
      const session = password === null ? await signIn(server, email, 'another password') : token;
      expect(await code(WHO, {}, session)).toBeUndefined();
      await server.gql(UPDATE_USER, { id: userId, input: { name: 'Ada' } });
      expect(await code(WHO, {}, session)).toBeUndefined();
      await server.gql(UPDATE_USER, { id: userId, input: { password } });
      expect(await code(WHO, {}, session)).toBe('UNAUTHENTICATED');
    }
    expect(await code(WHO, {}, script)).toBeUndefined();
  });

  test('an ADMIN finds a user by the whole address; one of another tenant only an operator finds', async () => {
    const here = await createWorkspace(server, 'here');
    const admin = await createMember(server, here, 'ADMIN');
    const editor = await createMember(server, here, 'EDITOR');
    const stranger = await createMember(server, await createWorkspace(server, 'there'), 'EDITOR');
    const { createUser: free } = await server.gql(CREATE_USER, { input: { email: 'Free@Example.org' } });
    const find = async (email: string, token?: string) => (await server.gql(BY_EMAIL, { email }, token))['user'];
    expect(await find('FREE@example.org', admin.token)).toEqual({ id: free.id, email: 'free@example.org' });
    expect(await find('free@example', admin.token)).toBeNull();
    expect(await find('%@example.org', admin.token)).toBeNull();
    expect(await find(editor.email, admin.token)).toMatchObject({ id: editor.userId });
    expect(await find(stranger.email, admin.token)).toBeNull();
    expect(await find(stranger.email)).toMatchObject({ id: stranger.userId });
    expect(await code(BY_EMAIL, { email: 'free@example.org' }, editor.token)).toBe('FORBIDDEN');
    const product = await createProduct(server, { token: admin.token });
    const limited = await createToken(server, admin.token, here, ['ADMIN'], { productIds: [product.id] });
    expect(await code(BY_EMAIL, { email: 'free@example.org' }, limited.secret)).toBe('FORBIDDEN');
  });

  test('a user sees their own personal tokens, newest first, and revokes one', async () => {
    const { email, token } = await createMember(server, await createWorkspace(server, 'own'), 'VIEWER');
    const second = await signIn(server, email);
    const list = '{ viewer { token { id } tokens { id kind } } }';
    const { viewer } = await server.gql(list, {}, second);
    expect(viewer.tokens).toHaveLength(2);
    expect(viewer.tokens[0]).toEqual({ id: viewer.token.id, kind: 'PERSONAL' });
    expect(await code('mutation ($id: ID!) { revokeToken(id: $id) }', { id: viewer.tokens[1].id }, second)).toBe(
      undefined,
    );
    expect(await code(WHO, {}, token)).toBe('UNAUTHENTICATED');
    expect((await server.gql(list, {}, second))['viewer'].tokens).toHaveLength(1);
  });

  test('an INDIVIDUAL token lists none', async () => {
    const here = await createWorkspace(server, 'individual');
    const admin = await createMember(server, here, 'ADMIN');
    const { secret } = await createToken(server, admin.token, here, ['READ']);
    expect((await server.gql('{ viewer { tokens { id } } }', {}, secret))['viewer'].tokens).toEqual([]);
  });

  test('who knows the password changes it; other sign-ins end, made tokens stay', async () => {
    const { email, token } = await createMember(server, await createWorkspace(server, 'passwords'), 'VIEWER');
    const other = await signIn(server, email);
    const { createToken: made } = await server.gql(
      'mutation { createToken(input: { name: "cli", kind: PERSONAL }) { secret } }',
      {},
      other,
    );
    expect(await code(PASSWORDS, { now: 'wrong one', new: 'new password' }, token)).toBe('FORBIDDEN');
    expect(await code(PASSWORDS, { new: 'new password' }, token)).toBe('FORBIDDEN');
    expect(await code(PASSWORDS, { now: PASSWORD, new: 'short' }, token)).toBe('BAD_USER_INPUT');
    expect(await code(PASSWORDS, { now: PASSWORD, new: 'new password' }, token)).toBeUndefined();
    expect(await code(WHO, {}, token)).toBeUndefined();
    expect(await code(WHO, {}, made.secret)).toBeUndefined();
    expect(await code(WHO, {}, other)).toBe('UNAUTHENTICATED');
    await expect(signIn(server, email)).rejects.toThrow();
    expect(await signIn(server, email, 'new password')).toMatch(/^inl_/);
  });

  test('an operator changes a user, and deletes them with their tokens', async () => {
    const here = await createWorkspace(server, 'users');
    const { userId, email, token } = await createMember(server, here, 'EDITOR');
    expect(await code(UPDATE_USER, { id: userId, input: { name: 'x' } }, token)).toBe('FORBIDDEN');
    const changed = { name: 'Ada', email: `New-${email}`, password: 'another password' };
    expect((await server.gql(UPDATE_USER, { id: userId, input: changed }))['updateUser']).toEqual({
      name: 'Ada',
      email: `new-${email}`,
      operator: false,
    });
    expect(await signIn(server, `new-${email}`, 'another password')).toMatch(/^inl_/);
    expect(await code(UPDATE_USER, { id: userId, input: { email: 'operator@localhost' } })).toBe('CONFLICT');
    expect(await code(UPDATE_USER, { id: userId, input: { email: null } })).toBe('BAD_USER_INPUT');
    expect((await server.gql(DELETE_USER, { id: userId }))['deleteUser']).toBe(userId);
    expect(await code(WHO, {}, token)).toBe('UNAUTHENTICATED');
    expect(await code(DELETE_USER, { id: userId })).toBe('NOT_FOUND');
  });

  test('the last operator and the last ADMIN of a workspace stay', async () => {
    const { viewer } = await server.gql(WHO);
    const operator = viewer.user.id;
    expect(await code(DELETE_USER, { id: operator })).toBe('CONFLICT');
    expect(await code(UPDATE_USER, { id: operator, input: { operator: false } })).toBe('CONFLICT');
    const here = await createWorkspace(server, 'last');
    const admin = await createMember(server, here, 'ADMIN');
    await server.gql('mutation ($w: ID!, $u: ID!) { removeMember(workspaceId: $w, userId: $u) { id } }', {
      w: here,
      u: operator,
    });
    expect(await code(DELETE_USER, { id: admin.userId })).toBe('CONFLICT');
    const second = await createMemberBy(admin.token, here);
    expect(await code(DELETE_USER, { id: admin.userId })).toBeUndefined();
    expect(await code(DELETE_USER, { id: second })).toBe('CONFLICT');
  });

  async function createMemberBy(token: string, workspaceId: string): Promise<string> {
    const { createUser } = await server.gql(CREATE_USER, { input: { email: 'second@example.org' } });
    await server.gql(
      'mutation ($w: ID!, $u: ID!) { setMember(workspaceId: $w, userId: $u, role: ADMIN) { id } }',
      { w: workspaceId, u: createUser.id },
      token,
    );
    return createUser.id;
  }

  test('name, limits and end of a token change, and hold for the next request', async () => {
    const here = await createWorkspace(server, 'tokens');
    const admin = await createMember(server, here, 'ADMIN');
    const one = await createProduct(server, { token: admin.token });
    const two = await createProduct(server, { token: admin.token });
    const { id, secret } = await createToken(server, admin.token, here, ['READ']);
    const read = 'query ($id: ID!) { product(id: $id) { name } }';
    expect(await code(read, { id: two.id }, secret)).toBeUndefined();
    const input = { name: 'narrow', productIds: [one.id], expiresAt: '2099-01-01T00:00:00Z' };
    expect((await server.gql(UPDATE_TOKEN, { id, input }, admin.token))['updateToken']).toEqual({
      name: 'narrow',
      expiresAt: '2099-01-01T00:00:00.000Z',
      products: [{ id: one.id }],
      devices: null,
    });
    expect(await code(read, { id: one.id }, secret)).toBeUndefined();
    expect(await code(read, { id: two.id }, secret)).toBe('NOT_FOUND');
    const wide = { productIds: null, expiresAt: null };
    expect((await server.gql(UPDATE_TOKEN, { id, input: wide }, admin.token))['updateToken']).toMatchObject({
      name: 'narrow',
      expiresAt: null,
      products: null,
    });
    expect(await code(read, { id: two.id }, secret)).toBeUndefined();
    expect(await code(UPDATE_TOKEN, { id, input: { productIds: [] } }, admin.token)).toBe('BAD_USER_INPUT');
    expect(await code(UPDATE_TOKEN, { id, input: { deviceIds: ['x'] } }, admin.token)).toBe('NOT_FOUND');
    const past = { expiresAt: '2001-01-01T00:00:00Z' };
    expect(await code(UPDATE_TOKEN, { id, input: past }, admin.token)).toBe('BAD_USER_INPUT');
    // Nobody changes a token that may do more than they may, nor gives a personal one limits.
    const onlyAdmin = await createToken(server, admin.token, here, ['ADMIN']);
    expect(await code(UPDATE_TOKEN, { id, input: { name: 'x' } }, onlyAdmin.secret)).toBe('FORBIDDEN');
    const { viewer } = await server.gql('{ viewer { token { id } } }', {}, admin.token);
    const limit = { id: viewer.token.id, input: { productIds: [one.id] } };
    expect(await code(UPDATE_TOKEN, limit, admin.token)).toBe('BAD_USER_INPUT');
  });

  test('a workspace gets another name, and is deleted with everything in it', async () => {
    const here = await createWorkspace(server, 'before');
    const admin = await createMember(server, here, 'ADMIN');
    const editor = await createMember(server, here, 'EDITOR');
    const product = await createProduct(server, { token: admin.token, serialNumbers: ['gone-1'] });
    const { secret } = await createToken(server, admin.token, here, ['RECORD', 'READ']);
    const rename = 'mutation ($id: ID!, $name: String!) { renameWorkspace(id: $id, name: $name) { name } }';
    expect(await code(rename, { id: here, name: 'x' }, editor.token)).toBe('FORBIDDEN');
    expect(await code(rename, { id: here, name: '' }, admin.token)).toBe('BAD_USER_INPUT');
    expect(await server.gql(rename, { id: here, name: 'after' }, admin.token)).toEqual({
      renameWorkspace: { name: 'after' },
    });
    const entry = { field: 'temperature', value: 1 };
    expect((await server.record('gone-1', entry, { token: secret })).status).toBe(200);
    const remove = 'mutation ($id: ID!) { deleteWorkspace(id: $id) }';
    expect(await code(remove, { id: here }, editor.token)).toBe('FORBIDDEN');
    expect(await server.gql(remove, { id: here }, admin.token)).toEqual({ deleteWorkspace: here });
    expect((await server.record('gone-1', entry, { token: secret })).status).toBe(401);
    expect(await code('query ($id: ID!) { workspace(id: $id) { name } }', { id: here })).toBe('NOT_FOUND');
    expect(await code('query ($id: ID!) { product(id: $id) { name } }', { id: product.id })).toBe('NOT_FOUND');
    expect((await server.gql('{ viewer { workspaces { id } } }', {}, admin.token))['viewer'].workspaces).toEqual([]);
  });
});
