import { statSync } from 'node:fs';
import pg from 'pg';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import { DeviceSchema } from '../../src/domain/entities/device.ts';
import { FieldSchema } from '../../src/domain/entities/field.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import { ServerProcess } from '../support/server-process.ts';

export const FIELDS = 10;
export const LATEST_DEVICES = 1_000;
export const MINUTE = 60_000;
/** What is measured is a year, and ten of them, up to here. */
export const END = Date.UTC(2026, 0, 1);
export const YEAR_MINUTES = 525_600;

/** Values in one receipt. */
const RECEIPT = 10_000;
const AT_ONCE = 4;

/** The devices of the bench, by id. */
export interface HistoryData {
  /** A year of minutes of ten fields. */
  year: string;
  /** Ten years of minutes of one field. */
  decade: string;
  /** 1,000 with a value of each field. */
  others: string[];
  bytesPerValue: number;
}

/** Minute data with two decimals: a daily wave, and noise. */
export function valueAt(minute: number, field: number): number {
  const wave = 20 + field + 5 * Math.sin((minute / 1_440) * 2 * Math.PI);
  return Math.round((wave + ((minute * 7_919 + field * 104_729) % 97) / 100) * 100) / 100;
}

/** Fills an empty database through the store and moves all of it into chunks. `onlyYear`: of the first device alone. */
export async function loadHistory(url: string, onlyYear = false): Promise<HistoryData> {
  const server = await ServerProcess.start({ DATABASE_URL: url, LOG_LEVEL: 'info' });
  const fields = Array.from({ length: FIELDS }, (_, at) => ({ identifier: `field_${at}`, type: 'FLOAT' }));
  const { createProduct: product } = await server.gql<{ createProduct: { id: string } }>(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }',
    { input: { name: 'bench', fields } },
  );
  const devices = Array.from({ length: LATEST_DEVICES + 2 }, (_, at) => ({ name: `device ${at}` }));
  const { createDevices: created } = await server.gql<{ createDevices: { id: string }[] }>(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
    { id: product.id, devices },
  );
  await server.stop();
  const [year, decade, ...others] = created.map(({ id }) => id) as [string, string, ...string[]];
  const bytesPerValue = await fill(url, [year, decade, ...others], onlyYear);
  return { year, decade, others, bytesPerValue };
}

async function fill(url: string, ids: string[], onlyYear: boolean): Promise<number> {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : null;
  const orm = path === null ? await openPostgresOrm(url) : await openSqliteOrm(path);
  const em = orm.em.fork();
  const keys = new Map((await em.find(DeviceSchema, {})).map(({ id, key }) => [id, key]));
  const fieldKeys = (await em.find(FieldSchema, {}, { orderBy: { key: 'asc' } })).map(({ key }) => key);
  await orm.close();
  const [year, decade, ...others] = ids.map((id) => keys.get(id)!) as [number, number, ...number[]];
  const before = path === null ? 0 : statSync(path).size;
  const store =
    path === null ? await PostgresMeasurementStore.open({ url }) : await SqliteMeasurementStore.open({ path });
  const send = async (deviceKey: number, fields: number[], minutes: number): Promise<void> => {
    const moments = RECEIPT / fields.length;
    const starts = Array.from({ length: Math.ceil(minutes / moments) }, (_, i) => i * moments);
    const next = async (): Promise<void> => {
      for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
        const batch = { deviceKey, receivedAt: Date.now(), fieldKeys: [] as number[], timestamps: [] as number[], values: [] as number[] }; // oxfmt-ignore
        for (let minute = start; minute < Math.min(start + moments, minutes); minute++)
          fields.forEach((key, field) => {
            batch.fieldKeys.push(key);
            batch.timestamps.push(END - (minutes - minute) * MINUTE);
            batch.values.push(valueAt(minute, field));
          });
        await store.append({ batches: [batch] });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, next));
    await store.compact([deviceKey], Date.now() + 3_600_000);
  };
  await send(year, fieldKeys, YEAR_MINUTES);
  if (!onlyYear) await send(decade, fieldKeys.slice(0, 1), 10 * YEAR_MINUTES);
  await store.stop();
  if (onlyYear) return 0;
  const values = YEAR_MINUTES * (FIELDS + 10);
  const size = path === null ? await chunkBytes(url) : await packedSize(path, before);
  const after =
    path === null ? await PostgresMeasurementStore.open({ url }) : await SqliteMeasurementStore.open({ path });
  for (const deviceKey of others) {
    const timestamps = fieldKeys.map(() => END - MINUTE);
    await after.append({ batches: [{ deviceKey, receivedAt: Date.now(), fieldKeys, timestamps, values: fieldKeys.map((_, i) => i) }] }); // oxfmt-ignore
  }
  await after.stop();
  return Math.round((size / values) * 100) / 100;
}

/** The chunks and what finds them; the readings that were there before left room, which later ones use. */
async function chunkBytes(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ size: string }>("SELECT pg_total_relation_size('chunk') AS size");
  await client.end();
  return Number(rows[0]!.size);
}

async function packedSize(path: string, before: number): Promise<number> {
  const { default: Sqlite } = await import('better-sqlite3');
  const db = new Sqlite(path);
  db.exec('VACUUM');
  db.close();
  return statSync(path).size - before;
}
