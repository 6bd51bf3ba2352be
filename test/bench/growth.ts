import pg from 'pg';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import { DeviceSchema } from '../../src/domain/entities/device.ts';
import { FieldSchema } from '../../src/domain/entities/field.ts';
import type { MeasurementStore, Receipt } from '../../src/domain/ports/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { median, rounded } from '../support/figures.ts';
import { ServerProcess } from '../support/server-process.ts';
import { eachDatabase } from './each-database.ts';
import { END, FIELDS, type HistoryData, loadHistory, MINUTE, YEAR_MINUTES } from './history-data.ts';
import { startWriters, type Writers } from './start-writers.ts';

const BEGIN = Date.UTC(2025, 0, 1);
const CONNECTIONS = 50;
const ROUNDS = 12;
const SECONDS = 1;
const CHARTS = 3;
const DEVICES_A_CALL = 2_000;
/** What the bounded queue of the store takes at once. */
const VALUES_AT_ONCE = 100_000;

type Store = MeasurementStore & { compact(deviceKeys: number[], storedBefore: number): Promise<void> };

/** A database with a device that has a year of minutes, and 1,000 that are written to. */
interface Side {
  url: string;
  data: HistoryData;
}

/**
 * `npm run bench -- growth [sqlite|postgres|both] [devices] [values]`: recording for 1,000 devices over HTTP and the chart of
 * a year (500 buckets), in turn on a database with little else and on one that also holds so many devices (default
 * 100,000) × 10 fields × so many values (default 100) of minute data with two decimals; first as readings, then in
 * chunks. Also the bytes a value on disk before and after, and how fast filling and compacting go.
 */
export async function run(args: string[]): Promise<void> {
  const [only, devices = '100000', values = '100'] = args;
  await eachDatabase(only === 'both' ? undefined : only, async ({ database, newUrl }) => {
    const [little, much] = [await newSide(await newUrl()), await newSide(await newUrl())];
    await addDevices(much.url, Number(devices));
    const keys = await othersOf(much);
    await fill({ database, url: much.url, ...keys, values: Number(values) });
    await measure({ database, beside: 'readings' }, little, much);
    await compact({ database, url: much.url, ...keys });
    await measure({ database, beside: 'chunks' }, little, much);
  });
}

async function newSide(url: string): Promise<Side> {
  return { url, data: await loadHistory(url, true) };
}

async function addDevices(url: string, count: number): Promise<void> {
  const server = await ServerProcess.start({ DATABASE_URL: url });
  const { products } = await server.gql<{ products: { edges: { node: { id: string } }[] } }>(
    '{ products { edges { node { id } } } }',
  );
  for (let done = 0; done < count; done += DEVICES_A_CALL) {
    const devices = Array.from({ length: Math.min(DEVICES_A_CALL, count - done) }, (_, i) => ({
      name: `other ${done + i}`,
    }));
    await server.gql(
      'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
      { id: products.edges[0]!.node.id, devices },
    );
  }
  await server.stop();
}

interface Keys {
  deviceKeys: number[];
  fieldKeys: number[];
}

/** The devices that nobody measures. */
async function othersOf({ url }: Side): Promise<Keys> {
  const orm = url.startsWith('sqlite:') ? await openSqliteOrm(url.slice('sqlite:'.length)) : await openPostgresOrm(url);
  const em = orm.em.fork();
  const devices = await em.find(DeviceSchema, { name: { $like: 'other %' } }, { fields: ['key'] });
  const fields = await em.find(FieldSchema, {}, { orderBy: { key: 'asc' } });
  await orm.close();
  return { deviceKeys: devices.map(({ key }) => key), fieldKeys: fields.map(({ key }) => key) };
}

function openStore(url: string): Promise<Store> {
  return url.startsWith('sqlite:')
    ? SqliteMeasurementStore.open({ path: url.slice('sqlite:'.length) })
    : PostgresMeasurementStore.open({ url });
}

interface Others extends Keys {
  database: string;
  url: string;
}

async function fill({ database, url, deviceKeys, fieldKeys, values }: Others & { values: number }): Promise<void> {
  const bytesBefore = await tableBytes(url, 'reading');
  const store = await openStore(url);
  const begun = performance.now();
  const atOnce = Math.max(1, Math.min(100, Math.floor(VALUES_AT_ONCE / (FIELDS * values))));
  for (let at = 0; at < deviceKeys.length; at += atOnce)
    await Promise.all(
      deviceKeys.slice(at, at + atOnce).map((deviceKey) => store.append(minutes(deviceKey, fieldKeys, values))),
    );
  const seconds = (performance.now() - begun) / 1000;
  await store.stop();
  const count = deviceKeys.length * FIELDS * values;
  const bytes = (await tableBytes(url, 'reading')) - bytesBefore;
  print({ database, filled: count, valuesPerSecond: Math.round(count / seconds), bytesAValue: rounded(bytes / count) });
  await careFor(url);
}

