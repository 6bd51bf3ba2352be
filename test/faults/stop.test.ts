import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import {
  createDatabase,
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
} from '../support/server.ts';

describe.each(DATABASES)('SIGTERM on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  test('drains: what is on its way is answered and stored, newcomers are told 503, health is still told', async () => {
    const server = await startServer({ alone: true, database });
    const { deviceIds } = await createProduct(server, { serialNumbers: ['recorded', 'mutated', 'late'] });
    const [recorded, mutated, late] = deviceIds as [string, string, string];
    const status = async (path: string): Promise<number> => (await fetch(`${server.url}${path}`)).status;
    expect([await status('/healthz'), await status('/nothing')]).toEqual([200, 404]);
    await expect.poll(() => status('/readyz')).toBe(200);
    const begin = async (path: string, body: string) => {
      const socket = connect(server.process.port, '127.0.0.1');
      let answer = '';
      socket.on('data', (chunk) => (answer += chunk.toString()));
      const ended = new Promise<string>((resolve) => socket.on('close', () => resolve(answer)));
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n`;
      socket.write(`${head}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`);
      // Node says it before it hands the request on.
      while (!answer.includes('100 Continue')) await once(socket, 'data');
      socket.write(body.slice(0, 10));
      return { ended, end: () => socket.write(body.slice(10)) };
    };
    const mutation = `mutation { recordMeasurements(deviceId: "${mutated}", entries: [{ field: "temperature", value: 6 }]) { stored } }`;
    const record = await begin(
      `/v1/devices/${recorded}/record/`,
      JSON.stringify([{ field: 'temperature', value: 5, timestamp: 1_700_000_100 }]),
    );
    const graphql = await begin('/graphql', JSON.stringify({ query: mutation }));
    expect(await status('/healthz')).toBe(200);
    const exit = server.process.stop('SIGTERM');
    await expect.poll(() => status('/readyz')).toBe(503);
    expect(await status('/healthz')).toBe(200);
    const refused = await server.record(late, [{ field: 'temperature', value: 7 }]);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body).toMatchObject({ code: 'UNAVAILABLE', stored: 0, rejected: [] });
    for (const { end } of [record, graphql]) end();
    expect(await exit).toBe(0);
    expect(await record.ended).toMatch(/^HTTP\/1\.1 200/m);
    const answer = await graphql.ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200/m);
    expect(answer).toContain('{"data":{"recordMeasurements":{"stored":1}}}');

    const again = await startServer({ database });
    const latest = async (id: string): Promise<unknown> =>
      (await again.gql('query ($id: ID!) { device(id: $id) { latest { value } } }', { id })).device.latest;
    expect(await Promise.all([recorded, mutated, late].map(latest))).toEqual([[{ value: 5 }], [{ value: 6 }], []]);
    await again.stop();
  });
});

describe.each(EITHER_DATABASE)('a stop on %s', (database) => {
  test('drains: many that ask for its health when it listens no more', async () => {
    const server = await startServer({ alone: true, database });
    const crowd = Array.from({ length: 600 }, () => connect(server.process.port, '127.0.0.1').on('error', () => {}));
    await Promise.all(crowd.map((socket) => once(socket, 'connect')));
    const exit = server.process.stop('SIGTERM');
    for (let at = 0; at < crowd.length; at += 1) {
      // It hears a hundred at once, some of them in the fifth of a second for which quiet connections stay open.
      if (at % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 30));
      crowd[at]!.resume().write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8));
    }
    expect(await exit).toBe(0);
    expect(server.process.lines.filter(({ level }) => level === 'fatal')).toEqual([]);
  });

  test('does not wait for a replay to its end: who asked is told how far it came', async () => {
    const server = await startServer({ alone: true, database });
    const decoder = 'function Decoder() { for (var until = Date.now() + 150; Date.now() < until;); }';
    const { id, webhookId } = await createProduct(server, { serialNumbers: ['replayed'] });
    const call = (): Promise<unknown> =>
      fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' });
    await Promise.all(Array.from({ length: 60 }, call));
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id,
        source: decoder,
      },
    );
    const replaying = server.query('mutation ($id: ID!) { replayCalls(productId: $id) { calls } }', { id });
    const progress = 'query ($id: ID!) { product(id: $id) { replayProgress { calls } } }';
    await expect
      .poll(async () => (await server.gql(progress, { id })).product.replayProgress?.calls ?? 0)
      .toBeGreaterThan(0);
    expect(await server.process.stop('SIGTERM')).toBe(0);
    const [error] = (await replaying).errors ?? [];
    expect(error?.extensions).toMatchObject({ code: 'UNAVAILABLE', calls: expect.any(Number) });
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

/** Everything that a socket to the server receives, to its end. */
async function exchange(port: number, parts: (string | number | (() => unknown))[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (chunk) => (answer += chunk.toString()));
  socket.on('error', () => {});
  const ended = new Promise((resolve) => socket.on('close', resolve));
  for (const part of parts)
    if (typeof part === 'string') socket.write(part);
    else if (typeof part === 'number') await new Promise((resolve) => setTimeout(resolve, part));
    else part();
  await ended;
  return answer;
}

// Each has a server of its own, and mostly waits: side by side.
test.concurrent('a stop signal to the whole process group is one wish, and decoders at work finish', async ({
  expect,
}) => {
  const database = await createDatabase('sqlite');
  const server = await startServer({ alone: true, database, env: { DECODER_TIMEOUT_MS: '5000' }, ownGroup: true });
  const decoder = `function Decoder(r) { var end = Date.now() + 3_000; while (Date.now() < end); return [{ device: 'slow', field: 'temperature', value: 3 }] }`;
  const { webhookId } = await createProduct(server, { serialNumbers: ['slow'], input: { decoder } });
  const call = fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const ended = new Promise((resolve) => server.process.child.once('exit', resolve));
  process.kill(-server.process.child.pid!, 'SIGTERM');
  process.kill(-server.process.child.pid!, 'SIGTERM');
  const answer = await call;
  expect([answer.status, await answer.json()]).toEqual([200, { stored: 1, rejected: 0 }]);
  expect(await ended).toBe(0);
  await database.drop();
});

test.concurrent('an export that nobody reads does not hold the stop', async ({ expect, onTestFinished }) => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  onTestFinished(() => server.stop());
  const [device] = (await createProduct(server, { fields: { note: 'STRING' } })).deviceIds;
  const text = 'x'.repeat(4_000);
  const rows = Array.from({ length: 2_500 }, (_, at) => `note,${1_700_000_000 + at},${text}`);
  await fetch(`${server.url}/v1/devices/${device}/import`, {
    method: 'POST',
    headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'text/csv' },
    body: `field,timestamp,value\n${rows.join('\n')}`,
  });
  // Some 10 MB: more than the buffers of both ends take.
  const socket = connect(server.process.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  socket.write(
    `GET /v1/devices/${device}/history.ndjson HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n\r\n`,
  );
  await once(socket, 'readable');
  expect(await server.process.stop('SIGTERM')).toBe(0);
  // What does not end by itself is cut after twenty seconds, as an error.
  const lines = server.process.lines.filter(({ level }) => level === 'warn' || level === 'error');
  expect(lines).toMatchObject([{ level: 'warn', answers: 1 }]);
});

test.concurrent('a body that never ends is answered 503 and does not hold the stop; so is a request on an open connection, with Connection: close', async ({
  expect,
}) => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  const { deviceIds } = await createProduct(server);
  const get = 'GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n';
  // Keeps the stop going.
  const held = exchange(server.process.port, [
    `POST /v1/devices/${deviceIds[0]}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n`,
    'Content-Length: 100\r\n\r\n[{',
  ]);
  let exit: Promise<number | null> | undefined;
  const stop = (): unknown => (exit = server.process.stop('SIGTERM'));
  const answer = await exchange(server.process.port, [get, 300, stop, 300, get]);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 503']);
  expect(answer.slice(answer.indexOf('503'))).toContain('Connection: close');
  expect(await exit).toBe(0);
  const said = await held;
  // Not the 408 that a server which goes on gives such a body, much later.
  expect(said).toMatch(/^HTTP\/1\.1 503/);
  expect(said).toContain('Connection: close');
  await server.stop();
});

test('the memory database leaves no folder behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-memory-'));
  const server = await startServer({
    alone: true,
    database: { url: 'sqlite::memory:', drop: async () => {} },
    env: { TMPDIR: folder },
  });
  expect(readdirSync(folder).some((name) => name.startsWith('inlet-'))).toBe(true);
  await server.stop();
  expect(readdirSync(folder).filter((name) => name.startsWith('inlet-'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

test('nor does a stop while the server still starts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-memory-'));
  const holds = (): boolean => readdirSync(folder).some((name) => name.startsWith('inlet-'));
  const process = ServerProcess.spawn({ DATABASE_URL: 'sqlite::memory:', TMPDIR: folder });
  await expect.poll(holds, { interval: 1 }).toBe(true);
  const exit = new Promise((resolve) => process.once('exit', resolve));
  process.kill('SIGTERM');
  expect(await exit).toBe(0);
  expect(holds()).toBe(false);
  rmSync(folder, { recursive: true });
});
