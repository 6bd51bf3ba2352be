import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/postgres.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

let server: TestServer;
let product: TestProduct;
let port: number;

beforeAll(async () => {
  port = await freePort();
  server = await startServer({ database: 'sqlite', env: { METRICS_PORT: String(port), LOG_LEVEL: 'debug' } });
  const decoder = 'function Decoder(r) { if (r.body === "bad") throw new Error("x"); }';
  product = await createProduct(server, { input: { decoder } });
});
afterAll(() => server.stop());

const read = async (token = server.adminToken): Promise<Response> =>
  fetch(`${server.url}/metrics`, { headers: { Authorization: `Token ${token}` } });
/** The value of the first line that begins so. */
const valueOf = async (name: string): Promise<number> => {
  const line = (await (await read()).text()).split('\n').find((text) => text.startsWith(name));
  return Number(line?.split(' ').at(-1));
};

test('requests, values and decoder runs are counted', async () => {
  const device = product.deviceIds[0]!;
  await server.record(device, [
    { field: 'temperature', value: 1 },
    { field: 'temperature', value: 2, timestamp: 9 },
    { field: 'nope', value: 1 },
  ]);
  const hook = (body: string): Promise<Response> =>
    fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body });
  await hook('good');
  await hook('bad');
  await expect.poll(() => valueOf('inlet_http_request_duration_seconds_count{route="record",status="207"}')).toBe(1);
  expect(await valueOf('inlet_http_request_duration_seconds_count{route="webhook",status="202"}')).toBe(1);
  expect(await valueOf('inlet_values_stored_total')).toBe(2);
  expect(await valueOf('inlet_values_rejected_total{code="UNKNOWN_FIELD"}')).toBe(1);
  expect(await valueOf('inlet_decoder_run_duration_seconds_count{outcome="ok"}')).toBe(1);
  expect(await valueOf('inlet_decoder_run_duration_seconds_count{outcome="THREW"}')).toBe(1);
  expect(await valueOf('inlet_commit_duration_seconds_count')).toBeGreaterThanOrEqual(3);
  expect(await valueOf('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  // No secret, no tenant's name.
  expect(await (await read()).text()).not.toContain(product.webhookId);
});

test('are told to ADMIN tokens, and to anybody on METRICS_PORT', async () => {
  const { workspaces } = await server.gql('{ workspaces { id } }');
  const create = async (scope: string): Promise<string> => {
    const input = { name: scope, kind: 'INDIVIDUAL', workspaceId: workspaces[0].id, scopes: [scope] };
    const { createToken } = await server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
      { input },
    );
    return createToken.secret;
  };
  expect((await read(await create('READ'))).status).toBe(403);
  expect((await read(await create('ADMIN'))).status).toBe(200);
  expect((await fetch(`${server.url}/metrics`)).status).toBe(401);
  const open = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(open.headers.get('content-type')).toContain('text/plain');
  expect(await open.text()).toContain('inlet_http_request_duration_seconds');
});

test('every request has an id: the sender’s or a new one, in the answer, in problems and in the access log', async () => {
  const ask = async (id?: string): Promise<{ header: string | null; body: any }> => {
    const response = await fetch(`${server.url}/v1/nothing`, {
      headers: id === undefined ? {} : { 'X-Request-Id': id },
    });
    return { header: response.headers.get('x-request-id'), body: await response.json() };
  };
  expect(await ask('my.request:7')).toMatchObject({ header: 'my.request:7', body: { requestId: 'my.request:7' } });
  const fresh = await ask();
  expect(fresh.header).toMatch(/^[0-9a-f-]{36}$/);
  expect(fresh.body.requestId).toBe(fresh.header);
  expect((await ask('not <fit>')).header).toMatch(/^[0-9a-f-]{36}$/);
  const logged = (): unknown => server.process.lines.find((line) => line['requestId'] === 'my.request:7');
  await expect.poll(logged).toMatchObject({ msg: 'request', route: 'other', status: 404, method: 'GET' });
  expect(JSON.stringify(server.process.lines)).not.toContain(product.webhookId);
});
