import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { openPostgresOrm, openSqliteOrm } from '../../src/database/open-orm.ts';
import type { WriteTurns } from '../../src/domain/ports/database.ts';
import type { MeasurementStore, Receipt, StoredValue } from '../../src/domain/ports/store.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import { SqliteMeasurementStore } from '../../src/measurement-store/sqlite/sqlite-measurement-store.ts';
import type { StoreOptions } from '../../src/measurement-store/store-options.ts';
import { createPostgresDatabase } from '../support/postgres.ts';

export const DIALECTS = ['sqlite', 'postgres'] as const;
export type Dialect = (typeof DIALECTS)[number];
export type Store = MeasurementStore &
  WriteTurns & {
    /** Moves readings committed before that time (ms; Infinity: all) into chunks now. */
    compact(deviceKeys: number[], storedBefore: number): Promise<void>;
  };

export interface OpenDatabase {
  /** The file, or the URL. */
  place: string;
  /** Of a migrated, at first empty database; may be called again after `stop`. */
  openStore(options?: StoreOptions): Promise<Store>;
  /** Bound values are written `?`. */
  sql<Row>(text: string, values?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
}

export async function openDatabase(dialect: Dialect): Promise<OpenDatabase> {
  if (dialect === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'inlet-store-'));
    const path = join(folder, 'inlet.db');
    const orm = await openSqliteOrm(path);
    return {
      place: path,
      openStore: (options) => SqliteMeasurementStore.open({ path, ...options }),
      sql: (text, values) => orm.em.fork().getConnection().execute(text, values),
      close: async () => {
        await orm.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  }
  const { url, drop } = await createPostgresDatabase(inject('postgresUrl'), inject('migratedTemplate'));
  const orm = await openPostgresOrm(url);
  return {
    place: url,
    openStore: (options) => PostgresMeasurementStore.open({ url, ...options }),
    sql: (text, values) => orm.em.fork().getConnection().execute(text, values),
    close: async () => {
      await orm.close();
      await drop();
    },
  };
}

/** Ends the store's connections to PostgreSQL from outside. */
export function cutConnections(database: OpenDatabase): Promise<unknown> {
  return database.sql(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name SIMILAR TO 'inlet( writer %)?' AND datname = current_database()",
  );
}

/** [field key, timestamp, value] for each row. */
export type Row = [number, number, StoredValue];

export function receipt(deviceKey: number, rows: Row[], receivedAt = 1_700_000_000_000): Receipt {
  return {
    batches: [
      {
        deviceKey,
        receivedAt,
        fieldKeys: rows.map((row) => row[0]),
        timestamps: rows.map((row) => row[1]),
        values: rows.map((row) => row[2]),
      },
    ],
  };
}

/** All of a field, oldest first, as [timestamp, value]. */
export async function everything(
  store: MeasurementStore,
  deviceKey: number,
  fieldKey: number,
): Promise<[number, StoredValue][]> {
  const { timestamps, values } = await store.range({ deviceKey, fieldKey, newestFirst: false, limit: 1_000_000 });
  return timestamps.map((timestamp, i) => [timestamp, values[i]!]);
}
