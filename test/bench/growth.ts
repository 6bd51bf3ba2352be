import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import type { MeasurementStore, Receipt } from '../../src/domain/measurements/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { startPostgres } from '../support/postgres.ts';

const FIELDS = 10;
const MINUTE = 60_000;
const BEGIN = Date.UTC(2025, 0, 1);
/** The devices that are written to before and after the store has grown. */
const MEASURED = 1_000;
const APPENDERS = 50;
const SECONDS = 5;

type Store = MeasurementStore & { compact(deviceKeys: number[], storedBefore: number): Promise<void> };

interface Growing {
  name: string;
  store: Store;
  /** Bytes of a table and its indexes. */
  size(table: 'reading' | 'chunk'): Promise<number>;
}

/**
 * `npm run bench -- growth [devices] [values] [sqlite|postgres]`: recording for 1,000 devices into an empty store, and
 * again beside so many devices (default 100,000) × 10 fields × so many values (default 100), minute data with two
 * decimals; bytes a value on disk before and after compaction, and how fast that goes. Prints a JSON line for each.
 */
export async function run(args: string[]): Promise<void> {
  const [devices, values] = [Number(args[0] ?? 100_000), Number(args[1] ?? 100)];
  if (args[2] !== 'postgres') {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-bench-'));
    const path = join(folder, 'inlet.db');
    const orm = await openSqliteOrm(path);
    const store = await SqliteMeasurementStore.open({ path });
    const size = async (table: string): Promise<number> => {
      const text = `SELECT sum(pgsize) AS n FROM dbstat WHERE name LIKE '${table}%'`;
      return (await orm.em.fork().getConnection().execute<{ n: number }[]>(text))[0]!.n;
    };
    await grow({ name: 'sqlite', store, size }, devices, values);
    await store.stop();
    await orm.close();
    rmSync(folder, { recursive: true, force: true });
  }
  if (args[2] !== 'sqlite') {
    const server = await startPostgres({ durable: true });
    const orm = await openPostgresOrm(server.url);
    const store = await PostgresMeasurementStore.open({ url: server.url });
    const size = async (table: string): Promise<number> => {
      const text = `SELECT pg_total_relation_size('${table}') AS n`;
      return Number((await orm.em.fork().getConnection().execute<{ n: string }[]>(text))[0]!.n);
    };
    await grow({ name: 'postgres', store, size }, devices, values);
    await store.stop();
    await orm.close();
    await server.stop();
  }
}

async function grow({ name, store, size }: Growing, devices: number, values: number): Promise<void> {
  const empty = await record(store);
  const bytesAtFirst = await size('reading');
  const filling = performance.now();
  // What the bounded queue takes at once.
  const atOnce = Math.max(1, Math.min(100, Math.floor(100_000 / (FIELDS * values))));
  for (let device = 0; device < devices; device += atOnce) {
    const some = Array.from({ length: Math.min(atOnce, devices - device) }, (_, i) => MEASURED + 1 + device + i);
    await Promise.all(some.map((deviceKey) => store.append(history(deviceKey, values))));
  }
  const filled = devices * FIELDS * values;
  const filledAt = performance.now();
  const bytesBefore = await size('reading');
  const grown = await record(store);
  const compacting = performance.now();
  await store.compact(
    Array.from({ length: devices }, (_, i) => MEASURED + 1 + i),
    Infinity,
  );
  const compacted = performance.now();
  const round = (value: number): number => Math.round(value * 100) / 100;
  console.log(
    JSON.stringify({
      bench: 'growth',
      database: name,
      emptyValuesPerSecond: empty,
      grownValuesPerSecond: grown,
      ratio: round(grown / empty),
      filledValuesPerSecond: Math.round(filled / ((filledAt - filling) / 1000)),
      compactedValuesPerSecond: Math.round(filled / ((compacted - compacting) / 1000)),
      bytesAValueAsReadings: round((bytesBefore - bytesAtFirst) / filled),
      bytesAValueAsChunks: round((await size('chunk')) / filled),
    }),
  );
}

let clock = BEGIN;

/** Values acknowledged a second: 50 at once, ten values each. */
async function record(store: Store): Promise<number> {
  const begun = performance.now();
  let values = 0;
  const appender = async (): Promise<void> => {
    while (performance.now() - begun < SECONDS * 1000) {
      const device = 1 + Math.floor(Math.random() * MEASURED);
      await store.append(receipt(device, [(clock += 1)]));
      values += FIELDS;
    }
  };
  await Promise.all(Array.from({ length: APPENDERS }, appender));
  return Math.round(values / ((performance.now() - begun) / 1000));
}

function history(deviceKey: number, values: number): Receipt {
  return receipt(
    deviceKey,
    Array.from({ length: values }, (_, i) => BEGIN + i * MINUTE),
  );
}

/** Ten fields at each of the times; each field wanders in steps of a hundredth. */
function receipt(deviceKey: number, times: number[]): Receipt {
  const fields = Array.from({ length: FIELDS }, (_, field) => ({ key: field + 1, value: 20 + field }));
  const rows = times.flatMap((time) =>
    fields.map((field) => {
      field.value = Math.round((field.value + Math.random() - 0.5) * 100) / 100;
      return { time, key: field.key, value: field.value };
    }),
  );
  const batch = {
    deviceKey,
    receivedAt: BEGIN,
    fieldKeys: rows.map((row) => row.key),
    timestamps: rows.map((row) => row.time),
    values: rows.map((row) => row.value),
  };
  return { batches: [batch] };
}
