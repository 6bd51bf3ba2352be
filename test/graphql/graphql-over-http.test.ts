import { serverAudits } from 'graphql-http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
});

afterAll(async () => {
  await server?.stop();
});

const audits = serverAudits({
  url: () => `${server.url}/graphql`,
  fetchFn: (url: string, init: RequestInit = {}) =>
    fetch(url, { ...init, headers: { ...(init.headers as object), authorization: `Token ${ADMIN_TOKEN}` } }),
});

test('every audit of graphql-http is there', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits.map(({ id, name, fn }) => [id, name, fn] as const))('%s %s', async (_id, _name, audit) => {
  const result = await audit();
  expect(result.status, 'reason' in result ? result.reason : '').toBe('ok');
});
