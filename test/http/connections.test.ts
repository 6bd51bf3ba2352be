import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

const IDLE_SECONDS = 3;

let server: TestServer;
let device: string;

beforeAll(async () => {
  server = await startServer({ alone: true, database: 'sqlite', env: { CLIENT_IDLE_SECONDS: String(IDLE_SECONDS) } });
  device = (await createProduct(server)).deviceIds[0]!;
});
afterAll(() => server.stop());

/** A bare socket, as a modem would use it; resolves with everything that came back when the server hangs up. */
function raw(): { socket: Socket; answer: Promise<string> } {
  const socket = connect(server.process.port, '127.0.0.1');
  let text = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', () => resolve(text));
  });
  return { socket, answer };
}

const head = (extra: string): string =>
  `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n${extra}\r\n`;

// These wait for time-outs: side by side.
test.concurrent('a body that stops coming is answered 408 and holds nobody up', async ({ expect }) => {
  const { socket, answer } = raw();
  socket.write(`${head('Content-Length: 100\r\n')}[{"field":`);
  expect((await server.record(device, { field: 'temperature', value: 1 })).status).toBe(200);
  expect(await answer).toMatch(/^HTTP\/1\.1 408[\s\S]*for 3 seconds/);
});

test.concurrent('nor does a file that stops coming', async ({ expect }) => {
  const { socket, answer } = raw();
  const file = 'Content-Type: text/csv\r\nContent-Length: 100\r\n';
  socket.write(`${head(file).replace('/record/', '/import')}timestamp,temperature\n1,2\n`);
  expect(await answer).toMatch(/^HTTP\/1\.1 408[\s\S]*for 3 seconds/);
});

test.concurrent('a slow body is not cut as long as it comes: time-outs count from the last byte', async ({
  expect,
}) => {
  const { socket, answer } = raw();
  const body = `[{"field":"temperature","value":5,"timestamp":1700000005}]${' '.repeat(1_000)}`;
  socket.write(head(`Content-Length: ${body.length}\r\n`));
  // Some 200 bytes a second, for longer than a body may stop for.
  const started = performance.now();
  for (let at = 0; at < body.length;) {
    const due = Math.min(body.length, Math.ceil((performance.now() - started) / 5.5));
    socket.write(body.slice(at, due));
    at = due;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  expect(performance.now() - started).toBeGreaterThan(1_500 * IDLE_SECONDS);
  expect(await answer).toMatch(/^HTTP\/1\.1 200/);
});

test('a sender that hangs up in the middle of its body costs nothing', async () => {
  for (let at = 0; at < 50; at += 1) {
    const { socket, answer } = raw();
    socket.write(`${head('Content-Length: 1000\r\n')}[{"field":"temperature"`, () => socket.destroy());
    await answer;
  }
  expect((await server.record(device, { field: 'temperature', value: 2, timestamp: 1_700_000_002 })).status).toBe(200);
});

test('a chunked body of tiny chunks is read as one', async () => {
  const { socket, answer } = raw();
  const body = '[{"field":"temperature","value":3,"timestamp":1700000003}]\r\n';
  socket.write(head('Transfer-Encoding: chunked\r\n'));
  for (const char of body) socket.write(`1\r\n${char}\r\n`);
  socket.write('0\r\n\r\n');
  expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\{"stored":1,"rejected":\[\]\}/);
});

