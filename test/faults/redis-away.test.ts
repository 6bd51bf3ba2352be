import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { createClient as createRedisClient } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../support/free-port.ts';
import { endProcess, ready } from '../support/postgres.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

describe.skipIf(inject('redisUrl') === null)('two nodes whose Redis is in trouble', () => {
  let port: number;
  let redis: ChildProcess;
  let database: TestDatabase;
  let a: TestServer;
  let b: TestServer;
  let product: { id: string; deviceIds: string[] };

  const startRedis = async (): Promise<void> => {
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']);
    await ready(redis, /Ready to accept connections/, 'Redis');
  };
  const status = async (server: TestServer): Promise<unknown> =>
    ((await (await fetch(`${server.url}/readyz`)).json()) as { status: string }).status;
  /** What was stored: values that are like no other, each at a time of its own. */
  const stored: number[] = [];
  let sent = 0;
  const record = async (server: TestServer): Promise<{ status: number }> => {
    const value = sent++;
    const answer = await server.record(product.deviceIds[0]!, {
      field: 'temperature',
      value,
      timestamp: 1_700_000_000 + value,
    });
    // Two in one millisecond may be over the limit.
    if (answer.status === 200) stored.push(value);
    return answer;
  };
  type Batch = { measurementsRecorded: { measurements: { value: number }[] } };
  /** What one subscriber on this node is pushed, and why it ended. */
  const listen = (server: TestServer, query: string): { pushed: Batch[]; ended: unknown[]; close: () => void } => {
    const pushed: Batch[] = [];
    const ended: unknown[] = [];
    const connectionParams = { token: server.adminToken };
    const url = `${server.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WebSocket, connectionParams, retryAttempts: 0, lazy: false });
    client.on('closed', (event) => ended.push(event));
    client.subscribe(
      { query },
      {
        next: ({ data, errors }) =>
          errors === undefined ? pushed.push(data as unknown as Batch) : ended.push(errors[0]),
        error: (error) => ended.push(Array.isArray(error) ? error[0] : error),
        complete: () => ended.push('complete'),
      },
    );
    return { pushed, ended, close: () => void client.dispose() };
  };
  const valuesOf = (pushed: Batch[]): number[] =>
    pushed.flatMap((batch) => batch.measurementsRecorded.measurements.map(({ value }) => value)).sort((x, y) => x - y);
  /** The quickest of 20 requests in a row. */
  const quickestMs = async (): Promise<number> => {
    const times: number[] = [];
    for (let at = 0; at < 20; at += 1) {
      const from = performance.now();
      await record(a);
      times.push(performance.now() - from);
    }
    return Math.min(...times);
  };

  beforeAll(async () => {
    port = await freePort();
    await startRedis();
    database = await createDatabase('postgres');
    const env = { REDIS_URL: `redis://127.0.0.1:${port}`, WRITE_RATE_PER_FIELD: '1000' };
    a = await startServer({ database, env });
    b = await startServer({ alone: true, database, env });
    product = await createProduct(a);
  });
  afterAll(async () => {
    redis.kill('SIGCONT');
    await Promise.all([a.stop(), b.stop()]);
    await endProcess(redis, 'SIGTERM');
    await database.drop();
  });

  for (const trouble of ['hangs', 'is away'] as const)
    test(`Redis ${trouble}: requests go on, health says degraded, values still reach subscribers of other nodes, all is well afterwards`, async () => {
      await expect.poll(() => status(a)).toBe('ready');
      const live = listen(
        b,
        `subscription { measurementsRecorded(productId: "${product.id}") { measurements { value } } }`,
      );
      const calls = listen(b, `subscription { webhookCalled(productId: "${product.id}") { id } }`);
      await expect.poll(() => record(a).then(() => live.pushed.length)).toBeGreaterThan(0);
      const first = valuesOf(live.pushed)[0]!;
      const everyValueComesOnce = (): Promise<void> =>
        expect
          .poll(() => valuesOf(live.pushed))
          .toEqual(stored.filter((value) => value >= first).sort((x, y) => x - y));
      await everyValueComesOnce();
      if (trouble === 'hangs') redis.kill('SIGSTOP');
      else await endProcess(redis, 'SIGKILL');

      // Some requests may wait 250 ms; then all do without Redis.
      const many = await Promise.all(Array.from({ length: 200 }, () => record(a)));
      for (const answer of many) expect([200, 429]).toContain(answer.status);
      expect(await quickestMs()).toBeLessThan(250);
      expect((await record(b)).status).toBe(200);
      await expect.poll(() => status(a)).toBe('degraded');
      await expect.poll(() => status(b)).toBe('degraded');
      await a.gql(`mutation { updateProduct(id: "${product.id}", input: { name: "${trouble}" }) { id } }`);
      // A change is seen on the other node although nobody could tell it.
      const name = async (): Promise<string> => (await b.gql(`{ product(id: "${product.id}") { name } }`)).product.name;
      await expect.poll(name).toBe(trouble);
      // The database knows what was recorded; of calls others are only told, and who listens must know of the gap.
      await everyValueComesOnce();
      await expect.poll(() => calls.ended[0]).toMatchObject({ extensions: { code: 'UNAVAILABLE' } });

      if (trouble === 'hangs') redis.kill('SIGCONT');
      else await startRedis();
      await expect.poll(() => status(a)).toBe('ready');
      await expect.poll(() => status(b)).toBe('ready');
      await record(a);
      await everyValueComesOnce();
      expect(live.ended).toEqual([]);
      for (const { close } of [live, calls]) close();
      const warnings = a.process.lines.filter(({ msg }) => String(msg).includes('without Redis'));
      expect(warnings).toHaveLength(1);
    });
});

