import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace, PASSWORD, setMember, signIn } from '../support/tenant.ts';

const INVITE = `mutation ($w: ID!, $email: String!, $role: Role!) {
  createInvitation(workspaceId: $w, email: $email, role: $role) { invitation { id email role expiresAt } url }
}`;
const ACCEPT = `mutation ($secret: String!, $password: String!, $name: String) {
  acceptInvitation(secret: $secret, password: $password, name: $name) { secret }
}`;
const RESET = 'mutation ($id: ID!) { createPasswordReset(userId: $id) { url expiresAt } }';
const CHOOSE =
  'mutation ($secret: String!, $password: String!) { resetPassword(secret: $secret, password: $password) { secret } }';
const DAY_MS = 86_400_000;

describe.each(DATABASES)('links that let people in, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let admin: { userId: string; email: string; token: string };
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'people');
    admin = await createMember(server, workspaceId, 'ADMIN');
  });
  afterAll(async () => {
    await server?.stop();
  });

  const secretOf = (url: string): string => url.split('#')[1]!;

  async function invite(
    email: string,
    role = 'EDITOR',
    by = admin.token,
    w = workspaceId,
  ): Promise<Record<string, any>> {
    return (await server.gql(INVITE, { w, email, role }, by))['createInvitation'];
  }

  async function code(query: string, variables: unknown, by: string | null = null): Promise<Record<string, any>> {
    const answer = await server.query(query, variables, by);
    expect(answer.data ?? null).toBeNull();
    return { ...answer.errors![0]!.extensions, message: answer.errors![0]!.message };
  }

  async function membersOf(w = workspaceId): Promise<Record<string, string>> {
    const query = 'query ($w: ID!) { workspace(id: $w) { members { role user { email } } } }';
    const { workspace } = await server.gql(query, { w }, admin.token);
    return Object.fromEntries(workspace.members.map((one: any) => [one.user.email, one.role]));
  }

  test('somebody new joins by a link, once, and is signed in', async () => {
    const { invitation, url } = await invite(`New-${database}@Example.org`);
    expect(invitation).toMatchObject({ email: `new-${database}@example.org`, role: 'EDITOR' });
    expect(url).toBe(`${server.url.replace('127.0.0.1', 'localhost')}/console/join#${secretOf(url)}`);
    expect(Date.parse(invitation.expiresAt) - Date.now()).toBeGreaterThan(7 * DAY_MS - 60_000);
    const listed = 'query ($w: ID!) { workspace(id: $w) { invitations { id email } } }';
    const open = async () => (await server.gql(listed, { w: workspaceId }, admin.token))['workspace'].invitations;
    expect(await open()).toEqual([{ id: invitation.id, email: invitation.email }]);
    expect(await membersOf()).not.toHaveProperty([invitation.email]);
    const given = { secret: secretOf(url), password: 'a password of mine', name: 'New' };
    expect((await code(ACCEPT, { ...given, password: 'short' })).code).toBe('BAD_USER_INPUT');
    const many = await Promise.all([1, 2, 3].map(() => server.query(ACCEPT, given, null)));
    const [joined, ...others] = many.filter(({ data }) => data !== null);
    expect(others).toEqual([]);
    const token = joined!.data!['acceptInvitation'].secret;
    const { viewer } = await server.gql('{ viewer { user { email name operator } workspaces { id } } }', {}, token);
    expect(viewer).toEqual({
      user: { email: invitation.email, name: 'New', operator: false },
      workspaces: [{ id: workspaceId }],
    });
    expect(await membersOf()).toMatchObject({ [invitation.email]: 'EDITOR' });
    expect((await code(ACCEPT, given)).code).toBe('NOT_FOUND');
    expect(await open()).toEqual([]);
    await signIn(server, invitation.email, 'a password of mine');
  });

  test('somebody who is known gives the present password', async () => {
    const elsewhere = await createWorkspace(server, 'elsewhere');
    const person = await createMember(server, elsewhere, 'VIEWER');
    const { url } = await invite(person.email, 'VIEWER');
    const secret = secretOf(url);
    expect((await code(ACCEPT, { secret, password: 'another password' })).code).toBe('UNAUTHENTICATED');
    expect(await membersOf()).not.toHaveProperty([person.email]);
    const { acceptInvitation } = await server.gql(ACCEPT, { secret, password: PASSWORD }, null);
    const { viewer } = await server.gql('{ viewer { workspaces { id } } }', {}, acceptInvitation.secret);
    expect(viewer.workspaces).toHaveLength(2);
    const there = await code(INVITE, { w: workspaceId, email: person.email, role: 'VIEWER' }, admin.token);
    expect(there).toMatchObject({ code: 'CONFLICT', existingId: person.userId });
  });

  test('a later invitation, and a revoked one, end the link', async () => {
    const email = `twice-${database}@example.org`;
    const first = await invite(email);
    const second = await invite(email, 'VIEWER');
    const given = (url: string) => ({ secret: secretOf(url), password: PASSWORD });
    expect((await code(ACCEPT, given(first['url']))).code).toBe('NOT_FOUND');
    const revoke = 'mutation ($w: ID!, $email: String!) { revokeInvitation(workspaceId: $w, email: $email) { id } }';
    for (const _ of ['once', 'twice']) await server.gql(revoke, { w: workspaceId, email }, admin.token);
    expect((await code(ACCEPT, given(second['url']))).code).toBe('NOT_FOUND');
    expect((await code(INVITE, { w: workspaceId, email: 'none', role: 'VIEWER' }, admin.token)).code).toBe(
      'BAD_USER_INPUT',
    );
  });

  test('nobody invites into more than they may do', async () => {
    const only = await createToken(server, admin.token, workspaceId, ['ADMIN']);
    expect((await code(INVITE, { w: workspaceId, email: 'x@example.org', role: 'VIEWER' }, only.secret)).code).toBe(
      'FORBIDDEN',
    );
    const soon = { expiresAt: new Date(Date.now() + DAY_MS).toISOString() };
    const all = ['READ', 'RECORD', 'CONFIGURE', 'ADMIN'];
    const ending = await createToken(server, admin.token, workspaceId, all, soon);
    expect((await code(INVITE, { w: workspaceId, email: 'x@example.org', role: 'VIEWER' }, ending.secret)).code).toBe(
      'FORBIDDEN',
    );
  });

  test('a link for a new password works once, and ends what the user was signed in with', async () => {
    const person = await createMember(server, workspaceId, 'EDITOR');
    const { createPasswordReset: first } = await server.gql(RESET, { id: person.userId }, admin.token);
    const { createPasswordReset: second } = await server.gql(RESET, { id: person.userId }, server.adminToken);
    const password = 'another one of mine';
    expect((await code(CHOOSE, { secret: secretOf(first.url), password })).code).toBe('NOT_FOUND');
    expect((await code(ACCEPT, { secret: secretOf(second.url), password })).code).toBe('NOT_FOUND');
    expect((await code(CHOOSE, { secret: secretOf(second.url), password: 'short' })).code).toBe('BAD_USER_INPUT');
    const { resetPassword } = await server.gql(CHOOSE, { secret: secretOf(second.url), password }, null);
    await server.gql('{ viewer { user { id } } }', {}, resetPassword.secret);
    expect((await code('{ viewer { user { id } } }', {}, person.token)).code).toBe('UNAUTHENTICATED');
    expect((await code(CHOOSE, { secret: secretOf(second.url), password })).code).toBe('NOT_FOUND');
    await signIn(server, person.email, password);
  });

  test('an ADMIN gives no password to an operator, to members of other workspaces, or beyond the rights of the token', async () => {
    const elsewhere = await createWorkspace(server, 'not theirs');
    const shared = await createMember(server, workspaceId, 'VIEWER');
    await setMember(server, elsewhere, shared.userId, 'VIEWER');
    expect((await code(RESET, { id: shared.userId }, admin.token)).code).toBe('FORBIDDEN');
    const foreign = await createMember(server, elsewhere, 'VIEWER');
    expect((await code(RESET, { id: foreign.userId }, admin.token)).code).toBe('NOT_FOUND');
    const { viewer } = await server.gql('{ viewer { user { id } } }');
    expect((await code(RESET, { id: viewer.user.id }, admin.token)).code).toBe('FORBIDDEN');
    const own = await createMember(server, workspaceId, 'EDITOR');
    const only = await createToken(server, admin.token, workspaceId, ['ADMIN', 'READ']);
    expect((await code(RESET, { id: own.userId }, only.secret)).code).toBe('FORBIDDEN');
    expect((await code(RESET, { id: own.userId }, own.token)).code).toBe('FORBIDDEN');
  });

  test('users are listed to operators, and to ADMINs those of their workspaces', async () => {
    const query =
      'query ($s: String, $n: Int, $a: String) { users(search: $s, first: $n, after: $a) { edges { node { email } } pageInfo { hasNextPage endCursor } totalCount } }';
    const list = async (by: string, more: object = {}) => {
      const { users } = await server.gql(query, more, by);
      const emails: string[] = users.edges.map(({ node }: any) => node.email);
      return { ...users, emails };
    };
    const all = await list(server.adminToken);
    const mine = await list(admin.token);
    expect(mine.emails).toEqual(all.emails.filter((email: string) => mine.emails.includes(email)));
    expect(mine.emails.toSorted()).toEqual(Object.keys(await membersOf()).toSorted());
    expect(all.totalCount).toBeGreaterThan(mine.totalCount);
    const pages: string[] = [];
    for (let after: string | null = null; ;) {
      const page: Record<string, any> = await list(admin.token, { n: 2, a: after });
      pages.push(...page['emails']);
      if (!page['pageInfo'].hasNextPage) break;
      after = page['pageInfo'].endCursor;
    }
    expect(pages).toEqual(mine.emails);
    const found = await list(server.adminToken, { s: admin.email.toUpperCase().slice(0, 8) });
    expect(found.emails).toEqual([admin.email]);
    expect(found.totalCount).toBe(1);
    const { token } = await createMember(server, workspaceId, 'EDITOR');
    expect((await code(query, {}, token)).code).toBe('FORBIDDEN');
  });
});
