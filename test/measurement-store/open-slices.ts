import type { LatestQuery } from '../../src/domain/ports/store.ts';
import { LatestMemory } from '../../src/measurement-store/chunks/latest-memory.ts';
import { type LatestAnswer, latestOfMany } from '../../src/measurement-store/chunks/reader-job.ts';
import type { SearchProgress } from '../../src/measurement-store/chunks/search-memory.ts';
import { SearchSlice } from '../../src/measurement-store/chunks/search-slice.ts';
import type { Snapshot } from '../../src/measurement-store/chunks/snapshot.ts';
import { openPool } from '../../src/measurement-store/postgres/postgres-connection.ts';
import { PostgresSnapshot } from '../../src/measurement-store/postgres/postgres-snapshot.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import { SqliteSnapshot } from '../../src/measurement-store/sqlite/reader/sqlite-snapshot.ts';
import type { OpenDatabase } from './open-store.ts';

/** What a reader thread does for newest values, in this process. */
export interface Slices {
  memory: LatestMemory;
  /** Slices asked for so far. */
  count: number;
  /** A slice that is over as soon as it has come further, in a snapshot of its own. */
  ask(queries: LatestQuery[], progress?: SearchProgress): Promise<LatestAnswer>;
  inSnapshot: InSnapshot;
  close(): Promise<void>;
}

type InSnapshot = <T>(work: (snapshot: Snapshot) => Promise<T>) => Promise<T>;

export function openSlices({ place }: OpenDatabase): Slices {
  const { inSnapshot, close } = openSnapshots({ place });
  const slices: Slices = {
    memory: new LatestMemory(),
    count: 0,
    ask: async (queries, progress) => {
      slices.count += 1;
      const slice = new SearchSlice(slices.memory, 0, progress);
      return slices.inSnapshot((snapshot) => latestOfMany(snapshot, queries, slice));
    },
    inSnapshot,
    close,
  };
  return slices;
}

/** What reader threads read with. */
export function openSnapshots({ place }: Pick<OpenDatabase, 'place'>): {
  inSnapshot: InSnapshot;
  close: () => Promise<void>;
} {
  return place.startsWith('postgres') ? onPostgres(place) : onSqlite(place);
}

function onSqlite(path: string): { inSnapshot: InSnapshot; close: () => Promise<void> } {
  const db = openForReading(path);
  const intake = new IntakeView(db);
  const snapshot = new SqliteSnapshot(db, intake);
  return {
    inSnapshot: async (work) => {
      db.exec('BEGIN');
      intake.refresh();
      return work(snapshot).finally(() => db.exec('COMMIT'));
    },
    close: () => Promise.resolve(void db.close()),
  };
}

function onPostgres(url: string): { inSnapshot: InSnapshot; close: () => Promise<void> } {
  const pool = openPool(url, 1, undefined, true);
  return {
    inSnapshot: async (work) => {
      const client = await pool.connect();
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      const answer = await work(new PostgresSnapshot(client));
      await client.query('COMMIT');
      client.release();
      return answer;
    },
    close: () => pool.end(),
  };
}
