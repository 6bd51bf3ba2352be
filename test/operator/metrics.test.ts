import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import Sqlite from 'better-sqlite3';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { LANES } from '../../src/scheduling/lanes.ts';
import { POOLS } from '../../src/scheduling/pools.ts';
import { metricMistakes } from '../support/metric-rules.ts';
import { freePort } from '../support/free-port.ts';
import { createDatabase, createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

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
  // It was tried once when the product was created.
  const runs = await valueOf('inlet_decoder_run_duration_seconds_count{outcome="ok"}');
  await server.record(device, [
    { field: 'temperature', value: 1 },
    { field: 'temperature', value: 2, timestamp: 1_700_000_009 },
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
  expect(await valueOf('inlet_decoder_run_duration_seconds_count{outcome="ok"}')).toBe(runs + 1);
  expect(await valueOf('inlet_decoder_run_duration_seconds_count{outcome="THREW"}')).toBe(1);
  expect(await valueOf('inlet_flush_duration_seconds_count')).toBeGreaterThanOrEqual(3);
  expect(await valueOf('process_resident_memory_bytes')).toBeGreaterThan(1e6);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(await valueOf(`inlet_build_info{version="${version}",node="${process.versions.node}"}`)).toBe(1);
  // No secret, no tenant's name.
  expect(await (await read()).text()).not.toContain(product.webhookId);
});

test('each lane tells what waited, and for how long', async () => {
  const waits = await valueOf('inlet_lane_waits_total{lane="passwords"}');
  const signIn = (at: number): Promise<Response> =>
    fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        query: `mutation { signIn(email: "nobody${at}@example.org", password: "never mind") { secret } }`,
      }),
    });
  await Promise.all(Array.from({ length: 5 }, (_, at) => signIn(at)));
  expect(await valueOf('inlet_lane_waits_total{lane="passwords"}')).toBeGreaterThan(waits);
  expect(await valueOf('inlet_lane_wait_seconds_total{lane="passwords"}')).toBeGreaterThan(0);
  expect(await valueOf('inlet_lane_refused_total{lane="passwords"}')).toBe(0);
  expect(await valueOf('inlet_lane_waiting{lane="passwords"}')).toBe(0);
  expect(await valueOf('inlet_lane_charged_seconds_total{lane="operations"}')).toBeGreaterThan(0);
  const told = [...(await (await read()).text()).matchAll(/^inlet_lane_waiting\{lane="(\w+)"\}/gm)].map(
    (found) => found[1],
  );
  expect(told).toEqual(Object.keys(LANES));
});

test('each pool tells what it holds, and of which nothing is held any more', async () => {
  const held = (pool: string): Promise<number> => valueOf(`inlet_pool_held_bytes{pool="${pool}"}`);
  const before = await held('bodies');
  const half = request(`${server.url}/v1/devices/${product.deviceIds[0]}/record/`, {
    method: 'POST',
    headers: { Authorization: `Token ${server.adminToken}`, 'Content-Length': 200_000 },
  });
  half.on('error', () => {});
  half.write('x'.repeat(100_000));
  await expect.poll(() => held('bodies')).toBeGreaterThanOrEqual(before + 100_000);
  half.destroy();
  await expect.poll(() => held('bodies')).toBe(before);
  const told = await (await read()).text();
  for (const name of ['inlet_pool_held_bytes', 'inlet_pool_refused_total', 'inlet_pool_evicted_total']) {
    const pools = [...told.matchAll(new RegExp(`^${name}\\{pool="(\\w+)"\\}`, 'gm'))].map((found) => found[1]);
    expect(pools).toEqual(Object.keys(POOLS));
  }
});

test('how full it is: flushes, queues, subscribers, caches, and the memory of each process', async () => {
  const flushes = await valueOf('inlet_flush_duration_seconds_count');
  const values = await valueOf('inlet_flush_values_sum');
  await server.record(product.deviceIds[0]!, [
    { field: 'temperature', value: 1, timestamp: 1_700_000_001 },
    { field: 'temperature', value: 2, timestamp: 1_700_000_002 },
  ]);
  // A flush more, and perhaps one of those before.
  expect(await valueOf('inlet_flush_duration_seconds_count')).toBeGreaterThan(flushes);
  expect(await valueOf('inlet_flush_values_sum')).toBe(values + 2);
  expect(await valueOf('inlet_values_waiting')).toBe(0);
  expect(await valueOf('inlet_decoder_calls_waiting')).toBe(0);
  expect(await valueOf('inlet_cache_entries{cache="products"}')).toBe(1);
  expect(await valueOf('inlet_cache_entries{cache="devices"}')).toBe(1);
  expect(await valueOf('inlet_cache_entries{cache="tokens"}')).toBe(1);
  expect(await valueOf('inlet_cache_entries{cache="documents"}')).toBeGreaterThan(0);
  expect(await valueOf('inlet_process_memory_bytes{process="server"}')).toBeGreaterThan(50e6);
  expect(await valueOf('inlet_process_memory_bytes{process="decoder fast 0"}')).toBeGreaterThan(20e6);
  expect(await valueOf('inlet_subscriptions')).toBe(0);
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: server.adminToken },
  });
  for (let index = 0; index < 2; index += 1)
    client.subscribe(
      { query: 'subscription { measurementsRecorded { cursor } }' },
      { next: () => {}, error: () => {}, complete: () => {} },
    );
  await expect.poll(() => valueOf('inlet_subscriptions')).toBe(2);
  expect(await valueOf('inlet_pool_held_bytes{pool="subscriptions"}')).toBeGreaterThanOrEqual(2 * 8_192);
  expect(await valueOf('inlet_websockets')).toBe(1);
  await client.dispose();
  await expect.poll(() => valueOf('inlet_websockets')).toBe(0);
  expect(await valueOf('inlet_subscriptions')).toBe(0);
});

