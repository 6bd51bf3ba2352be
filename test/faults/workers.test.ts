import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { portsOf } from '../support/mqtt-door.ts';
import { RawMqtt } from '../support/raw-mqtt.ts';
import { metricMistakes } from '../support/metric-rules.ts';
import { freePort } from '../support/free-port.ts';
import { ServerProcess } from '../support/server-process.ts';
import {
  createDatabase,
  createProduct,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';

const redisUrl = inject('redisUrl');
const WORKERS = 3;

test('several workers need what several nodes need, and say so in one sentence', async () => {
  await expect(ServerProcess.start({ WORKERS: '2', DATABASE_URL: 'sqlite::memory:' })).rejects.toThrow(
    /WORKERS: several need PostgreSQL as DATABASE_URL/,
  );
  await expect(ServerProcess.start({ WORKERS: '2', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' })).rejects.toThrow(
    /WORKERS: several need REDIS_URL/,
  );
});

describe.skipIf(redisUrl === null)('three workers behind one port', () => {
  let database: TestDatabase;
  let server: TestServer;
  let product: TestProduct;
  let metricsPort: number;

  beforeAll(async () => {
    database = await createDatabase('postgres', { migrated: false });
    metricsPort = await freePort();
    const env = {
      REDIS_URL: redisUrl!,
      WORKERS: String(WORKERS),
      DECODER_PROCESSES: String(WORKERS),
      METRICS_PORT: String(metricsPort),
      MQTT_PORT: '0',
      CONNECTIONS_PER_ADDRESS: '30',
      WRITE_RATE_PER_FIELD: '1',
    };
    server = await startServer({ database, env, alone: true });
    product = await createProduct(server, { serialNumbers: ['one', 'two', 'three'] });
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  const told = async (): Promise<string> => (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  /** Value of a metric of each worker that has it. */
  const metric = async (name: string, labels = ''): Promise<number[]> =>
    [...(await told()).matchAll(new RegExp(`^${name}\\{worker="\\d+"${labels}\\} (\\S+)$`, 'gm'))].map(([, value]) =>
      Number(value),
    );
  interface Request {
    method?: string;
    headers?: Record<string, string>;
    body?: string;
  }
  /** One request on a connection of its own. */
  const alone = (path: string, init: Request = {}): Promise<Response> =>
    fetch(`${server.url}${path}`, { ...init, headers: { ...init.headers, Connection: 'close' } });
  const record = (field: string, value: number, headers = {}): Promise<Response> =>
    alone(`/v1/devices/${product.deviceIds[0]}/record/`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ field, value }),
    });
  const ready = async (): Promise<any> => (await alone('/readyz')).json();
  /** Process of each worker that was started, the latest last. */
  const pids = (): number[] =>
    server.process.lines.flatMap((line) => (line['msg'] === 'a worker is up' ? [line['pid'] as number] : []));

  test('all of them answer, and any of them tells of all', async () => {
    await Promise.all(Array.from({ length: 30 }, () => alone('/healthz')));
    // In turn among those that are free: none has none. A worker that is slow to tell is left out.
    const counts = (): Promise<number[]> =>
      metric('inlet_http_request_duration_seconds_count', ',route="health",status="200"');
    await expect.poll(counts).toHaveLength(WORKERS);
    expect(Math.min(...(await counts()))).toBeGreaterThan(0);
    expect(metricMistakes(await told())).toEqual([]);
    const headers = { Authorization: `Token ${server.adminToken}` };
    const behindToken = await (await alone('/metrics', { headers })).text();
    expect(behindToken.match(/^inlet_worker_up\{worker="\d"\} 1$/gm)).toHaveLength(WORKERS);
    expect(await ready()).toMatchObject({ status: 'ready', workers: 'ok' });
    const { installation } = await server.gql('{ installation { nodes workers workersUp } }');
    expect(installation).toEqual({ nodes: WORKERS, workers: WORKERS, workersUp: WORKERS });
    // Each of them logs into one log.
    expect(new Set(pids()).size).toBe(WORKERS);
  });

  test('what one changes the others know at once', async () => {
    const { workspaces } = await server.gql('{ workspaces { id } }');
    const { createToken } = await server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }',
      { input: { name: 't', kind: 'INDIVIDUAL', workspaceId: workspaces[0].id, scopes: ['RECORD'] } },
    );
    const statuses = async (): Promise<number[]> => {
      const headers = { Authorization: `Token ${createToken.secret}` };
      const answers = await Promise.all(Array.from({ length: 9 }, () => record('nothing', 1, headers)));
      return [...new Set(answers.map(({ status }) => status))];
    };
    expect(await statuses()).toEqual([400]);
    await server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: createToken.token.id });
    expect(await statuses()).toEqual([401]);
  });

  test('MQTT is one port, too, and each of them takes connections', async () => {
    const { port } = portsOf(server);
    const password = Buffer.from(server.adminToken);
    const clients = await Promise.all(
      Array.from({ length: 12 }, (_, at) => RawMqtt.signIn(port, { clientId: `client ${at}`, password })),
    );
    expect(clients.map(({ connack }) => connack.reasonCode)).toEqual(Array.from({ length: 12 }, () => 0));
    let counts: number[] = [];
    await expect.poll(async () => (counts = await metric('inlet_mqtt_connections'))).toHaveLength(WORKERS);
    expect(counts.reduce((sum, count) => sum + count)).toBe(12);
    expect(Math.min(...counts)).toBeGreaterThan(0);
    for (const { client } of clients) client.socket.destroy();
  });

  test('limits of the machine are not multiplied: writes, connections of an address, decoder processes', async () => {
    const rate = 'mutation ($id: ID!, $rate: Float!) { setWriteRate(deviceId: $id, perSecond: $rate) }';
    const of = { id: product.deviceIds[0] };
    // Nine take longer than a second where little of a processor is left.
    await server.gql(rate, { ...of, rate: 0.001 });
    const answers = await Promise.all(Array.from({ length: 9 }, (_, at) => record('temperature', at)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    await server.gql(rate, { ...of, rate: 1 });

    let refused = 0;
    const open = Array.from({ length: 36 }, () => connect(server.process.port, '127.0.0.1'));
    for (const socket of open) socket.on('data', () => (refused += 1)).on('error', () => {});
    await expect.poll(() => refused).toBeGreaterThanOrEqual(6);
    for (const socket of open) socket.destroy();

    const decoder = 'function Decoder() { return [{ device: "two", field: "temperature", value: 1 }]; }';
    await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      {
        id: product.id,
        source: decoder,
      },
    );
    const calls = await Promise.all(
      Array.from({ length: 9 }, () => alone(`/integrations/api/${product.webhookId}/`, { method: 'POST', body: 'x' })),
    );
    expect(calls.map(({ status }) => status)).toEqual(Array.from({ length: 9 }, () => 200));
    const processes = (await told()).match(/^inlet_process_memory_bytes\{worker="\d",process="decoder fast \d"\}/gm);
    expect(processes).toHaveLength(WORKERS);
  });

  test('one that is killed is started again, the others answer, and what it was handed is closed', async () => {
    const gone = pids()[1]!;
    process.kill(gone, 'SIGSTOP');
    await expect.poll(() => readFileSync(`/proc/${gone}/stat`, 'utf8')).toMatch(/\) T /);
    // In turn: it is handed one of them, which it never takes.
    const ends: string[] = [];
    const ask = (): void => {
      const socket = connect(server.process.port, '127.0.0.1');
      let text = '';
      socket.on('data', (data) => (text += data)).on('error', () => {});
      socket.on('close', () => ends.push(text.split('\r\n')[0]!));
      socket.write('GET /healthz HTTP/1.1\r\nHost: inlet\r\nConnection: close\r\n\r\n');
    };
    for (let at = 0; at < 2 * WORKERS; at += 1) ask();
    const answered = Array.from({ length: 2 * WORKERS - 1 }, () => 'HTTP/1.1 200 OK');
    await expect.poll(() => ends).toEqual(answered);
    process.kill(gone, 'SIGKILL');
    await expect.poll(() => ends).toEqual([...answered, '']);
    await expect.poll(async () => (await ready()).workers).toBe('degraded');
    const during = await Promise.all(Array.from({ length: 12 }, () => alone('/healthz')));
    expect(during.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    await expect.poll(() => pids().length).toBe(WORKERS + 1);
    await expect.poll(async () => (await ready()).status).toBe('ready');
    expect((await metric('inlet_worker_restarts_total')).toSorted()).toEqual([0, 0, 1]);
    expect(await metric('inlet_worker_up')).toEqual([1, 1, 1]);
  });

  test('one whose event loop stands still is ended, and told as missing before', async () => {
    const before = pids();
    process.kill(before.at(-1)!, 'SIGSTOP');
    await expect.poll(async () => (await metric('inlet_worker_up')).toSorted()).toEqual([0, 1, 1]);
    await expect.poll(() => pids().length).toBe(before.length + 1);
    expect(isThere(before.at(-1)!)).toBe(false);
    await expect.poll(() => metric('inlet_worker_up')).toEqual([1, 1, 1]);
  });

  test('SIGTERM drains each of them: what was accepted is stored, and all are gone', async () => {
    const device = product.deviceIds[2]!;
    const body = (value: number): string =>
      JSON.stringify({ field: 'temperature', value, timestamp: 1_700_000_000 + value });
    const statuses: number[] = [];
    let accepted = 0;
    const send = async (from: number): Promise<void> => {
      for (let value = from; ; value += 4) {
        const answer = await alone(`/v1/devices/${device}/record/`, {
          method: 'POST',
          headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/json' },
          body: body(value),
        }).catch(() => null);
        if (answer === null) return;
        statuses.push(answer.status);
        if (answer.status === 200) accepted += 1;
      }
    };
    const sending = [1, 2, 3, 4].map(send);
    await expect.poll(() => accepted).toBeGreaterThan(1);
    const running = pids().filter(isThere);
    expect(running).toHaveLength(WORKERS);
    expect(await server.process.stop('SIGTERM')).toBe(0);
    await Promise.all(sending);
    // Each in its own second of the write limit, or refused in words: never cut.
    expect([...new Set(statuses)].filter((status) => ![200, 429, 503].includes(status))).toEqual([]);
    for (const pid of running) expect(() => process.kill(pid, 0)).toThrow(/ESRCH/);
    const again = await startServer({ database, env: { REDIS_URL: redisUrl! } });
    const { device: found } = await again.gql(
      `query ($id: ID!) { device(id: $id) { statistics(fields: ["temperature"], from: "2023-11-14T00:00:00Z", to: "2023-11-20T00:00:00Z") { count } } }`,
      { id: device },
    );
    expect(found.statistics[0].count).toBe(accepted);
    await again.stop();
  });
});

