import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

let server: TestServer;
let product: TestProduct;
let device: string;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite', slowPasswords: true });
  product = await createProduct(server, {
    serialNumbers: ['one'],
    input: {
      decoder:
        'function Decoder() { var end = Date.now() + 150; while (Date.now() < end); return [{ device: "one", field: "temperature", value: 7 }] }',
    },
  });
  device = product.deviceIds[0]!;
});
afterAll(() => server.stop());

/** A bare socket; resolves with everything that came back when it is closed. */
function raw(to: TestServer = server): { socket: Socket; answer: Promise<string> } {
  const socket = connect(to.process.port, '127.0.0.1');
  let text = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
    socket.on('error', () => resolve(text));
  });
  return { socket, answer };
}

async function send(text: string): Promise<string> {
  const { socket, answer } = raw();
  socket.write(text);
  return answer;
}

const CLOSE = 'Host: x\r\nConnection: close\r\n';

describe('request targets', () => {
  test.each([
    ['http://[::1', 404],
    ['http://[::1/healthz', 200],
    ['http://%zz:99999/readyz?x', 200],
    ['http://', 404],
    ['//[::1', 404],
    ['//', 404],
    ['*', 404],
    ['/\\[::1#%', 404],
    ['/integrations/lorawan/%zz', 405],
    ['/integrations/api/%zz/', 404],
    ['/v1/devices/%zz/record', 405],
    ['/%2e%2e/%ff%fe', 404],
    ['/healthz?%', 200],
  ])('GET %s is answered, never with 500', async (target, status) => {
    const answer = await send(`GET ${target} HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  test.each(['%zz', '[', 'a b', ''])('a GraphQL query by GET to the host "%s" is answered', async (host) => {
    const target = '/graphql?query=%7B__typename%7D';
    const answer = await send(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain('{"data":{"__typename":"Query"}}');
  });

  test('long lists of what a client would like are not read: each took up to 9 ms of everybody', async () => {
    const types = 'a/b,'.repeat(3_500);
    const query = '/graphql?query=%7B__typename%7D';
    const accepting = (accept: string): Promise<string> =>
      send(`GET ${query} HTTP/1.1\r\n${CLOSE}Accept: ${accept}\r\n\r\n`);
    expect(await accepting('a/b')).toMatch(/^HTTP\/1\.1 406 /);
    expect(await accepting(types)).toMatch(/^HTTP\/1\.1 200 [^]*{"data":{"__typename":"Query"}}/);
    expect(await send(`GET /graphql HTTP/1.1\r\n${CLOSE}Accept: ${types}application/json\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 [^]*\r\nContent-Type: application\/json;/,
    );
    const encodingFor = async (accepted: string): Promise<string | null> => {
      const headers = { Authorization: `Token ${ADMIN_TOKEN}`, 'Accept-Encoding': accepted };
      const answer = await fetch(`${server.url}/v1/devices/${device}/history.csv`, { headers });
      await answer.text();
      return answer.headers.get('content-encoding');
    };
    expect(await encodingFor('gzip')).toBe('gzip');
    expect(await encodingFor(`gzip${',a'.repeat(5_000)}`)).toBeNull();
  });

  test('every answer tells browsers not to guess', async () => {
    const urls = ['/healthz', '/nowhere', `/v1/devices/${device}/record/`, '/graphql', '/integrations/api/x/'];
    for (const url of urls) {
      const answer = await fetch(`${server.url}${url}`, { method: 'POST', body: '{}' });
      expect(answer.headers.get('x-content-type-options'), url).toBe('nosniff');
    }
    const stored = await server.record(device, { field: 'temperature', value: 1, timestamp: 1_700_000_001 });
    expect(stored.status).toBe(200);
    expect(stored.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('no cache keeps what is asked with a token, or changes something', async () => {
    const called = await createProduct(server);
    const token = { Authorization: `Token ${ADMIN_TOKEN}` };
    const post = (body: string, type = 'application/json'): RequestInit => ({
      method: 'POST',
      headers: { ...token, 'Content-Type': type },
      body,
    });
    const asked: [string, RequestInit, number][] = [
      ['/graphql?query={workspaces{id}}', { headers: token }, 200],
      ['/graphql?query={workspaces{id}}', {}, 401],
      ['/graphql', post('{"query":"{ workspaces { id } }"}'), 200],
      ['/graphql', post('{"query":"{ nope }"}'), 400],
      ['/graphql', post('{'), 400],
      ['/graphql', { method: 'PATCH', headers: token }, 405],
      ['/console/session', { method: 'DELETE', headers: { 'Sec-Fetch-Site': 'same-origin' } }, 204],
      ['/metrics', { headers: token }, 200],
      [`/v1/devices/${device}/history.csv`, { headers: token }, 200],
      ['/v1/export.csv?nope=1', { headers: token }, 400],
      [`/v1/devices/${device}/import`, post('timestamp,temperature\n', 'text/csv'), 200],
      [`/integrations/api/${called.webhookId}/`, {}, 202],
      ['/integrations/api/nope/', {}, 404],
    ];
    for (const [path, init, status] of asked) {
      const answer = await fetch(server.url + path, init);
      await answer.text();
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, status, 'no-store']);
    }
    const page = await fetch(`${server.url}/console/`);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const asset = /\/console\/assets\/[^"]+/.exec(await page.text())![0];
    expect((await fetch(server.url + asset)).headers.get('cache-control')).toContain('immutable');
  });
});

test('the counts are in the headers too', async () => {
  const entries = [
    { field: 'temperature', value: 1, timestamp: 1_700_000_002 },
    { field: 'no', value: 1 },
  ];
  for (const [body, stored, rejected] of [
    [entries.slice(0, 1), '1', '0'],
    [entries, '1', '1'],
    [entries.slice(1), '0', '1'],
  ] as const) {
    const { headers } = await server.record(device, body);
    expect([headers.get('inlet-stored'), headers.get('inlet-rejected')]).toEqual([stored, rejected]);
  }
});

test('an upgrade to h2c, as Java asks for, is ignored and the request answered', async () => {
  const body = '{"field":"temperature","value":3,"timestamp":1700000003}';
  const { socket, answer } = raw();
  socket.write(
    `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
      `HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );
  await new Promise((resolve) => socket.once('data', resolve));
  socket.write(`GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`);
  expect((await answer).match(/HTTP\/1\.1 200/g)).toHaveLength(2);
});

test('a body in chunks of which an upgrade to h2c is asked for is read', async () => {
  const { socket } = raw();
  socket.write(
    `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
      `HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`,
  );
  // The connection may stay open for the next request.
  const answer = await new Promise((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
  expect(answer).toMatch(/^HTTP\/1\.1 200/);
  socket.destroy();
});

test('an upgrade that is refused ends its connection', async () => {
  const head = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nHost: x\r\n';
  const answer = await send(`GET /elsewhere HTTP/1.1\r\n${head}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 404/);
});

test('pipelined requests of one connection wait for each other', async () => {
  const { socket, answer } = raw();
  const body = JSON.stringify({ field: 'temperature', value: 8, timestamp: Math.floor(Date.now() / 1000) + 3600 });
  // The decoder takes 150 ms and stores 7 at its receipt time; what follows must not overtake it.
  socket.write(
    `GET /integrations/api/${product.webhookId}/ HTTP/1.1\r\nHost: x\r\n\r\n` +
      `POST /v1/devices/${device}/record/ HTTP/1.1\r\nHost: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\nContent-Length: ${body.length}\r\n\r\n${body}` +
      `GET /healthz HTTP/1.1\r\n${CLOSE}\r\n`,
  );
  const query = 'query ($id: ID!) { device(id: $id) { latest { value } } }';
  const latest = async (): Promise<unknown> =>
    (await server.gql(query, { id: device }))['device'].latest.map(({ value }: { value: unknown }) => value);
  // Were the two handled side by side, 8 would be there long before the decoder is done.
  for (let seen = await latest(); ; seen = await latest()) {
    if ((seen as number[]).includes(8)) break;
  }
  const calls = await server.gql('query ($id: ID!) { product(id: $id) { calls { edges { node { status } } } } }', {
    id: product.id,
  });
  expect(calls['product'].calls.edges).toEqual([{ node: { status: 'STORED' } }]);
  expect((await answer).match(/HTTP\/1\.1 \d+/g)).toHaveLength(3);
});

describe('logs', () => {
  test('neither broken requests nor clients that leave are errors, and no credential is logged', async () => {
    const secret = `Authorization: Token ${ADMIN_TOKEN}\r\n`;
    const broken = [
      `POST /v1/devices/${device}/record/ HTTP/1.1\r\n${secret}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nXX\r\n`,
      `POST /graphql HTTP/1.1\r\nHost: x\r\n${secret}Transfer-Encoding: chunked\r\n\r\nzz\r\n${secret}`,
      `GET /healthz HTTP/1.1\r\n${secret}bad header\r\n\r\n`,
      `POST /integrations/api/${product.webhookId}/ HTTP/1.1\r\nHost: x\r\n${secret}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nQ\r\n`,
    ];
    for (const text of broken) expect(await send(text)).toMatch(/^(?:HTTP\/1\.1 (?:400|200|202)|$)/);
    for (const path of ['/graphql', `/v1/devices/${device}/record/`, '/integrations/particle/', '/healthz'])
      for (let round = 0; round < 10; round += 1) {
        const { socket, answer } = raw();
        socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${secret}Content-Length: 2000\r\n\r\n{"query":"{`, () =>
          round % 2 === 0 ? socket.destroy() : socket.resetAndDestroy(),
        );
        await answer;
      }
    // Answers that nobody waits for.
    for (let round = 0; round < 20; round += 1) {
      const { socket, answer } = raw();
      const body = JSON.stringify({ query: '{ __schema { types { name fields { name } } } }' });
      socket.write(`POST /graphql HTTP/1.1\r\nHost: x\r\n${secret}Content-Length: ${body.length}\r\n\r\n${body}`, () =>
        socket.resetAndDestroy(),
      );
      await answer;
    }
    await fetch(`${server.url}/healthz`);
    const text = JSON.stringify(server.process.lines);
    expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
    expect(text).not.toContain(ADMIN_TOKEN);
    expect(text).not.toContain('rawPacket');
  });
});

describe('one address', () => {
  let small: TestServer;
  let behind: TestServer;
  beforeAll(async () => {
    const env = { CONNECTIONS_PER_ADDRESS: '20', ANONYMOUS_PER_MINUTE: '30' };
    small = await startServer({ database: 'sqlite', env });
    behind = await startServer({ database: 'sqlite', env: { ...env, TRUSTED_PROXIES: '1' } });
  });
  afterAll(() => Promise.all([small.stop(), behind.stop()]));

  test('holds a bounded number of connections, the others are told, and what is closed counts no more', async () => {
    const held = Array.from({ length: 30 }, () => raw(small));
    const answers = Promise.all(held.map(({ answer }) => answer));
    const refused: string[] = [];
    for (const { answer } of held) void answer.then((text) => text !== '' && refused.push(text));
    while (refused.length < 10) await new Promise((resolve) => setTimeout(resolve, 10));
    for (const text of refused) expect(text).toMatch(/^HTTP\/1\.1 503[\s\S]*Retry-After: 5/);
    for (const { socket } of held) socket.destroy();
    await answers;
    let status = 0;
    while (status !== 200)
      status = await fetch(`${small.url}/healthz`).then(
        (answer) => answer.status,
        () => 0,
      );
    expect(refused.length).toBeLessThanOrEqual(30 - 20 + 5);
  });

  test('holds as many behind a proxy, whose other clients go on', async () => {
    const open = (address: string): { socket: WebSocket; opened: Promise<number> } => {
      const headers = { 'X-Forwarded-For': `9.9.9.9, ${address}` };
      const socket = new WebSocket(`${behind.url}/graphql`, 'graphql-transport-ws', { headers });
      const opened = new Promise<number>((resolve) => {
        socket.once('open', () => resolve(101));
        socket.once('unexpected-response', (_, { statusCode }) => resolve(statusCode!));
        socket.on('error', () => resolve(0));
      });
      return { socket, opened };
    };
    const ask = (address: string): Promise<number> =>
      fetch(`${behind.url}/healthz`, { headers: { 'X-Forwarded-For': address } }).then(({ status }) => status);
    const held = Array.from({ length: 20 }, () => open('10.2.2.2'));
    expect(new Set(await Promise.all(held.map(({ opened }) => opened)))).toEqual(new Set([101]));
    const others = Array.from({ length: 10 }, () => open('10.2.2.3'));
    expect(new Set(await Promise.all(others.map(({ opened }) => opened)))).toEqual(new Set([101]));
    expect([await ask('10.2.2.2'), await open('10.2.2.2').opened, await ask('10.2.2.4')]).toEqual([503, 503, 200]);
    held[0]!.socket.terminate();
    await expect.poll(() => ask('10.2.2.2')).toBe(200);
    for (const { socket } of [...held, ...others]) socket.terminate();
  });

  test('asks for so much without a valid token and no more; known tokens and other addresses go on', async () => {
    const from = (address: string, token: string): Promise<number> =>
      fetch(`${behind.url}/v1/devices/x/record/`, {
        method: 'POST',
        headers: { Authorization: `Token ${token}`, 'X-Forwarded-For': `9.9.9.9, ${address}` },
        body: '[]',
      }).then((answer) => answer.status);
    const statuses = [];
    const began = performance.now();
    for (let at = 0; at < 60; at += 1) statuses.push(await from('10.1.1.1', `unknown-${at}`));
    expect(statuses[0]).toBe(401);
    const back = Math.ceil((performance.now() - began) / 2_000);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(20 - back);
    // With a port it is the same address, as some proxies write it.
    await expect.poll(() => from('10.1.1.1:5678', 'unknown')).toBe(429);
    expect(await from('10.1.1.2:5678', 'unknown')).toBe(401);
    expect(await from('[2001:db8::1]:443', 'unknown')).toBe(401);
    expect(await from('10.1.1.2', 'unknown')).toBe(401);
    expect(await from('10.1.1.2', ADMIN_TOKEN)).toBe(404);
    expect(await from('10.1.1.1', ADMIN_TOKEN)).toBe(404);
    const anonymous = (): Promise<string> =>
      fetch(`${behind.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': '10.1.1.1' },
        body: '{"query":"{ __typename }"}',
      }).then((answer) => answer.text());
    await expect.poll(anonymous).toContain('RATE_LIMITED');
  });
});

describe('sign-in', () => {
  const attempt = (email: string): Promise<string> =>
    server
      .query('mutation ($e: String!) { signIn(email: $e, password: "wrong password") { secret } }', { e: email }, null)
      .then((answer) => answer.errors![0]!.extensions.code);

  test('a crowd waits in a small queue, and who finds it full is told so at once', async () => {
    const codes: string[] = [];
    const crowd = Array.from({ length: 60 }, (_, at) =>
      attempt(`crowd-${at}@example.org`).then(
        (code) => codes.push(code),
        () => {},
      ),
    );
    // One is hashed, twenty wait, the others were told long before the last of those was hashed.
    while (codes.filter((code) => code === 'OVERLOADED').length < 60 - 25)
      await Promise.race(crowd.slice(-35)).then(() => new Promise((resolve) => setTimeout(resolve, 20)));
    expect(codes.filter((code) => code === 'UNAUTHENTICATED').length).toBeLessThan(15);
  });

  test('an address of any length is refused without being remembered', async () => {
    expect(await attempt(`${'x'.repeat(300)}@example.org`)).toBe('UNAUTHENTICATED');
  });
});

test('an answer that nobody reads ends its connection, whatever is sent meanwhile', async () => {
  const impatient = await startServer({
    database: 'sqlite',
    env: { CLIENT_IDLE_SECONDS: '2' },
  });
  const [device] = (await createProduct(impatient)).deviceIds;
  const rows = Array.from({ length: 100_000 }, (_, at) => `temperature,${1_700_000_000 + at},1`);
  const head = `Host: x\r\nAuthorization: Token ${ADMIN_TOKEN}\r\n`;
  await fetch(`${impatient.url}/v1/devices/${device}/import`, {
    method: 'POST',
    headers: { Authorization: `Token ${ADMIN_TOKEN}`, 'Content-Type': 'text/csv' },
    body: `field,timestamp,value\n${rows.join('\n')}`,
  });
  // Some 10 MB: more than the buffers of both ends take.
  const request = `GET /v1/devices/${device}/history.ndjson HTTP/1.1\r\n${head}\r\n`;
  const sockets = [1, 5].map((requests) => {
    const { socket, answer } = raw(impatient);
    socket.pause();
    socket.write(request.repeat(requests));
    // Who does not read hears of the end when it writes.
    const knocking = setInterval(() => socket.write('\r\n'), 300);
    return answer.finally(() => clearInterval(knocking));
  });
  await Promise.all(sockets);
  await impatient.stop();
});
