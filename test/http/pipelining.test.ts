import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const UPGRADE =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';
const BYE = 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n';

let server: TestServer;
let device: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  device = (await createProduct(server)).deviceIds[0]!;
});
afterAll(() => server?.stop());

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const entry = (value: number): string =>
  JSON.stringify({ field: 'temperature', value, timestamp: 1_700_000_000 + value });

function record(body: string): string {
  return `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends it in one piece; resolves with what comes until so many answers are there, or the server closes. */
async function exchange(text: string, count: number, socket = connect(server.process.port, '127.0.0.1')) {
  let said = '';
  socket
    .on('error', () => {})
    .setEncoding('latin1')
    .write(text);
  await new Promise<void>((resolve) => {
    socket.on('close', resolve);
    socket.on('data', (data: string) => {
      said += data;
      if (count < Infinity && /[}\n]$/.test(said.slice(-1)) && statuses(said).length === count) resolve();
    });
  });
  return said;
}

const statuses = (said: string): string[] => said.match(/HTTP\/1\.1 \d+/g) ?? [];
const times = (count: number, status: number): string[] => Array<string>(count).fill(`HTTP/1.1 ${status}`);

/** Maximum requests of a connection that are answered without its waiting for an answer. */
const MOST = 5;

test.each([1, 2, MOST])('%d requests in one piece are all answered', async (count) => {
  expect(statuses(await exchange(HEALTH.repeat(count), count))).toEqual(times(count, 200));
  // Nothing comes behind the last one, and it is read to its end.
  expect(statuses(await exchange(record('').repeat(count), count))).toEqual(times(count, 400));
});

test.each([MOST + 1, 3_000])('a connection that sends %d requests in one piece is cut off', async (count) => {
  const said = await exchange(record(entry(0)).repeat(count), Infinity);
  expect(statuses(said)).toEqual([]);
  expect(statuses(await exchange(HEALTH, 1))).toEqual(times(1, 200));
});

test('bodies in one piece and in many are read in their order', async () => {
  const values = Array.from({ length: MOST - 1 }, (_, at) => record(entry(at)));
  expect(statuses(await exchange(values.join('') + BYE, MOST))).toEqual(times(MOST, 200));
  const socket = connect(server.process.port, '127.0.0.1');
  const text = values.slice(1).join('') + BYE;
  const said = exchange(values[0]!, MOST, socket.setNoDelay());
  for (let at = 0; at < text.length; at += 70) {
    socket.write(text.slice(at, at + 70));
    await pause(1);
  }
  expect(statuses(await said)).toEqual(times(MOST, 200));
});

test('what is no request behind others is told so when they have been answered', async () => {
  const said = await exchange(`${HEALTH.repeat(MOST)}\0`, Infinity);
  expect(statuses(said)).toEqual(times(MOST, 200));
});

test('answers that are read slowly come whole and in their order', async () => {
  const page = Buffer.from(await (await fetch(`${server.url}/v1/openapi.json`)).arrayBuffer()).toString('latin1');
  const socket = connect(server.process.port, '127.0.0.1').pause();
  socket.write('GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(MOST - 1) + BYE);
  await pause(1_000);
  const whole = exchange('', Infinity, socket);
  const reading = setInterval(() => (socket.isPaused() ? socket.resume() : socket.pause()), 2);
  const said = await whole;
  clearInterval(reading);
  expect(statuses(said)).toEqual(times(MOST, 200));
  expect(said.split(page)).toHaveLength(MOST);
});

test('a connection on which many have been answered may become a WebSocket', async () => {
  const socket = connect(server.process.port, '127.0.0.1');
  await exchange(HEALTH.repeat(MOST), MOST, socket);
  expect(await exchange(UPGRADE, 1, socket)).toMatch(/^HTTP\/1\.1 101 /);
  const message = `{"type":"connection_init","payload":{"token":"${ADMIN_TOKEN}"}}`;
  // A frame of text, masked with zeros.
  socket.write(Buffer.concat([Buffer.from([0x81, 0x80 + message.length, 0, 0, 0, 0]), Buffer.from(message)]));
  expect(String(await once(socket, 'data'))).toContain('{"type":"connection_ack"}');
  socket.destroy();
});
