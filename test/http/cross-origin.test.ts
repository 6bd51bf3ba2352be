import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import WebSocket from 'ws';
import { describeInBrowser, openElsewhere } from '../support/browser.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const DASHBOARD = 'https://dash.example.org';
const OTHER = 'https://other.example.org';
const AUTHORIZATION = { Authorization: `Token ${ADMIN_TOKEN}` };

/** Headers of an answer that concern other origins. */
function crossOriginOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-') || name === 'vary'));
}

describe.each([
  ['named ones', ` ${DASHBOARD.toUpperCase()}/ , http://localhost:3000`, DASHBOARD],
  ['any', '*', '*'],
])('pages of other origins, %s', (_name, setting, answered) => {
  let server: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', env: { ALLOWED_ORIGINS: setting } });
    product = await createProduct(server, { serialNumbers: ['d-1'], input: { decoder: 'function Decoder() {}' } });
  });
  afterAll(() => server.stop());
  const ask = (path: string, init: RequestInit & { headers?: Record<string, string> }): Promise<Response> =>
    fetch(server.url + path, init);
  const preflight = (path: string, origin: string): Promise<Response> =>
    ask(path, { method: 'OPTIONS', headers: { Origin: origin, 'Access-Control-Request-Method': 'POST' } });

  test('a preflight is answered for GraphQL and the REST documents, and for nothing else', async () => {
    for (const path of ['/graphql', '/graphql?a=1', '/v1/devices/d-1/record/', '/v1/export.csv', '/v1/nothing']) {
      const response = await preflight(path, DASHBOARD);
      expect([path, response.status, await response.text()]).toEqual([path, 204, '']);
      expect(crossOriginOf(response)).toEqual({
        'access-control-allow-origin': answered,
        'access-control-allow-methods': 'GET, HEAD, POST',
        'access-control-allow-headers': 'Authorization, Content-Type',
        'access-control-max-age': '7200',
        vary: 'Origin',
      });
    }
    const { webhookId } = product;
    const paths = [`/integrations/api/${webhookId}/`, `/v1/integrations/api/${webhookId}`, '/integrations/particle'];
    for (const path of [...paths, '/integrations/lorawan/ttn', '/console/session', '/healthz']) {
      const response = await preflight(path, DASHBOARD);
      expect([path, response.status, crossOriginOf(response)]).toEqual([path, 405, {}]);
    }
  });

  test('every answer names the origin, and what of its headers a page may read', async () => {
    const headers = { Origin: DASHBOARD, ...AUTHORIZATION };
    const json = { ...headers, 'Content-Type': 'application/json' };
    const asked = {
      query: { method: 'POST', headers: json, body: '{"query":"{ viewer { token { name } } }"}' },
      stored: { method: 'POST', headers: json, body: '{"field":"temperature","value":1}' },
    };
    const answers = [
      [200, await ask('/graphql', asked.query)],
      [200, await ask('/v1/devices/d-1/record/', asked.stored)],
      [401, await ask('/v1/devices/d-1/record/', { ...asked.stored, headers: { ...json, Authorization: 'Token no' } })],
      [400, await ask('/v1/devices/d-1/record/', { ...asked.stored, body: '{' })],
      [200, await ask('/v1/devices/d-1/history.csv?from=2026-01-01T00:00:00Z', { headers })],
      [404, await ask('/v1/nothing', { headers })],
      [405, await ask('/v1/export.csv', { method: 'DELETE', headers })],
    ] as const;
    for (const [status, response] of answers) {
      expect(response.status).toBe(status);
      expect(crossOriginOf(response)).toEqual({
        'access-control-allow-origin': answered,
        'access-control-expose-headers': 'Retry-After, Inlet-Stored, Inlet-Rejected, X-Request-Id',
        vary: expect.stringMatching(/(?:^|, )Origin$/),
      });
      await response.arrayBuffer();
    }
  });

  const whereNamed = setting === '*' ? () => {} : test;
  whereNamed('another origin gets no such header; its preflight is told why', async () => {
    for (const origin of [OTHER, 'null', `${DASHBOARD}.evil.example`, DASHBOARD.replace('https', 'http')]) {
      const refused = await preflight('/graphql', origin);
      expect([refused.status, crossOriginOf(refused)]).toEqual([403, { vary: 'Origin' }]);
      expect(await refused.json()).toMatchObject({ code: 'FORBIDDEN', detail: expect.stringContaining(origin) });
      const answer = await ask('/v1/export.csv', { headers: { Origin: origin, ...AUTHORIZATION } });
      expect(crossOriginOf(answer)).toEqual({ vary: 'Accept-Encoding, Origin' });
      await answer.arrayBuffer();
    }
  });

  test('a cookie counts for none of them', async () => {
    const response = await ask('/graphql', {
      method: 'POST',
      headers: { Origin: DASHBOARD, Cookie: `inlet_session=${ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      body: '{"query":"{ viewer { token { name } } }"}',
    });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  });

  test('their WebSockets bring a token; those of other origins are closed with the reason', async () => {
    const connect = (origin: string, payload: object): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
          headers: { Cookie: `inlet_session=${ADMIN_TOKEN}`, Origin: origin },
        });
        socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload })));
        socket.on('message', (data: Buffer) => {
          resolve((JSON.parse(data.toString()) as { type: string }).type);
          socket.close();
        });
        socket.on('close', (code, reason) => resolve(`${code} ${reason.toString()}`));
        socket.on('error', reject);
      });
    expect(await connect(DASHBOARD, { token: ADMIN_TOKEN })).toBe('connection_ack');
    expect(await connect(DASHBOARD, {})).toMatch(/^4403 send connectionParams/);
    expect(await connect(server.url, {})).toBe('connection_ack');
    if (setting !== '*')
      expect(await connect(OTHER, { token: ADMIN_TOKEN })).toBe(
        `4403 ALLOWED_ORIGINS does not name ${OTHER}, so its pages may not ask.`,
      );
  });
});

describeInBrowser('a page of another port', () => {
  let pages: Server;
  let origin: string;
  beforeAll(async () => {
    pages = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>dashboard</title>');
    });
    await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
    origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  });
  afterAll(() => pages.close());

  /** As the script of a dashboard does it: asks, records, reads a header, and follows live. */
  const dashboard = async ([url, token, device]: [string, string, string]): Promise<string[]> => {
    const done: string[] = [];
    const headers = { Authorization: `Token ${token}`, 'Content-Type': 'application/json' };
    const tried = async (name: string, work: () => Promise<string>): Promise<void> => {
      done.push(`${name}: ${await work().catch((error: Error) => error.name)}`);
    };
    await tried('asks', async () => {
      const body = JSON.stringify({ query: '{ viewer { token { name } } }' });
      const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
      return Object.keys(((await response.json()) as { data: object }).data).join();
    });
    const record = async (): Promise<string> => {
      const body = '{"field":"temperature","value":1}';
      const response = await fetch(`${url}/v1/devices/d-1/record/`, { method: 'POST', headers, body });
      return `${response.status} ${(response.headers.get('x-request-id') ?? '').length > 0}`;
    };
    await tried('records', record);
    await tried('follows', () => {
      const { promise, resolve } = Promise.withResolvers<string>();
      const socket = new globalThis.WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      const send = (message: object): void => socket.send(JSON.stringify(message));
      const query = `subscription { measurementsRecorded(deviceIds: ["${device}"]) { measurements { value } } }`;
      socket.addEventListener('open', () => send({ type: 'connection_init', payload: { token } }));
      socket.addEventListener('message', ({ data }) => {
        const { type, payload } = JSON.parse(String(data)) as { type: string; payload?: object };
        if (type === 'next') return resolve(JSON.stringify(payload));
        if (type !== 'connection_ack') return;
        send({ type: 'subscribe', id: '1', payload: { query } });
        const recording = setInterval(() => void record().catch(() => clearInterval(recording)), 200);
      });
      socket.addEventListener('close', ({ code }) => resolve(String(code)));
      return promise;
    });
    return done;
  };

  test('asks and follows live where it is named, and is refused where it is not', async () => {
    const told: string[][] = [];
    for (const allowed of [`https://dash.example.org,${origin}`, 'https://dash.example.org']) {
      const server = await startServer({ database: 'sqlite', env: { ALLOWED_ORIGINS: allowed } });
      try {
        const product = await createProduct(server, { serialNumbers: ['d-1'] });
        const page = await openElsewhere(origin);
        const given: [string, string, string] = [server.url, ADMIN_TOKEN, product.deviceIds[0]!];
        told.push(await page.evaluate(dashboard, given));
        await page.close();
      } finally {
        await server.stop();
      }
    }
    expect(told).toEqual([
      ['asks: viewer', 'records: 200 true', expect.stringMatching(/^follows: .*"value":1/)],
      ['asks: TypeError', 'records: TypeError', 'follows: 4403'],
    ]);
  });
});
