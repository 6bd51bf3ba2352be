import { afterEach, expect, inject, test } from 'vitest';
import { bootstrap } from '../src/bootstrap.ts';
import { UserSchema } from '../src/domain/entities/user.ts';
import { WorkspaceSchema } from '../src/domain/entities/workspace.ts';
import { openDomain } from './support/open-domain.ts';
import { createDatabase, DATABASES, startServer, type TestDatabase, type TestServer } from './support/server.ts';

const VIEWER =
  '{ viewer { user { id email operator } token { id } workspaces { id name members { role user { email } } } } }';
const OTHER_TOKEN = 'another-admin-token-0123456789abcdefghijklmnop';

let database: TestDatabase | undefined;
let servers: TestServer[] = [];

async function start(adminToken: string, env: Record<string, string> = {}): Promise<TestServer> {
  const server = await startServer({ database: database!, env: { ADMIN_TOKEN: adminToken, ...env } });
  servers.push(server);
  return server;
}

function printedTokens(server: TestServer): string[] {
  return server.process.lines.flatMap((line) => (typeof line['token'] === 'string' ? [line['token']] : []));
}

afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
  await database?.drop();
  database = undefined;
});

test.each(DATABASES)('%s: without ADMIN_TOKEN the first start prints a token, later starts do not', async (name) => {
  database = await createDatabase(name, { migrated: false });
  const first = await start('');
  const [token, ...others] = printedTokens(first);
  expect(others).toEqual([]);
  expect(token).toMatch(/^inl_[\w-]{43}$/);
  const { viewer } = await first.gql(VIEWER, {}, token);
  expect(viewer).toMatchObject({
    user: { email: 'operator@localhost', operator: true },
    workspaces: [{ name: 'default', members: [{ role: 'ADMIN', user: { email: 'operator@localhost' } }] }],
  });
  await first.stop();
  const second = await start('');
  expect(printedTokens(second)).toEqual([]);
  expect((await second.gql(VIEWER, {}, token))['viewer']).toEqual(viewer);
});

test.each(DATABASES)('%s: a changed ADMIN_TOKEN works beside the old one, for the same operator', async (name) => {
  database = await createDatabase(name, { migrated: false });
  const first = await startServer({ database });
  const before = (await first.gql(VIEWER))['viewer'];
  expect(printedTokens(first)).toEqual([]);
  await first.stop();
  const second = await start(OTHER_TOKEN);
  const after = (await second.gql(VIEWER, {}, OTHER_TOKEN))['viewer'];
  expect(after.user).toEqual(before.user);
  expect(after.workspaces).toEqual(before.workspaces);
  expect(after.token.id).not.toBe(before.token.id);
  expect((await second.gql(VIEWER, {}, first.adminToken))['viewer']).toEqual(before);
  await second.stop();
  // Known by now: not another one.
  const third = await start(OTHER_TOKEN);
  expect((await third.gql(VIEWER, {}, OTHER_TOKEN))['viewer']).toEqual(after);
});

const redisUrl = inject('redisUrl');
test.skipIf(redisUrl === null)('postgres: of three nodes that start at once, one makes the operator', async () => {
  database = await createDatabase('postgres', { migrated: false });
  const env = { REDIS_URL: redisUrl! };
  const nodes = await Promise.all([start('', env), start('', env), start('', env)]);
  const tokens = nodes.flatMap(printedTokens);
  expect(tokens).toHaveLength(1);
  for (const node of nodes) {
    const { viewer } = await node.gql(VIEWER, {}, tokens[0]);
    expect(viewer.workspaces).toHaveLength(1);
  }
});

test.each(DATABASES)('%s: of eight that look into an empty database at once, one makes the operator', async (name) => {
  const domain = await openDomain(name);
  try {
    await domain.database.write(async (em) => {
      await em.nativeDelete(WorkspaceSchema, {});
      await em.nativeDelete(UserSchema, {});
    });
    const look = () => bootstrap(domain.database, { adminToken: null, now: Date.now });
    const found = await Promise.all(Array.from({ length: 8 }, look));
    expect(found.filter(({ firstStart }) => firstStart)).toHaveLength(1);
    expect(new Set(found.map(({ cursorKey }) => cursorKey)).size).toBe(1);
    expect(await domain.database.read().count(UserSchema)).toBe(1);
  } finally {
    await domain.close();
  }
});