test.skipIf(redisUrl === null)(
  'the token of the first start is printed once; a killed supervisor leaves nobody',
  async () => {
    const database = await createDatabase('postgres', { migrated: false });
    const env = { DATABASE_URL: database.url, REDIS_URL: redisUrl!, WORKERS: '2', ADMIN_TOKEN: '' };
    const server = await ServerProcess.start(env);
    expect(server.lines.filter((line) => line['token'] !== undefined)).toHaveLength(1);
    const workers = server.lines.flatMap((line) => (line['msg'] === 'a worker is up' ? [line['pid'] as number] : []));
    expect(workers).toHaveLength(2);
    server.child.kill('SIGKILL');
    await once(server.child, 'exit');
    await expect.poll(() => workers.filter((pid) => isThere(pid))).toEqual([]);
    await database.drop();
  },
);

test.skipIf(redisUrl === null)('what keeps a worker from starting is said once, and ends the start', async () => {
  const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x', REDIS_URL: redisUrl!, WORKERS: '3' };
  const failed = await ServerProcess.start(env).then(
    () => 'it started',
    (error: Error) => error.message,
  );
  expect(failed.match(/Inlet cannot start: DATABASE_URL/g)).toHaveLength(1);
  expect(failed).toMatch(/server ended with 1/);
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
