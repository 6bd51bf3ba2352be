import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metricMistakes } from '../support/metric-rules.ts';
import {
  createPostgresDatabase,
  type PostgresReplica,
  type PostgresServer,
  startPostgres,
} from '../support/postgres.ts';
import { SilentProxy } from '../support/silent-proxy.ts';
import { createProduct, startServer, type TestServer } from '../support/server.ts';

/** Every value is measured in this hour. */
const HOUR = 1_700_000_000;
const RANGE = { from: new Date(HOUR * 1_000).toISOString(), to: new Date((HOUR + 3_600) * 1_000).toISOString() };

let postgres: PostgresServer;
let replica: PostgresReplica;
/** On the way to the replica. */
let proxy: SilentProxy;
let server: TestServer;
let devices: string[];
let database: { url: string; drop: () => Promise<void> };
let moment = 0;

beforeAll(async () => {
  postgres = await startPostgres({ durable: false });
  replica = await postgres.startReplica();
  database = await createPostgresDatabase(postgres.url);
  const way = await SilentProxy.before(replica.urlOf(database.url));
  ({ proxy } = way);
  const env = { DATABASE_REPLICA_URLS: way.url };
  server = await startServer({ database, env, alone: true });
  devices = (await createProduct(server, { serialNumbers: ['one', 'two'] })).deviceIds;
  await record(0, 1, 2, 3);
  await record(1, 1, 2, 3);
});
afterAll(async () => {
  await server.stop();
  await proxy.stop();
  await postgres.stop();
});

async function record(device: number, ...values: number[]): Promise<void> {
  const entries = values.map((value) => ({ field: 'temperature', value, timestamp: HOUR + (moment += 1) }));
  expect((await server.record(devices[device]!, entries)).status).toBe(200);
}

const told = async (): Promise<string> => {
  const headers = { Authorization: `Token ${server.adminToken}` };
  return (await fetch(`${server.url}/metrics`, { headers })).text();
};
const metric = async (name: string): Promise<number> => {
  return Number(
    (await told())
      .split('\n')
      .find((line) => line.startsWith(name))
      ?.split(' ')
      .at(-1),
  );
};
/** Reads since the server started, by who has answered. */
const reads = async (): Promise<{ primary: number; replica: number }> => ({
  primary: await metric('inlet_history_reads_total{place="primary"}'),
  replica: await metric('inlet_history_reads_total{place="replica"}'),
});
/** Reads that `work` needed. */
async function readsOf(work: () => Promise<unknown>): Promise<{ primary: number; replica: number }> {
  const before = await reads();
  await work();
  const after = await reads();
  return { primary: after.primary - before.primary, replica: after.replica - before.replica };
}
async function caughtUp(): Promise<void> {
  await expect.poll(() => metric('inlet_replica_used')).toBe(1);
  await expect.poll(() => metric('inlet_replica_lag_bytes')).toBe(0);
}

/** What each door for history says of a device: chart, statistics, raw page and file. */
async function values(device: number): Promise<{ chart: number[]; count: number; page: number[]; file: number }> {
  const { device: found } = await server.gql(
    `query ($id: ID!, $from: DateTime!, $to: DateTime!) { device(id: $id) {
       history(fields: ["temperature"], from: $from, to: $to) { values }
       statistics(fields: ["temperature"], from: $from, to: $to) { count }
       measurements(field: "temperature", first: 100) { edges { node { value } } }
     } }`,
    { id: devices[device], ...RANGE },
  );
  const url = `${server.url}/v1/devices/${devices[device]}/history.csv?from=${RANGE.from}&to=${RANGE.to}`;
  const file = await fetch(url, { headers: { Authorization: `Token ${server.adminToken}` } });
  expect(file.status).toBe(200);
  return {
    chart: found.history[0].values,
    count: found.statistics[0].count,
    page: found.measurements.edges.map(({ node }: any) => node.value),
    file: (await file.text()).trim().split('\n').length - 1,
  };
}
const all = (...numbers: number[]): Awaited<ReturnType<typeof values>> => ({
  chart: numbers,
  count: numbers.length,
  page: numbers,
  file: numbers.length,
});

test('history, statistics and files are answered by the replica; newest values are not asked of it', async () => {
  await caughtUp();
  const needed = await readsOf(async () => expect(await values(0)).toEqual(all(1, 2, 3)));
  expect(needed.replica).toBeGreaterThanOrEqual(3);
  expect(needed.primary).toBe(0);
  const latest = `{ device(id: "${devices[0]}") { latest { value } } }`;
  expect(await readsOf(() => server.gql(latest))).toEqual({ primary: 0, replica: 0 });
  expect(await metric('inlet_replica_lag_seconds')).toBe(0);
  expect(metricMistakes(await told())).toEqual([]);
  const dashboard = readFileSync(new URL('../../deploy/grafana/inlet.json', import.meta.url), 'utf8');
  const asked = dashboard.match(/\binlet_(?:replica|history)_\w+/g)!;
  expect(asked.length).toBeGreaterThan(2);
  for (const name of asked) expect(await told(), name).toMatch(new RegExp(`^${name}\\{`, 'm'));
});

