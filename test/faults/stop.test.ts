import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ADMIN_TOKEN, ServerProcess } from '../support/server-process.ts';
import { createDatabase, createProduct, DATABASES, startServer, type TestDatabase } from '../support/server.ts';

describe.each(DATABASES)('SIGTERM on %s', (name) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase(name);
  });
  afterAll(() => database.drop());

  test('drains: a request on its way is answered and stored, then the process ends with 0', async () => {
    const server = await startServer({ alone: true, database });
    const { deviceIds } = await createProduct(server);
    const body = JSON.stringify([{ field: 'temperature', value: 5, timestamp: 1_700_000_100 }]);
    const socket = connect(server.process.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST /v1/devices/${deviceIds[0]}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const exit = server.process.stop('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.write(body.slice(10));
    expect(await exit).toBe(0);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200/);

    const again = await startServer({ alone: true, database });
    const { device } = await again.gql('query ($id: ID!) { device(id: $id) { latest { value } } }', {
      id: deviceIds[0],
    });
    expect(device.latest).toEqual([{ value: 5 }]);
    await again.stop();
  });

  test('drains: a GraphQL request on its way is answered, newcomers are told 503, health is still told', async () => {
    const server = await startServer({ alone: true, database });
    const { deviceIds } = await createProduct(server, { serialNumbers: ['draining'] });
    const body = JSON.stringify({
      query: `mutation { recordMeasurements(deviceId: "${deviceIds[0]}", entries: [{ field: "temperature", value: 6 }]) { stored } }`,
    });
    const socket = connect(server.process.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (chunk) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const exit = server.process.stop('SIGTERM');
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    const refused = await server.record(deviceIds[0] as string, [{ field: 'temperature', value: 7 }]);
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body).toMatchObject({ code: 'UNAVAILABLE', stored: 0, rejected: [] });
    socket.write(body.slice(10));
    expect(await exit).toBe(0);
    await ended;
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(answer).toContain('{"data":{"recordMeasurements":{"stored":1}}}');
  });

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
    for (let at = 0; at < 300; at += 50) await Promise.all(Array.from({ length: 50 }, call));
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id,
        source: decoder,
      },
    );
    const replaying = server.query('mutation ($id: ID!) { replayCalls(productId: $id) { calls } }', { id });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await server.process.stop('SIGTERM')).toBe(0);
    const [error] = (await replaying).errors ?? [];
    expect(error?.extensions).toMatchObject({ code: 'UNAVAILABLE', calls: expect.any(Number) });
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('the first start prints a token that works, later starts print none', async () => {
    const fresh = await createDatabase(name);
    const server = await startServer({ alone: true, database: fresh, env: { ADMIN_TOKEN: '' } });
    const token = server.process.lines.find((line) => 'token' in line)?.['token'] as string;
    expect(token.length).toBeGreaterThanOrEqual(32);
    const { viewer } = await server.gql('{ viewer { user { operator } workspaces { name } } }', {}, token);
    expect(viewer).toEqual({ user: { operator: true }, workspaces: [{ name: 'default' }] });
    await server.stop();
    const again = await startServer({ alone: true, database: fresh, env: { ADMIN_TOKEN: '' } });
    expect(again.process.lines.filter((line) => 'token' in line)).toEqual([]);
    expect((await again.query('{ viewer { token { id } } }', {}, token)).errors).toBeUndefined();
    await again.stop();
    await fresh.drop();
  });

  test('healthz and readyz answer', async () => {
    const server = await startServer({ alone: true, database });
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.url}/nothing`)).status).toBe(404);
    await server.stop();
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
test.concurrent(
  'a stop signal to the whole process group is one wish, and decoders at work finish',
  async ({ expect }) => {
    const database = await createDatabase('sqlite');
    const server = await startServer({ alone: true, database, env: { DECODER_TIMEOUT_MS: '5000' }, ownGroup: true });
    const decoder = `function Decoder(r) { var end = Date.now() + 700; while (Date.now() < end); return [{ device: 'slow', field: 'temperature', value: 3 }] }`;
    const { webhookId } = await createProduct(server, { serialNumbers: ['slow'], input: { decoder } });
    const call = fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 300));
    const ended = new Promise((resolve) => server.process.child.once('exit', resolve));
    process.kill(-server.process.child.pid!, 'SIGTERM');
    process.kill(-server.process.child.pid!, 'SIGTERM');
    const answer = await call;
    expect([answer.status, await answer.json()]).toEqual([200, { stored: 1, rejected: 0 }]);
    expect(await ended).toBe(0);
    await database.drop();
  },
);

test.concurrent('a body that never ends is answered 503 and does not hold the stop', async ({ expect }) => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  const { deviceIds } = await createProduct(server);
  let exit: Promise<number | null> | undefined;
  const answer = await exchange(server.process.port, [
    `POST /v1/devices/${deviceIds[0]}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n`,
    'Content-Length: 100\r\n\r\n[{',
    200,
    () => (exit = server.process.stop('SIGTERM')),
  ]);
  expect(await exit).toBe(0);
  // Not the 408 that a server which goes on gives such a body, much later.
  expect(answer).toMatch(/^HTTP\/1\.1 503/);
  expect(answer).toContain('Connection: close');
  await server.stop();
});

test.concurrent('an export that nobody reads does not hold the stop', async ({ expect, onTestFinished }) => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  onTestFinished(() => server.stop());
  const [device] = (await createProduct(server)).deviceIds;
  const rows = Array.from({ length: 100_000 }, (_, at) => `temperature,${1_700_000_000 + at},1`);
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

test.concurrent(
  'a request on an open connection is answered 503 with Connection: close while the server stops',
  async ({ expect }) => {
    const server = await startServer({ alone: true, database: 'sqlite' });
    const { deviceIds } = await createProduct(server);
    const get = 'GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n';
    // Something that keeps the stop going.
    const held = exchange(server.process.port, [
      `POST /v1/devices/${deviceIds[0]}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n`,
      'Content-Length: 100\r\n\r\n[{',
    ]);
    const answer = await exchange(server.process.port, [get, 300, () => void server.process.stop('SIGTERM'), 300, get]);
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 404', 'HTTP/1.1 503']);
    expect(answer.slice(answer.indexOf('503'))).toContain('Connection: close');
    await held;
    await server.stop();
  },
);

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
