import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import type { MeasurementStore, Receipt } from '../../src/domain/ports/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { startPostgres } from '../support/postgres.ts';
import { countRows } from './count-rows.ts';

const APPENDERS = 50;
const DEVICES = 1_000;
const FIELDS = 10;
const SECONDS = 6;

/** Raw speed of both stores: 50 appenders at once, 10 rows each, over 1,000 devices. Prints a JSON line for each. */
export async function run(): Promise<void> {
  await onSqlite();
  await onPostgres();
}

async function onSqlite(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-bench-'));
  try {
    const path = join(folder, 'inlet.db');
    const orm = await openSqliteOrm(path);
    const store = await SqliteMeasurementStore.open({ path });
    await measure('sqlite', store, () => countRows(`sqlite:${path}`));
    await store.stop();
    await orm.close();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function onPostgres(): Promise<void> {
  const server = await startPostgres({ durable: true });
  try {
    const orm = await openPostgresOrm(server.url);
    const store = await PostgresMeasurementStore.open({ url: server.url });
    await measure('postgres', store, () => countRows(server.url));
    await store.stop();
    await orm.close();
  } finally {
    await server.stop();
  }
}

async function measure(name: string, store: MeasurementStore, count: () => Promise<number>): Promise<void> {
  const fieldKeys = Array.from({ length: FIELDS }, (_, i) => FIELDS - i);
  const clock = Array.from({ length: DEVICES }, () => 1_700_000_000_000);
  const latencies: number[] = [];
  let receipts = 0;
  const begun = performance.now();
  const cpu = process.cpuUsage();
  const appender = async (): Promise<void> => {
    while (performance.now() - begun < SECONDS * 1000) {
      const device = Math.floor(Math.random() * DEVICES);
      const timestamp = (clock[device] = clock[device]! + 1_000);
      const receipt: Receipt = {
        batches: [
          {
            deviceKey: device + 1,
            receivedAt: timestamp,
            fieldKeys,
            timestamps: fieldKeys.map(() => timestamp),
            values: fieldKeys.map((key) => key * Math.random()),
          },
        ],
      };
      const asked = performance.now();
      await store.append(receipt);
      latencies.push(performance.now() - asked);
      receipts++;
    }
  };
  await Promise.all(Array.from({ length: APPENDERS }, appender));
  const seconds = (performance.now() - begun) / 1000;
  const used = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  const at = (share: number): number => Number(latencies[Math.floor(latencies.length * share)]!.toFixed(2));
  const rows = await count();
  console.log(
    JSON.stringify({
      store: name,
      rowsPerSecond: Math.round((receipts * FIELDS) / seconds),
      cpu: Number(((used.user + used.system) / 1e6 / seconds).toFixed(2)),
      p50: at(0.5),
      p99: at(0.99),
      max: at(0.99999),
      rssMegabytes: Math.round(process.memoryUsage().rss / 1e6),
      rows,
    }),
  );
  if (rows !== receipts * FIELDS) throw new Error(`${name}: ${receipts * FIELDS} rows acknowledged, ${rows} found`);
}
