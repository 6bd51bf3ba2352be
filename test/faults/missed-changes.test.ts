import { type ChildProcess, spawn } from 'node:child_process';
import { createClient as createSocket } from 'graphql-ws';
import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../support/free-port.ts';
import { endProcess, ready } from '../support/postgres.ts';
import { SilentProxy } from '../support/silent-proxy.ts';
import { firstPush } from '../support/subscribe.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

describe.skipIf(inject('redisUrl') === null)('two nodes, and changes that one of them could not be told', () => {
  let redis: ChildProcess;
  let redisUrl: string;
  let database: TestDatabase;
  let a: TestServer;
  let b: TestServer;

  const say = async (...command: string[]): Promise<void> => {
    const client = createClient({ url: redisUrl });
    await client.connect();
    await client.sendCommand(command);
    client.destroy();
  };
  const createToken = async (scopes: string[]): Promise<{ secret: string; token: { id: string } }> => {
    const create = 'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }';
    return (await a.gql(create, { input: { name: 't', kind: 'INDIVIDUAL', scopes } }))['createToken'];
  };
  const revoke = (id: string): Promise<unknown> => a.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id });
  /** What is pushed on the other node, and with which code the connection ends. */
  const follow = (token: string, deviceId: string): { values: number[]; ends: number[]; close: () => void } => {
    const [values, ends]: [number[], number[]] = [[], []];
    const url = `${b.url.replace('http', 'ws')}/graphql`;
    const client = createSocket({ url, webSocketImpl: WebSocket, connectionParams: { token }, retryAttempts: 0 });
    client.on('closed', (event) => ends.push((event as { code: number }).code));
    client.subscribe<{ measurementsRecorded: { measurements: { value: number }[] } }>(
      { query: `subscription { measurementsRecorded(deviceIds: ["${deviceId}"]) { measurements { value } } }` },
      {
        // The last event may already say that the token is over.
        next: ({ data }) =>
          void values.push(...(data?.measurementsRecorded.measurements ?? []).map(({ value }) => value)),
        error: () => {},
        complete: () => {},
      },
    );
    return { values, ends, close: () => void client.dispose() };
  };

  const status = async (server: TestServer): Promise<string> =>
    ((await (await fetch(`${server.url}/readyz`)).json()) as { status: string }).status;

  beforeAll(async () => {
    const port = await freePort();
    redis = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']);
    await ready(redis, /Ready to accept connections/, 'Redis');
    redisUrl = `redis://127.0.0.1:${port}`;
    database = await createDatabase('postgres');
    a = await startServer({ database, env: { REDIS_URL: redisUrl } });
    b = await startServer({ alone: true, database, env: { REDIS_URL: redisUrl } });
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await endProcess(redis, 'SIGTERM');
    await database.drop();
  });

  test('a subscription ends although the connection that brings the word of it was lost, others go on without a gap', async () => {
    const { deviceIds } = await createProduct(a);
    const { secret, token } = await createToken(['READ']);
    const [revoked, other] = [follow(secret, deviceIds[0]!), follow(a.adminToken, deviceIds[0]!)];
    let sent = 0;
    const record = async (): Promise<void> => {
      sent += 1;
      const entry = { field: 'temperature', value: sent, timestamp: 1_700_000_000 + sent };
      expect((await b.record(deviceIds[0]!, entry)).status).toBe(200);
    };
    await expect
      .poll(() => record().then(() => Math.min(revoked.values.length, other.values.length)))
      .toBeGreaterThan(0);
    const [first] = other.values;

    await say('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await say('CLIENT', 'PAUSE', '3000', 'ALL');
    await revoke(token.id);
    await expect.poll(() => revoked.ends).toEqual([4403]);
    const seen = revoked.values.length;
    for (let time = 0; time < 10; time += 1) await record();
    await expect.poll(() => other.values.length).toBe(sent - first! + 1);
    await expect.poll(() => status(b)).toBe('ready');
    await record();
    await expect.poll(() => other.values).toEqual(Array.from({ length: sent - first! + 1 }, (_, at) => first! + at));
    expect(other.ends).toEqual([]);
    expect(revoked.values).toHaveLength(seen);
    other.close();
  });

  /** What the other node answers at once after each of these was changed here; it has all of them in memory before. */
  const changesAreHeard = async (here: TestServer): Promise<unknown> => {
    const decoder = 'function Decoder() { return [{ device: 1, field: "temperature", value: 1 }] }';
    const { id, webhookId, deviceIds } = await createProduct(a, { serialNumbers: ['1', '2'], input: { decoder } });
    const { secret, token } = await createToken(['READ', 'RECORD']);
    const entry = { field: 'temperature', value: 1 };
    const record = async (deviceId: string, by?: string): Promise<number> =>
      (await b.record(deviceId, entry, by === undefined ? {} : { token: by })).status;
    const call = async (): Promise<number> =>
      (await fetch(`${b.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' })).status;
    const answers = async (): Promise<number[]> => [
      await record(deviceIds[0]!, secret),
      await record(deviceIds[1]!),
      await call(),
    ];
    expect(await answers()).toEqual([200, 200, 200]);
    const live = follow(secret, deviceIds[0]!);
    await expect.poll(() => record(deviceIds[0]!).then(() => live.values.length)).toBeGreaterThan(0);
    await Promise.all([
      here.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: token.id }),
      here.gql('mutation ($id: ID!) { deleteDevices(ids: [$id]) }', { id: deviceIds[1] }),
      here.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', { id }),
    ]);
    const now = await answers();
    await expect.poll(() => live.ends).toEqual([4403]);
    return now;
  };

  test('what a node that is cut off from Redis changes is seen by the others, which are not, and what these change by it', async () => {
    const { proxy, url } = await SilentProxy.before(redisUrl);
    const cut = await startServer({ alone: true, database, env: { REDIS_URL: url } });
    try {
      expect(await changesAreHeard(cut)).toEqual([401, 404, 404]);
      await proxy.stop();
      expect(await changesAreHeard(cut)).toEqual([401, 404, 404]);
      await expect.poll(() => status(cut)).toBe('degraded');
      expect(await status(b)).toBe('ready');
      const { deviceIds } = await createProduct(a);
      const recordsAfter: number[] = [];
      for (let time = 0; time < 3; time += 1) {
        const { secret, token } = await createToken(['RECORD']);
        const entry = { field: 'temperature', value: 1 };
        const record = async (): Promise<number> => (await cut.record(deviceIds[0]!, entry, { token: secret })).status;
        const sending = { on: true };
        // Somebody who is in its memory all the time.
        const sender = (async () => {
          while (sending.on) await record();
        })();
        await revoke(token.id);
        recordsAfter.push(await record());
        sending.on = false;
        await sender;
      }
      expect(recordsAfter).toEqual([401, 401, 401]);
    } finally {
      await cut.stop();
    }
  });

  test('what Redis does not let through is seen all the same, and missed calls are told as soon as it does', async () => {
    const { id, webhookId } = await createProduct(a, { input: { decoder: 'function Decoder() { return [] }' } });
    const call = (): Promise<unknown> =>
      fetch(`${a.url}/integrations/api/${webhookId}/`, { method: 'POST', body: 'x' }).then((answer) => answer.text());
    const missed = firstPush(b.url, b.adminToken, `subscription { webhookCalled(productId: "${id}") { id } }`, {});
    await say('ACL', 'SETUSER', 'default', '-publish');
    try {
      expect(await changesAreHeard(a)).toEqual([401, 404, 404]);
      await call();
      // It is published behind its answer.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    } finally {
      await say('ACL', 'SETUSER', 'default', '+publish');
    }
    expect((await missed)?.errors?.[0]?.extensions.code).toBe('UNAVAILABLE');
    const next = firstPush(b.url, b.adminToken, `subscription { webhookCalled(productId: "${id}") { id } }`, {});
    const state: { told?: unknown } = {};
    void next.then((push) => (state.told = push?.data?.['webhookCalled'].id ?? push));
    // Until it has begun.
    await expect.poll(() => call().then(() => state.told)).toMatch(/./);
  });

  test('for a node that was killed no change waits', async () => {
    const { token } = await createToken(['RECORD']);
    await b.process.stop('SIGKILL');
    // Until Redis and the database have noticed.
    await new Promise((resolve) => setTimeout(resolve, 300));
    await revoke(token.id);
  });
});