test('an operator is told how it is', async () => {
  const { installation } = await server.gql('{ installation { replicas { name used lagBytes lagSeconds } } }');
  const name = `127.0.0.1:${proxy.port}`;
  expect(installation.replicas).toEqual([
    { name, used: true, lagBytes: expect.any(Number), lagSeconds: expect.any(Number) },
  ]);
});

test('own writes are seen at once although the replica stands still; what is not written to is read there', async () => {
  await replica.ask('SELECT pg_wal_replay_pause()');
  await record(0, 4);
  const own = await readsOf(async () => expect(await values(0)).toEqual(all(1, 2, 3, 4)));
  expect(own.replica).toBe(0);
  expect(own.primary).toBeGreaterThanOrEqual(3);
  expect(await readsOf(async () => expect(await values(1)).toEqual(all(1, 2, 3)))).toMatchObject({ primary: 0 });
  await expect.poll(() => metric('inlet_replica_lag_bytes')).toBeGreaterThan(0);

  // Deleted values are gone at once, too, and so are those of a replica that never had them.
  const { deleteMeasurements } = await server.gql(
    `mutation ($id: ID!, $from: DateTime!, $to: DateTime!) {
       deleteMeasurements(deviceId: $id, fields: ["temperature"], from: $from, to: $to) { measurements } }`,
    { id: devices[1], ...RANGE },
  );
  expect(deleteMeasurements.measurements).toBe(3);
  expect(await values(1)).toEqual(all());

  await replica.ask('SELECT pg_wal_replay_resume()');
  await caughtUp();
  expect(await readsOf(async () => expect(await values(0)).toEqual(all(1, 2, 3, 4)))).toMatchObject({ primary: 0 });
  expect(await readsOf(async () => expect(await values(1)).toEqual(all()))).toMatchObject({ primary: 0 });
});

test('every write is read back, however the replica lags', async () => {
  const before = (await values(1)).count;
  for (let round = 1; round <= 30; round += 1) {
    await record(1, round);
    expect((await values(1)).count).toBe(before + round);
  }
});

test('a replica that is stopped, killed or started again while it is read costs no error', async () => {
  const expected = await values(0);
  const over = new AbortController();
  let answers = 0;
  const read = async (): Promise<void> => {
    while (!over.signal.aborted) {
      expect(await values(0)).toEqual(expected);
      answers += 1;
    }
  };
  const reading = Promise.all(Array.from({ length: 4 }, read));
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    await replica.stop(signal);
    await expect.poll(() => metric('inlet_replica_used')).toBe(0);
    await replica.start();
    await caughtUp();
  }
  over.abort();
  await reading;
  expect(answers).toBeGreaterThan(0);
  expect(await readsOf(() => values(0))).toMatchObject({ primary: 0 });
});

test('a replica that falls silent costs no error, and is used again when it speaks', async () => {
  const expected = await values(0);
  proxy.silent = true;
  expect(await Promise.all(Array.from({ length: 4 }, () => values(0)))).toEqual([
    expected,
    expected,
    expected,
    expected,
  ]);
  expect(await metric('inlet_replica_used')).toBe(0);
  proxy.silent = false;
  await caughtUp();
  expect(await readsOf(async () => expect(await values(0)).toEqual(expected))).toMatchObject({ primary: 0 });
});

test('the log names the replica and why it was not used, without its password', () => {
  const said = server.process.lines.filter((line) => line['replica'] !== undefined);
  expect(said.map((line) => line['msg'])).toContain(
    `the replica 127.0.0.1:${proxy.port} is not used: the primary answers`,
  );
  expect(said.every((line) => line['replica'] === `127.0.0.1:${proxy.port}`)).toBe(true);
});

test('another database of the same server is no replica, nor is the primary itself', async () => {
  const other = await createPostgresDatabase(postgres.url);
  const own = await createPostgresDatabase(postgres.url);
  const env = { DATABASE_REPLICA_URLS: `${replica.urlOf(other.url)}, ${own.url}` };
  const second = await startServer({ database: own, env, alone: true });
  const reasons = (): unknown[] => second.process.lines.flatMap((line) => line['reason'] ?? []);
  await expect.poll(() => reasons().length).toBe(2);
  expect(reasons().toSorted()).toEqual(['it belongs to another database', 'it is no replica: perhaps it was promoted']);
  await second.stop();
});

test('a promoted replica is not used any more: what it would say is no longer true', async () => {
  await replica.ask('SELECT pg_promote()');
  await record(0, 5);
  expect((await values(0)).chart).toEqual([1, 2, 3, 4, 5]);
  await expect.poll(() => metric('inlet_replica_used')).toBe(0);
  expect(await readsOf(() => values(1))).toMatchObject({ replica: 0 });
  const said = server.process.lines.flatMap((line) => line['reason'] ?? []);
  expect(said.at(-1)).toMatch(/promoted/);
});