test('the dashboard asks only for what is told', async () => {
  const dashboard = readFileSync(new URL('../../deploy/grafana/inlet.json', import.meta.url), 'utf8');
  const told = await (await read()).text();
  const names = new Set(dashboard.match(/\b(?:inlet|nodejs|process)_\w+/g));
  expect(names.size).toBeGreaterThan(12);
  // Where there are replicas: test/faults/replicas.test.ts.
  const own = [...names].filter((name) => !/^inlet_(?:replica|history)_/.test(name));
  for (const name of own) expect(told, name).toMatch(new RegExp(`^${name}[ {]`, 'm'));
});

test('names and types are as Prometheus wants them', async () => {
  const told = await (await read()).text();
  expect(metricMistakes(told)).toEqual([]);
  expect(told).toMatch(/^nodejs_eventloop_utilization_ratio (?:0(?:\.\d+)?|1|\d(?:\.\d+)?e-\d+)$/m);
  // Where Prometheus' own tool is there it says the same.
  const { error, stdout, stderr, status } = spawnSync('promtool', ['check', 'metrics'], {
    input: told,
    encoding: 'utf8',
  });
  if (error === undefined) expect([status, stdout, stderr]).toEqual([0, '', '']);
});

test('the rules for them find what is wrong', () => {
  const wrong = [
    '# HELP a_total x\n# TYPE a_total gauge\na_total 1',
    '# HELP bad x\n# TYPE bad counter\nbad 1',
    '# HELP c_histogram x\n# TYPE c_histogram histogram\nc_histogram_sum 1',
    '# TYPE dumb gauge\ndumb 1',
    '# HELP e_milliseconds x\n# TYPE e_milliseconds gauge\ne_milliseconds 1',
    '# HELP f_ms x\n# TYPE f_ms gauge\nf_ms 1',
    '# HELP g_count x\n# TYPE g_count gauge\ng_count 1',
    '# HELP hot x\n# TYPE hot gauge\nhot{someLabel="1"} 1',
  ];
  for (const text of wrong) expect(metricMistakes(text), text).toHaveLength(1);
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
  expect(fresh.header).toMatch(/^[\w-]{16}$/);
  expect(fresh.body.requestId).toBe(fresh.header);
  expect((await ask('not <fit>')).header).toMatch(/^[\w-]{16}$/);
  const logged = (): unknown => server.process.lines.find((line) => line['requestId'] === 'my.request:7');
  await expect.poll(logged).toMatchObject({ msg: 'request', route: 'other', status: 404, method: 'GET' });
  expect(JSON.stringify(server.process.lines)).not.toContain(product.webhookId);
});

test('an internal error is logged with the id of its request, whatever way it came', async () => {
  const database = await createDatabase('sqlite');
  const broken = await startServer({ database });
  try {
    const [device] = (await createProduct(broken)).deviceIds;
    const file = new Sqlite(database.url.slice('sqlite:'.length));
    file.exec('alter table field rename to gone');
    file.close();
    const lineOf = (id: string): unknown =>
      broken.process.lines.find((line) => line['requestId'] === id && line['level'] === 'error');
    const answer = await broken.record(device!, [], { headers: { 'X-Request-Id': 'record-1' } });
    expect(answer).toMatchObject({ status: 500, body: { requestId: 'record-1' } });
    await expect.poll(() => lineOf('record-1')).toBeDefined();
    const asked = await fetch(`${broken.url}/graphql`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Request-Id': 'graphql-1',
        Authorization: `Token ${broken.adminToken}`,
      },
      body: JSON.stringify({ query: '{ products { edges { node { fields { id } } } } }' }),
    });
    expect(await asked.text()).toContain('Internal error');
    await expect.poll(() => lineOf('graphql-1')).toBeDefined();
    const socket = createClient({
      url: `${broken.url.replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: class extends WebSocket {
        constructor(url: string, protocols: string) {
          super(url, protocols, { headers: { 'X-Request-Id': 'socket-1' } });
        }
      },
      connectionParams: { token: broken.adminToken },
    });
    await new Promise<void>((resolve) => {
      const done = (): void => resolve();
      const query = '{ products { edges { node { fields { id } } } } }';
      socket.subscribe({ query }, { next: done, error: done, complete: done });
    });
    await expect.poll(() => lineOf('socket-1')).toBeDefined();
    await socket.dispose();
  } finally {
    await broken.stop();
    await database.drop();
  }
});
