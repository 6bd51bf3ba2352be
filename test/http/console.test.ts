import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createWorkspace, PASSWORD } from '../support/tenant.ts';

describe.each(EITHER_DATABASE)('the console’s session on %s', (database) => {
  let server: TestServer;
  let own: Record<string, string>;
  let device: string;
  const query = '{ viewer { user { email } token { name } } }';

  beforeAll(async () => {
    server = await startServer({ database });
    device = (await createProduct(server)).deviceIds[0]!;
    own = { 'Content-Type': 'application/json', Origin: server.url };
  });
  afterAll(() => server.stop());

  const openSession = (body: unknown, headers: Record<string, string> = own): Promise<Response> =>
    fetch(`${server.url}/console/session`, { method: 'POST', headers, body: JSON.stringify(body) });
  const cookieOf = (response: Response): string => response.headers.get('set-cookie')!.split(';')[0]!;
  const ask = async (cookie: string, headers: Record<string, string>): Promise<any> =>
    (
      await fetch(`${server.url}/graphql`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Cookie: cookie, ...headers },
        body: JSON.stringify({ query }),
      })
    ).json();

  test('a password becomes a cookie that no script reads, and signing out revokes its token', async () => {
    const workspace = await createWorkspace(server, 'w');
    const { email } = await createMember(server, workspace, 'VIEWER');
    const refused = await openSession({ email, password: 'wrong password' });
    expect([refused.status, refused.statusText]).toEqual([401, 'Unauthorized']);
    const opened = await openSession({ email, password: PASSWORD });
    expect(opened.status).toBe(204);
    const text = opened.headers.get('set-cookie')!;
    expect(text).toMatch(/^inlet_session=inl_[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    const cookie = cookieOf(opened);
    expect(await ask(cookie, own)).toMatchObject({ data: { viewer: { user: { email }, token: { name: 'sign-in' } } } });
    const left = await fetch(`${server.url}/console/session`, {
      method: 'DELETE',
      headers: { ...own, Cookie: cookie },
    });
    expect(left.headers.get('set-cookie')).toMatch(/^inlet_session=; Path=\/; Max-Age=0;/);
    expect(await ask(cookie, own)).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });

  test('a pasted token stays what it was when its holder signs out', async () => {
    expect((await openSession({ token: 'x'.repeat(40) })).status).toBe(401);
    const cookie = cookieOf(await openSession({ token: ` ${server.adminToken}\n` }));
    await fetch(`${server.url}/console/session`, { method: 'DELETE', headers: { ...own, Cookie: cookie } });
    expect(await ask(cookie, own)).toMatchObject({ data: { viewer: {} } });
  });

  test('over HTTPS the cookie goes over HTTPS only', async () => {
    const origin = server.url.replace('http:', 'https:');
    const opened = await openSession({ token: server.adminToken }, { ...own, Origin: origin });
    expect(opened.headers.get('set-cookie')).toMatch(/; Secure$/);
  });

  test('the cookie counts only for requests of the server’s own pages', async () => {
    const cookie = `inlet_session=${server.adminToken}`;
    const refused = { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] };
    expect(await ask(cookie, {})).toMatchObject(refused);
    expect(await ask(cookie, { Origin: 'https://evil.example' })).toMatchObject(refused);
    expect(await ask(cookie, { Origin: server.url, 'Sec-Fetch-Site': 'same-site' })).toMatchObject(refused);
    expect(await ask(cookie, { 'Sec-Fetch-Site': 'same-origin' })).toMatchObject({ data: {} });
    const byGet = await fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, {
      headers: { ...own, Cookie: cookie },
    });
    expect(byGet.status).toBe(401);
    expect((await openSession({ token: server.adminToken }, { Origin: 'https://evil.example' })).status).toBe(403);
  });

  test('the cookie records nothing, but pages of the server may import and export with it', async () => {
    const headers = { ...own, Cookie: `inlet_session=${server.adminToken}`, 'Sec-Fetch-Site': 'same-origin' };
    const at = `${server.url}/v1/devices/${device}`;
    const body = '[{"field":"temperature","value":1}]';
    expect((await fetch(`${at}/record/`, { method: 'POST', headers, body })).status).toBe(401);
    const file = { method: 'POST', body: 'timestamp,temperature\n1700000000,1\n' };
    const csv = { 'Content-Type': 'text/csv' };
    expect((await fetch(`${at}/import`, { ...file, headers: { ...headers, ...csv } })).status).toBe(200);
    const elsewhere = {
      ...csv,
      Cookie: headers.Cookie,
      'Sec-Fetch-Site': 'cross-site',
      Origin: 'https://evil.example',
    };
    expect((await fetch(`${at}/import`, { ...file, headers: elsewhere })).status).toBe(401);
    expect((await fetch(`${at}/history.csv`, { headers })).status).toBe(200);
    expect((await fetch(`${at}/history.csv`, { headers: { Cookie: headers.Cookie } })).status).toBe(401);
  });

  test('a WebSocket takes the cookie from the own origin only', async () => {
    const connect = (origin: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
          headers: { Cookie: `inlet_session=${server.adminToken}`, Origin: origin },
        });
        socket.on('open', () => socket.send('{"type":"connection_init"}'));
        socket.on('message', (data: Buffer) => {
          resolve((JSON.parse(data.toString()) as { type: string }).type);
          socket.close();
        });
        socket.on('close', (code) => resolve(String(code)));
        socket.on('error', reject);
      });
    expect(await connect(server.url)).toBe('connection_ack');
    expect(await connect('https://evil.example')).toBe('4403');
  });
});

