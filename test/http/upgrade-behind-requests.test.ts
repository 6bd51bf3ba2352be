import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const UPGRADE =
  'GET /graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n';
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const SLOW = `function Decoder() { for (var end = Date.now() + 100; Date.now() < end; ); return []; }`;
const VALUES = 100_000;

let server: TestServer;
let slowCall: string;
let exported: string;
beforeAll(async () => {
  server = await startServer({ database: 'sqlite', env: { DECODER_TIMEOUT_MS: '10000' } });
  const { webhookId, deviceIds } = await createProduct(server, { input: { decoder: SLOW } });
  slowCall = `POST /integrations/api/${webhookId}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}`;
  for (let at = 0; at < VALUES; at += 10_000) {
    const entry = (n: number): unknown => ({ field: 'temperature', value: at + n, timestamp: 1.7e9 + at + n });
    await server.record(
      deviceIds[0]!,
      Array.from({ length: 10_000 }, (_, n) => entry(n)),
    );
  }
  exported = `GET /v1/devices/${deviceIds[0]}/history.csv HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n\r\n`;
});
afterAll(() => server?.stop());

/** Sends it in one piece, and resolves with all that comes back until the server closes. */
async function exchange(text: string): Promise<string> {
  const socket = connect(server.process.port, '127.0.0.1');
  let answer = '';
  socket.setEncoding('latin1').on('data', (data: string) => (answer += data));
  socket.write(text);
  await once(socket, 'close');
  return answer;
}

const statuses = (answer: string): string[] => answer.match(/HTTP\/1\.1 \d+/g) ?? [];

test.each([
  ['a webhook call', () => slowCall, /\{"stored":0,"rejected":0\}/],
  ['requests that wait themselves', () => slowCall + HEALTH + HEALTH, /\{"stored":0,"rejected":0\}/],
  ['an export of some megabytes', () => exported, /,99999\r?\n/],
])('an upgrade behind %s is none: all are answered in order, and the connection closes', async (_, before, own) => {
  const count = before().split(' HTTP/1.1\r\n').length - 1;
  const answer = await exchange(before() + UPGRADE + HEALTH);
  expect(statuses(answer)).toEqual([...Array<string>(count).fill('HTTP/1.1 200'), 'HTTP/1.1 400']);
  const end = answer.indexOf('HTTP/1.1 400');
  expect(answer.slice(0, end)).toMatch(own);
  expect(answer.slice(end)).toMatch(/^Connection: close\r\n/m);
});

test('an upgrade behind a request that has been answered is one', async () => {
  const socket = connect(server.process.port, '127.0.0.1');
  socket.setEncoding('latin1').write(slowCall);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 200 /);
  socket.write(UPGRADE);
  expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 101 /);
  socket.destroy();
});

test('whoever goes away in the middle of it leaves nothing behind', async () => {
  const open = async (): Promise<number> =>
    Number(/^inlet_websockets (\d+)/m.exec(await (await fetch(`${server.url}/metrics`, { headers: { Authorization: `Token ${ADMIN_TOKEN}` } })).text())?.[1]); // oxfmt-ignore
  await expect.poll(open).toBe(0);
  for (let at = 0; at < 20; at += 1) {
    const socket = connect(server.process.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.write(slowCall + UPGRADE, () => setTimeout(() => socket.destroy(), at));
    await once(socket, 'close');
  }
  await expect.poll(open).toBe(0);
  expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
});
