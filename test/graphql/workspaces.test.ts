import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace, PASSWORD, setMember, signIn } from '../support/tenant.ts';

const SET =
  'mutation ($w: ID!, $u: ID!, $r: Role!) { setMember(workspaceId: $w, userId: $u, role: $r) { members { user { id } role } } }';
const REMOVE =
  'mutation ($w: ID!, $u: ID!) { removeMember(workspaceId: $w, userId: $u) { members { user { id } role } } }';
const CREATE_USER = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id email name operator } }';
const SIGN_IN =
  'mutation ($email: String!, $password: String!) { signIn(email: $email, password: $password) { secret token { name kind scopes expiresAt } } }';

describe.each(EITHER_DATABASE)('workspaces and users on %s', (database) => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ database });
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function code(query: string, variables: unknown, token?: string | null): Promise<string | undefined> {
    return (await server.query(query, variables, token)).errors?.[0]?.extensions.code;
  }

  test('an empty database starts with an operator, their token and the workspace "default"', async () => {
    const { viewer } = await server.gql(
      '{ viewer { user { email operator } token { kind scopes } workspaces { name } } }',
    );
    expect(viewer).toEqual({
      user: { email: 'operator@localhost', operator: true },
      token: { kind: 'PERSONAL', scopes: ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'] },
      workspaces: [{ name: 'default' }],
    });
  });

  test('who creates a workspace is its first ADMIN, in the same answer already', async () => {
    const { createWorkspace: created } = await server.gql(
      'mutation { createWorkspace(name: "Höfe & Gärten") { id name members { role user { email } } tokens { id } } }',
    );
    expect(created).toEqual({
      id: expect.any(String),
      name: 'Höfe & Gärten',
      members: [{ role: 'ADMIN', user: { email: 'operator@localhost' } }],
      tokens: [],
    });
    const { workspaces } = await server.gql('{ workspaces { id } }');
    expect(workspaces.map((workspace: { id: string }) => workspace.id)).toContain(created.id);
  });

  test('a workspace says what the one who asks may do there', async () => {
    const QUERY = '{ viewer { workspaces { id scopes } } workspaces { scopes } }';
    const all = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
    const scopesOf = async (token: string, id: string): Promise<string[]> => {
      const { viewer, workspaces } = await server.gql(QUERY, {}, token);
      if (viewer.workspaces.length === 1) expect(workspaces).toEqual([{ scopes: viewer.workspaces[0].scopes }]);
      return viewer.workspaces.find((one: { id: string }) => one.id === id)?.scopes;
    };
    const [here, there] = [await createWorkspace(server, 'here'), await createWorkspace(server, 'there')];
    const viewer = await createMember(server, here, 'VIEWER');
    await setMember(server, there, viewer.userId, 'ADMIN');
    expect(await scopesOf(viewer.token, here)).toEqual(['READ']);
    expect(await scopesOf(viewer.token, there)).toEqual(all);
    const editor = await createMember(server, here, 'EDITOR');
    expect(await scopesOf(editor.token, here)).toEqual(['READ', 'RECORD', 'CONFIGURE']);
    const { id } = await createProduct(server, { input: { workspaceId: here } });
    const given = ['ADMIN', 'READ', 'CONFIGURE'];
    const whole = await createToken(server, server.adminToken, here, given);
    expect(await scopesOf(whole.secret, here)).toEqual(['READ', 'CONFIGURE', 'ADMIN']);
    // What ADMIN is for concerns the whole workspace.
    const limited = await createToken(server, server.adminToken, here, given, { productIds: [id] });
    expect(await scopesOf(limited.secret, here)).toEqual(['READ', 'CONFIGURE']);
    const few = await createToken(server, server.adminToken, here, ['READ'], { fields: ['temperature'] });
    expect(await scopesOf(few.secret, here)).toEqual(['READ']);
  });

  test.each([
    ['', 'must not be empty'],
    ['x'.repeat(201), 'at most 200'],
    ['a\0b', 'NUL'],
    ['a\nb', 'line break'],
    ['\ud800', 'surrogate'],
  ])('a workspace is not called %j', async (name, reason) => {
    const answer = await server.query('mutation ($name: String!) { createWorkspace(name: $name) { id } }', { name });
    expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
    expect(answer.errors?.[0]?.message).toMatch(/^name: /);
    expect(answer.errors?.[0]?.message).toContain(reason);
  });

  test('email addresses are unique whatever their case', async () => {
    const { createUser } = await server.gql(CREATE_USER, { input: { email: 'Ada@Example.org', password: PASSWORD } });
    expect(createUser).toMatchObject({ email: 'ada@example.org', name: null, operator: false });
    expect(await code(CREATE_USER, { input: { email: 'aDA@example.ORG' } })).toBe('CONFLICT');
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => server.query(CREATE_USER, { input: { email: 'race@example.org' } })),
    );
    expect(answers.map((answer) => answer.errors?.[0]?.extensions.code ?? 'made').sort()).toEqual([
      'CONFLICT',
      'CONFLICT',
      'CONFLICT',
      'made',
    ]);
    expect(await signIn(server, 'ADA@EXAMPLE.ORG')).toMatch(/^inl_[\w-]{43}$/);
  });

  test.each(['', 'ada', 'a b@c', '@c', 'a@', `${'x'.repeat(250)}@c.de`, 'a\0@c.de'])(
    '%j is no email address',
    async (email) => {
      const answer = await server.query(CREATE_USER, { input: { email } });
      expect(answer.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
      expect(answer.errors?.[0]?.message).toMatch(/^input\.email: /);
    },
  );

  test('a password has at least 8 characters', async () => {
    const answer = await server.query(CREATE_USER, { input: { email: 'short@example.org', password: '1234567' } });
    expect(answer.errors?.[0]).toMatchObject({
      message: expect.stringContaining('at least 8'),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  test('signIn gives a personal token for 30 days', async () => {
    await server.gql(CREATE_USER, { input: { email: 'signer@example.org', password: PASSWORD } });
    const { signIn: signed } = await server.gql(SIGN_IN, { email: 'signer@example.org', password: PASSWORD }, null);
    expect(signed.token).toMatchObject({ name: 'sign-in', kind: 'PERSONAL', scopes: [] });
    const days = (Date.parse(signed.token.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThan(30.1);
    const { viewer } = await server.gql('{ viewer { user { email } workspaces { id } } }', {}, signed.secret);
    expect(viewer).toEqual({ user: { email: 'signer@example.org' }, workspaces: [] });
  });

  test('signIn says the same for an unknown address, a wrong password and a user without one', async () => {
    await server.gql(CREATE_USER, { input: { email: 'with@example.org', password: PASSWORD } });
    await server.gql(CREATE_USER, { input: { email: 'without@example.org' } });
    const answers = [];
    for (const email of ['with@example.org', 'without@example.org', 'unknown@example.org', 'no address', 'a\0@b.c'])
      answers.push((await server.query(SIGN_IN, { email, password: 'wrong password' }, null)).errors?.[0]);
    expect(new Set(answers.map((error) => error?.message)).size).toBe(1);
    expect(new Set(answers.map((error) => error?.extensions.code))).toEqual(new Set(['UNAUTHENTICATED']));
  });

  test('after ten failures in a row an address has to wait, others do not', async () => {
    await server.gql(CREATE_USER, { input: { email: 'target@example.org', password: PASSWORD } });
    await server.gql(CREATE_USER, { input: { email: 'other@example.org', password: PASSWORD } });
    const attempt = (password: string): Promise<string | undefined> =>
      code(SIGN_IN, { email: 'Target@example.org', password }, null);
    const codes = await Promise.all(Array.from({ length: 12 }, () => attempt('wrong password')));
    expect(codes.filter((found) => found === 'UNAUTHENTICATED')).toHaveLength(10);
    expect(codes.filter((found) => found === 'RATE_LIMITED')).toHaveLength(2);
    expect(await attempt(PASSWORD)).toBe('RATE_LIMITED');
    expect(await signIn(server, 'other@example.org')).toMatch(/^inl_/);
  });

  test('only operators create users and workspaces', async () => {
    const admin = await createMember(server, await createWorkspace(server, 'theirs'), 'ADMIN');
    expect(await code('mutation { createWorkspace(name: "x") { id } }', {}, admin.token)).toBe('FORBIDDEN');
    expect(await code(CREATE_USER, { input: { email: 'x@example.org' } }, admin.token)).toBe('FORBIDDEN');
  });

  test('a changed role holds for the next request with a token from before', async () => {
    const workspaceId = await createWorkspace(server, 'roles');
    const { userId, token } = await createMember(server, workspaceId, 'VIEWER');
    const create = 'mutation ($w: ID!) { createProduct(input: { name: "x", workspaceId: $w }) { id } }';
    const read = 'query ($w: ID!) { workspace(id: $w) { name } }';
    const tokens = 'query ($w: ID!) { workspace(id: $w) { tokens { id } } }';
    expect(await code(read, { w: workspaceId }, token)).toBeUndefined();
    expect(await code(create, { w: workspaceId }, token)).toBe('FORBIDDEN');
    await server.gql(SET, { w: workspaceId, u: userId, r: 'EDITOR' });
    expect(await code(create, { w: workspaceId }, token)).toBeUndefined();
    expect(await code(tokens, { w: workspaceId }, token)).toBe('FORBIDDEN');
    await server.gql(SET, { w: workspaceId, u: userId, r: 'ADMIN' });
    expect(await code(tokens, { w: workspaceId }, token)).toBeUndefined();
    await server.gql(SET, { w: workspaceId, u: userId, r: 'VIEWER' });
    expect(await code(create, { w: workspaceId }, token)).toBe('FORBIDDEN');
    const { removeMember } = await server.gql(REMOVE, { w: workspaceId, u: userId });
    expect(removeMember.members).toHaveLength(1);
    expect(await code(read, { w: workspaceId }, token)).toBe('NOT_FOUND');
  });

  test('the last ADMIN can neither be removed nor lowered, not even by two at once', async () => {
    const workspaceId = await createWorkspace(server, 'last admin');
    const { viewer } = await server.gql('{ viewer { user { id } } }');
    const operator = viewer.user.id;
    expect(await code(SET, { w: workspaceId, u: operator, r: 'VIEWER' })).toBe('CONFLICT');
    expect(await code(REMOVE, { w: workspaceId, u: operator })).toBe('CONFLICT');
    expect(await code(SET, { w: workspaceId, u: operator, r: 'ADMIN' })).toBeUndefined();
    const other = await createMember(server, workspaceId, 'ADMIN');
    const codes = await Promise.all([
      code(REMOVE, { w: workspaceId, u: operator }, other.token),
      code(REMOVE, { w: workspaceId, u: other.userId }),
    ]);
    expect(codes.filter((found) => found === undefined)).toHaveLength(1);
    const left = codes[0] === undefined ? other.token : server.adminToken;
    const { workspace } = await server.gql(
      'query ($w: ID!) { workspace(id: $w) { members { role } } }',
      { w: workspaceId },
      left,
    );
    expect(workspace.members).toEqual([{ role: 'ADMIN' }]);
  });

  test('an ADMIN adds a user without a workspace; one of another tenant only an operator can add', async () => {
    const here = await createWorkspace(server, 'here');
    const there = await createWorkspace(server, 'there');
    const admin = await createMember(server, here, 'ADMIN');
    const { createUser: free } = await server.gql(CREATE_USER, { input: { email: 'free@example.org' } });
    const taken = await createMember(server, there, 'EDITOR');
    expect(await code(SET, { w: here, u: free.id, r: 'VIEWER' }, admin.token)).toBeUndefined();
    expect(await code(SET, { w: here, u: taken.userId, r: 'VIEWER' }, admin.token)).toBe('NOT_FOUND');
    expect(await code(SET, { w: here, u: taken.userId, r: 'VIEWER' })).toBeUndefined();
    expect(await code(SET, { w: here, u: taken.userId, r: 'EDITOR' }, admin.token)).toBeUndefined();
  });
});