async function compact({ database, url, deviceKeys }: Others): Promise<void> {
  const bytesBefore = await tableBytes(url, 'chunk');
  const countBefore = await chunkValues(url);
  const store = await openStore(url);
  const begun = performance.now();
  await store.compact(deviceKeys, Infinity);
  const seconds = (performance.now() - begun) / 1000;
  await store.stop();
  const count = (await chunkValues(url)) - countBefore;
  const bytes = (await tableBytes(url, 'chunk')) - bytesBefore;
  print({ database, compacted: count, valuesPerSecond: Math.round(count / seconds), bytesAValue: rounded(bytes / count) }); // oxfmt-ignore
  await careFor(url);
}

/** Both databases in turn, so that what else the machine does meets both. */
async function measure(what: Record<string, string>, little: Side, much: Side): Promise<void> {
  const writers = startWriters();
  const sides = await Promise.all(
    [little, much].map(async ({ url, data }) => ({
      data,
      server: await ServerProcess.start({ DATABASE_URL: url, WRITE_RATE_PER_FIELD: '0', LOG_LEVEL: 'info' }),
      rates: [] as number[],
      charts: [] as number[],
    })),
  );
  for (let round = 0; round <= ROUNDS; round++)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const rate = await record(writers, side.server, side.data.others);
      const charts = await chart(side.server, side.data.year);
      // The first is to get warm.
      if (round === 0) continue;
      side.rates.push(rate);
      side.charts.push(...charts);
    }
  writers.stop();
  for (const { server } of sides) await server.stop();
  const [empty, grown] = sides.map(({ rates, charts }) => ({ rate: median(rates), chart: median(charts) }));
  print({
    ...what,
    emptyPerSecond: empty!.rate,
    grownPerSecond: grown!.rate,
    ratio: rounded(grown!.rate / empty!.rate),
    emptyChartMs: rounded(empty!.chart),
    grownChartMs: rounded(grown!.chart),
  });
}

/** Requests a second of ten values each. */
async function record(writers: Writers, server: ServerProcess, deviceIds: string[]): Promise<number> {
  const order = { port: server.port, deviceIds, fields: FIELDS, connections: CONNECTIONS, seconds: SECONDS };
  const { requestsPerSecond, failed } = await writers.write(order);
  if (failed > 0) throw new Error(`${failed} requests failed`);
  return requestsPerSecond;
}

async function chart(server: ServerProcess, id: string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CHARTS; i++) {
    const begun = performance.now();
    const { device } = await server.gql<{ device: { history: { values: unknown[] }[] } }>(
      `query ($id: ID!, $from: DateTime!, $to: DateTime!) { device(id: $id) {
         history(fields: ["field_0"], from: $from, to: $to, resolution: "1052m") { timestamps values } } }`,
      { id, from: new Date(END - YEAR_MINUTES * MINUTE).toISOString(), to: new Date(END).toISOString() },
    );
    times.push(performance.now() - begun);
    if (device.history[0]!.values.length < 500) throw new Error('points are missing');
  }
  return times;
}

/** Ten fields at each minute; each wanders in steps of a hundredth. */
function minutes(deviceKey: number, fieldKeys: number[], count: number): Receipt {
  const batch = { deviceKey, receivedAt: BEGIN, fieldKeys: [] as number[], timestamps: [] as number[], values: [] as number[] }; // oxfmt-ignore
  const now = fieldKeys.map((_, field) => 20 + field);
  for (let i = 0; i < count; i++)
    fieldKeys.forEach((key, field) => {
      now[field] = Math.round((now[field]! + Math.random() - 0.5) * 100) / 100;
      batch.fieldKeys.push(key);
      batch.timestamps.push(BEGIN + i * MINUTE);
      batch.values.push(now[field]!);
    });
  return { batches: [batch] };
}

/** Of a table and its indexes. */
async function tableBytes(url: string, table: 'reading' | 'chunk'): Promise<number> {
  return ask(url, {
    sqlite: `SELECT sum(pgsize) AS n FROM dbstat WHERE name LIKE '${table}%'`,
    postgres: `SELECT pg_total_relation_size('${table}') AS n`,
  });
}

async function chunkValues(url: string): Promise<number> {
  const sql = 'SELECT coalesce(sum(count), 0) AS n FROM chunk';
  return ask(url, { sqlite: sql, postgres: sql });
}

/** What PostgreSQL does on its own within minutes, so that it does not fall into one of the measurements. */
async function careFor(url: string): Promise<void> {
  if (url.startsWith('sqlite:')) return;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const sql of ['VACUUM (ANALYZE) reading', 'VACUUM (ANALYZE) chunk', 'CHECKPOINT']) await client.query(sql);
  await client.end();
}

async function ask(url: string, sql: { sqlite: string; postgres: string }): Promise<number> {
  const isSqlite = url.startsWith('sqlite:');
  const orm = isSqlite ? await openSqliteOrm(url.slice('sqlite:'.length)) : await openPostgresOrm(url);
  const rows = await orm.em
    .fork()
    .getConnection()
    .execute<{ n: number | string }[]>(isSqlite ? sql.sqlite : sql.postgres);
  await orm.close();
  return Number(rows[0]!.n);
}

function print(line: Record<string, unknown>): void {
  console.log(JSON.stringify({ bench: 'growth', ...line }));
}
