import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { SilentProxy } from '../support/silent-proxy.ts';
import { ServerProcess } from '../support/server-process.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

/** The contract's 10 seconds, thrice: without its own time-outs the server would wait for minutes. */
const ANSWER_MS = 30_000;
const CREATE = 'mutation { createProduct(input: { name: "x" }) { id } }';

let database: TestDatabase;
let proxy: SilentProxy;
let url: string;
let server: TestServer;
let deviceId: string;

beforeAll(async () => {
  database = await createDatabase('postgres');
  ({ proxy, url } = await SilentProxy.before(database.url));
  // Each operation once: comparing would run it twice, and a database that is away fails in more than one way.
  server = await startServer({ database: { url, drop: async () => {} } });
  deviceId = (await createProduct(server)).deviceIds[0]!;
});
afterAll(async () => {
  await server.stop();
  await proxy.stop();
  await database.drop();
});

async function timed<T>(work: Promise<T>): Promise<{ result: T; ms: number }> {
  const from = performance.now();
  return { result: await work, ms: performance.now() - from };
}
const record = async (): Promise<number> => (await server.record(deviceId, { field: 'temperature', value: 1 })).status;
const ready = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;
/** Whose token it is has to be asked of the database: the status over HTTP, and what closes a WebSocket. */
const strange = 'x'.repeat(40);
const asked = async (): Promise<number> =>
  (
    await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Token ${strange}` },
      body: '{"query":"{ plans { slug } }"}',
    })
  ).status;
const connected = (): Promise<number> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: { token: strange } })));
    socket.on('close', resolve);
  });
const code = async (operation: string): Promise<unknown> =>
  (await server.query(operation)).errors?.[0]?.extensions.code ?? 'fine';

test('a database that falls silent: answers within 10 s, no start, whole again by itself after the end', async () => {
  // Several connections of each pool lie idle when it happens.
  await Promise.all(Array.from({ length: 12 }, () => Promise.all([code(CREATE), record()])));
  proxy.silent = true;
  const started = ServerProcess.start({ DATABASE_URL: url });
  const refused = expect(started).rejects.toThrow(
    /^server ended with 1: Inlet cannot start: DATABASE_URL: the database cannot be opened: [^\n]+\n \[\]$/,
  );
  const during = await Promise.all([
    timed(record()),
    timed(ready()),
    timed(asked()),
    timed(connected()),
    ...Array.from({ length: 6 }, () => timed(code(CREATE))),
    // Far more than run at once for one token.
    ...Array.from({ length: 40 }, () => timed(code('{ products { edges { node { id } } } }'))),
  ]);
  expect(during.map(({ result }) => result)).toEqual([
    503,
    503,
    503,
    1013,
    ...Array.from({ length: 46 }, () => 'UNAVAILABLE'),
  ]);
  for (const { ms } of during) expect(ms).toBeLessThan(ANSWER_MS);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  // Whoever starts meanwhile fails with one line that names the setting.
  await refused;

  proxy.silent = false;
  const whole = await timed(
    (async () => {
      for (;;) {
        const found = await Promise.all([record(), ready(), code(CREATE), code('{ viewer { user { id } } }')]);
        if (found.join() === '200,200,fine,fine') return;
      }
    })(),
  );
  expect(whole.ms).toBeLessThan(ANSWER_MS);
});

test('terminated connections and rows that somebody else has locked are UNAVAILABLE', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    await client.query('BEGIN');
    await client.query('SELECT * FROM product FOR UPDATE');
    const { products } = await server.gql('{ products(first: 1) { edges { node { id } } } }');
    const rename = `mutation { updateProduct(id: "${products.edges[0].node.id}", input: { name: "y" }) { id } }`;
    expect(await code(rename)).toBe('UNAVAILABLE');
    await client.query('ROLLBACK');
    expect(await code(rename)).toBe('fine');

    const codes = new Set<unknown>();
    const areBoth = (): boolean => codes.has('fine') && codes.has('UNAVAILABLE');
    const send = async (): Promise<void> => {
      while (!areBoth()) codes.add(await code(CREATE));
    };
    const cut = async (): Promise<void> => {
      // Longer and longer apart: a slow machine needs as long to connect.
      for (let pauseMs = 20; !areBoth(); pauseMs *= 1.1) {
        await client.query(
          'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        );
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    };
    await Promise.all([...Array.from({ length: 12 }, send), cut()]);
    expect([...codes].sort()).toEqual(['UNAVAILABLE', 'fine']);
  } finally {
    await client.end();
  }
  // Every connection that was interrupted has left its place in the pool.
  const after = await Promise.all(Array.from({ length: 16 }, () => code(CREATE)));
  expect(new Set(after)).toEqual(new Set(['fine']));
  expect(await ready()).toBe(200);
});