describe.skipIf(inject('redisUrl') === null)('a Redis that refuses', () => {
  let folder: string;
  const redises: ChildProcess[] = [];
  const start = async (): Promise<number> => {
    const port = await freePort();
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '3600 1', '--dir', folder];
    const redis = spawn('redis-server', settings);
    redises.push(redis);
    await ready(redis, /Ready to accept connections/, 'Redis');
    return port;
  };
  const clientOf = (port: number) => createRedisClient({ url: `redis://127.0.0.1:${port}` }).connect();

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-redis-'));
  });
  afterAll(async () => {
    await Promise.all(redises.map((redis) => endProcess(redis, 'SIGKILL')));
    rmSync(folder, { recursive: true, force: true });
  });

  test('what it should write, as it is a replica by now, is connected to anew: another may have its place', async () => {
    const [former, next] = [await start(), await start()];
    let to = former;
    const proxy = createServer((near) => {
      const far = connect(to, '127.0.0.1');
      near.pipe(far).pipe(near);
      for (const socket of [near, far]) socket.on('error', () => near.destroy());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as { port: number };
    const server = await startServer({
      database: 'sqlite',
      // What it writes stays for five seconds.
      env: { REDIS_URL: `redis://127.0.0.1:${port}`, WRITE_RATE_PER_FIELD: '0.2' },
    });
    const [one, other] = await Promise.all([clientOf(former), clientOf(next)]);
    try {
      const { deviceIds } = await createProduct(server);
      const record = () => server.record(deviceIds[0]!, { field: 'temperature', value: 1 });
      await record();
      const channelsOf = async (redis: typeof one): Promise<string[]> =>
        ((await redis.sendCommand(['PUBSUB', 'CHANNELS', 'inlet:*'])) as string[]).toSorted();
      const heard = await channelsOf(one);
      expect(heard).not.toEqual([]);
      to = next;
      await one.sendCommand(['REPLICAOF', '127.0.0.1', String(next)]);
      // Who publishes, and who hears: both have moved.
      await expect.poll(() => record().then(() => channelsOf(other))).toEqual(expect.arrayContaining(heard));
      await expect.poll(() => record().then(() => other.keys('inlet:*:write:*'))).toHaveLength(1);
    } finally {
      await server.stop();
      for (const client of [one, other]) client.destroy();
      proxy.close();
    }
  });

  test('what it writes and even a ping, as it cannot save, is not away: it hands on what is published', async () => {
    const port = await start();
    const server = await startServer({
      database: 'sqlite',
      env: { REDIS_URL: `redis://127.0.0.1:${port}` },
    });
    const client = await clientOf(port);
    try {
      const product = await createProduct(server);
      rmSync(folder, { recursive: true });
      await client.set('x', '1');
      await client.sendCommand(['BGSAVE']);
      await expect.poll(() => client.ping().catch((error: unknown) => String(error))).toContain('MISCONF');
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect((await server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 })).status).toBe(200);
      expect(server.process.lines.filter(({ level }) => level === 'error')).toEqual([]);
    } finally {
      client.destroy();
      await server.stop();
    }
  });
});