// Whatever is read to its end is closed only when nothing has come behind it for 75 seconds.
test('a body of a hundred thousand chunks of a byte is not read to its end, wanted or not', async () => {
  const chunks = '1\r\n \r\n'.repeat(100_000);
  for (const path of [`/v1/devices/${device}/record/`, '/nowhere']) {
    const socket = connect(server.process.port, '127.0.0.1');
    socket.on('error', () => {});
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n\r\n${chunks}`,
    );
    await closed;
    expect(answer).not.toMatch(/^HTTP\/1\.1 2/);
  }
});

test('HTTP/1.0 and odd header spelling work', async () => {
  const { socket, answer } = raw();
  const body = '{"field":"temperature","value":4,"timestamp":1700000004}';
  socket.write(
    `POST /v1/devices/${device}/record HTTP/1.0\r\nAUTHORIZATION:token   ${ADMIN_TOKEN}  \r\ncontent-LENGTH:${body.length}\r\nX-Odd:\r\n\r\n${body}`,
  );
  expect(await answer).toMatch(/^HTTP\/1\.[01] 200/);
});

test.each([
  ['a NUL', '\0'],
  ['Ctrl-Z', '\x1a'],
  ['text', 'OK'],
])('a request with %s behind it is answered, then the connection ends', async (_, rest) => {
  const { socket, answer } = raw();
  const request = `${head('Content-Length: 2\r\n').replace('Connection: close\r\n', '')}[]`;
  socket.write(request + request + rest);
  // More of it, while the answers are on the way.
  for (let at = 0; at < 20; at += 1) socket.write(rest);
  const said = await answer;
  expect(said.match(/HTTP\/1\.1 200[\s\S]*?\{"stored":0,"rejected":\[\]\}/g)).toHaveLength(2);
  expect(said).not.toContain(' 400 ');
});

test('who closes its side behind its requests gets their answers, then the connection ends', async () => {
  const { socket, answer } = raw();
  socket.end(`${head('Content-Length: 2\r\n').replace('Connection: close\r\n', '')}[]`.repeat(5));
  expect((await answer).match(/HTTP\/1\.1 200[\s\S]*?\{"stored":0,"rejected":\[\]\}/g)).toHaveLength(5);
});

test('CONNECT is answered 405, and behind a request it ends the connection', async () => {
  const request = `${head('Content-Length: 2\r\n').replace('Connection: close\r\n', '')}[]`;
  const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n';
  const alone = raw();
  alone.socket.write(tunnel);
  expect(await alone.answer).toMatch(/^HTTP\/1\.1 405 [\s\S]*"detail":"This server is no proxy/);
  const behind = raw();
  behind.socket.write(request + tunnel);
  await behind.answer;
  for (let at = 0; at < 20; at += 1) {
    const { socket, answer } = raw();
    socket.write(request + tunnel, () => socket.resetAndDestroy());
    await answer;
  }
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});

test.each([
  ['the record route', '/v1/devices/any/record/'],
  ['a webhook', '/integrations/api/any/'],
  ['any other route', '/readyz'],
])('HTTP/1.1 without Host is refused in words: %s', async (_, path) => {
  const { socket, answer } = raw();
  socket.write(`POST ${path} HTTP/1.1\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]`);
  expect(await answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"detail":"The header Host is missing/);
});

test('a body that is shorter than its length, and then no more, is told so', async () => {
  const { socket, answer } = raw();
  socket.end(`${head('Content-Length: 5\r\n')}[]`);
  expect(await answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*"detail":"The sender closed .*too large/);
});

test('what is no request is told so', async () => {
  for (const [text, status] of [
    ['HELLO\r\n\r\n', 400],
    [`${head('Transfer-Encoding: chunked\r\n')}zz\r\n`, 400],
    [head(`X-Long: ${'x'.repeat(100_000)}\r\n`), 431],
  ] as const) {
    const { socket, answer } = raw();
    socket.write(text);
    const [top, body] = (await answer).split('\r\n\r\n');
    expect(top).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*application/problem\\+json`));
    expect(JSON.parse(body!)).toMatchObject({ status, code: 'INVALID_REQUEST' });
    if (status === 400) expect(body).toContain('Content-Length');
  }
});

test('a request line with the whole URL, as proxies send it, works', async () => {
  const { socket, answer } = raw();
  const body = '{"field":"temperature","value":4,"timestamp":1700000005}';
  socket.write(head(`Content-Length: ${body.length}\r\n`).replace('POST /', 'POST http://inlet.example/') + body);
  expect(await answer).toMatch(/^HTTP\/1\.1 200[\s\S]*\{"stored":1,"rejected":\[\]\}/);
});

test('a gzip body is unpacked, within the limit', async () => {
  const small = gzipSync('[{"field":"temperature","value":5,"timestamp":1700000005}]');
  const bomb = gzipSync(Buffer.alloc(50_000_000, ' '));
  const headers = { 'Content-Encoding': 'gzip' };
  expect((await server.record(device, small, { headers })).body).toEqual({ stored: 1, rejected: [] });
  expect((await server.record(device, bomb, { headers })).status).toBe(413);
  expect((await server.record(device, 'not gzip', { headers })).status).toBe(400);
});

test('a body of 100 MB is answered 413, and memory stays flat', async () => {
  const before = server.process.residentMb();
  for (let round = 0; round < 3; round += 1) {
    const answer = await server.record(device, Buffer.alloc(100_000_000, ' '));
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE', limit: 1_048_576 } });
  }
  expect(server.process.residentMb() - before).toBeLessThan(150);
});

test('no request line or header makes the server stop answering', async () => {
  for (const text of [
    '\r\n\r\n',
    'GET\r\n\r\n',
    'GET / HTTP/9.9\r\n\r\n',
    `GET /${'x'.repeat(100_000)} HTTP/1.1\r\n\r\n`,
    '\0\0\0',
  ]) {
    const { socket, answer } = raw();
    socket.end(text);
    await answer;
  }
  for (const path of [
    '/v1/devices/%zz/record/',
    '/v1/devices//record/',
    '/v1/devices/%/record',
    '//',
    '/v1/devices/a%00b/record/',
  ]) {
    const response = await fetch(`${server.url}${path}`, {
      method: 'POST',
      headers: { Authorization: `Token ${ADMIN_TOKEN}` },
      body: '[]',
    });
    expect([404, 405]).toContain(response.status);
  }
  expect((await server.record(device, { field: 'temperature', value: 6, timestamp: 1_700_000_006 })).status).toBe(200);
});

test.each(['identity', 'gzip'])(
  'the next request of a connection is answered although the file before it (%s) was refused at its first line',
  async (encoding) => {
    const { socket, answer } = raw();
    const file = `no columns\n${randomBytes(1_000_000).toString('base64')}`;
    const body = encoding === 'gzip' ? gzipSync(file) : Buffer.from(file);
    const first = new Promise<string>((resolve) => socket.once('data', (data) => resolve(data.toString())));
    socket.write(
      `POST /v1/import HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Type: text/csv\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body);
    expect(await first).toMatch(/^HTTP\/1\.1 400/);
    socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await answer).toMatch(/HTTP\/1\.1 200[^]*\{"status":"ok"\}/);
  },
);