describe('the console’s files', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server.stop());
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(server.url + path, { headers, redirect: 'manual' });

  test('browsers are led from / to the console, others find nothing there', async () => {
    const led = await get('/', { Accept: 'text/html,*/*' });
    expect([led.status, led.headers.get('location')]).toEqual([302, '/console/']);
    expect((await get('/', { Accept: 'application/json' })).status).toBe(404);
  });

  test('every address of the console is the page, with a policy that lets nothing in from elsewhere', async () => {
    for (const path of [
      '/console/',
      '/console/devices/x',
      '/console/products/x/decoder',
      '/console/constructor',
      '/console/__proto__',
    ]) {
      const page = await get(path);
      expect(page.status, path).toBe(200);
      expect(page.headers.get('cache-control')).toBe('no-cache');
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
      expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'self'; img-src 'self' data:;/);
      expect(page.headers.get('content-security-policy')).not.toMatch(/unsafe|https?:|\*/);
      const html = await page.text();
      expect(html).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|style=|https?:\/\//);
    }
  });

  test('hashed files are kept for ever and come packed; what was not built is not there', async () => {
    const [, asset] = /src="(\/console\/assets\/[^"]+\.js)"/.exec(await (await get('/console/')).text())!;
    const file = await get(asset!, { 'Accept-Encoding': 'br' });
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(file.headers.get('content-encoding')).toBe('br');
    expect(file.headers.get('content-type')).toMatch(/^text\/javascript/);
    const unpacked = await get(asset!, { 'Accept-Encoding': 'identity' });
    expect(unpacked.headers.get('content-encoding')).toBeNull();
    expect(await unpacked.text()).toBe(await file.text());
    expect((await get('/console/assets/gone-12345678.js')).status).toBe(404);
    for (const path of [
      '/console/../../package.json',
      '/console/%2e%2e/%2e%2e/package.json',
      '/console/..%2fpackage.json',
    ])
      expect(await (await get(path)).text(), path).not.toContain('"dependencies"');
  });
});

test('its pages need no file descriptor', async () => {
  const server = await startServer({ alone: true, database: 'sqlite' });
  onTestFinished(() => server.stop());
  const socket = connect(server.process.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const ask = async (path: string): Promise<string> => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return String(await once(socket, 'data'));
  };
  expect(await ask('/healthz')).toMatch(/^HTTP\/1\.1 200 /);
  execFileSync('prlimit', ['--pid', String(server.process.child.pid), '--nofile=3:']);
  expect(await ask('/console/')).toMatch(/^HTTP\/1\.1 200 /);
  execFileSync('prlimit', ['--pid', String(server.process.child.pid), '--nofile=1024:']);
});
