import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createPostgresDatabase, startPostgres } from '../support/postgres.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

let server: TestServer;
let product: TestProduct;

beforeAll(async () => {
  const postgres = await startPostgres({ durable: false });
  const database = await createPostgresDatabase(postgres.url);
  server = await startServer({ alone: true, database, env: { ANONYMOUS_PER_MINUTE: '30' } });
  product = await createProduct(server, { serialNumbers: ['one', 'two'], input: { decoder: 'function Decoder() {}' } });
  expect((await server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 })).status).toBe(200);
  await postgres.stop();
});
afterAll(() => server.stop());

/** How a WebSocket whose token nobody can look up ends: 503 is "try again later", as of HTTP. */
function socketEnd(url: string): Promise<{ status: number }> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    socket.on('error', () => {});
    socket.on('open', () => socket.send('{"type":"connection_init","payload":{"token":"unknown"}}'));
    socket.on('unexpected-response', (_, { statusCode }) => resolve({ status: statusCode! }));
    socket.on('close', (code) => resolve({ status: code === 1013 ? 503 : code }));
  });
}

test('recording answers 503 with Retry-After, whether or not the device and token are in memory', async () => {
  for (const device of [product.deviceIds[0]!, product.deviceIds[1]!, 'nobody']) {
    const answer = await server.record(device, { field: 'temperature', value: 1 });
    expect(answer).toMatchObject({ status: 503, body: { code: 'UNAVAILABLE', stored: 0, rejected: [] } });
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const stranger = await server.record(product.deviceIds[0]!, [], { token: 'a-token-that-is-not-in-memory-yet' });
  expect(stranger.status).toBe(503);
});

test('a webhook call is refused with 503, so that its sender tries again', async () => {
  const response = await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: 'x' });
  expect(response.status).toBe(503);
});

test('what nobody can look up counts as no wrong password, and as no stranger', async () => {
  const signIn = 'mutation { signIn(email: "ada@example.org", password: "her password") { secret } }';
  const codes = new Set<unknown>();
  for (let at = 0; at < 12; at += 1) codes.add((await server.query(signIn, {}, null)).errors?.[0]?.extensions.code);
  expect([...codes]).toEqual(['UNAVAILABLE']);

  const own = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' };
  const doors = [
    () => server.record('one', [], { token: 'a-token-that-is-not-in-memory-yet' }),
    () => fetch(`${server.url}/integrations/api/${'x'.repeat(22)}/`, { method: 'POST', body: 'x' }),
    () => fetch(`${server.url}/graphql?query={viewer{__typename}}`, { headers: { Authorization: 'Token unknown' } }),
    () => fetch(`${server.url}/console/session`, { method: 'POST', headers: own, body: '{"token":"unknown"}' }),
    () => socketEnd(`${server.url}/graphql`),
  ];
  for (const door of doors) {
    const statuses = new Set<number>();
    for (let at = 0; at < 35; at += 1) statuses.add((await door()).status);
    expect([...statuses]).toEqual([503]);
  }
});

test('GraphQL says UNAVAILABLE for queries and mutations', async () => {
  for (const operation of [
    '{ products { edges { node { id } } } }',
    'mutation { createProduct(input: { name: "x" }) { id } }',
  ])
    expect((await server.query(operation)).errors?.[0]?.extensions.code).toBe('UNAVAILABLE');
});

test('the process stays alive and says that it is not ready', async () => {
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
});

test('many refused requests are a line a second in the log, not a stack each', async () => {
  const warnings = (): number =>
    server.process.lines.filter(({ msg }) => String(msg).startsWith('The database does not answer')).length;
  const [before, from] = [warnings(), performance.now()];
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
  await expect.poll(warnings).toBeGreaterThan(0);
  expect(warnings() - before).toBeLessThanOrEqual(Math.ceil((performance.now() - from) / 1000) + 1);
});
