import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { END, MINUTE, YEAR_MINUTES } from './history-data.ts';

/** One row per value, and the plain SQL over it: what a history is measured beside. */
export interface PlainTable {
  /** Milliseconds of a query whose rows are made JSON text. */
  time(what: 'year' | 'months'): Promise<number>;
  close(): Promise<void>;
}

const BUCKET = 1_052 * MINUTE;
const FIRST = END - 10 * YEAR_MINUTES * MINUTE;
const FROM: Record<'year' | 'months', number> = { year: END - YEAR_MINUTES * MINUTE, months: FIRST };
/** Months by their average length: any calendar would cost more. */
const WIDTH: Record<'year' | 'months', number> = { year: BUCKET, months: 2_629_746_000 };

function select(ts: string, what: 'year' | 'months'): string {
  return `SELECT ${ts} / ${WIDTH[what]} AS bucket, min(value), max(value), avg(value) FROM plain
    WHERE device_key = 1 AND field_key = 1 AND ts >= ${FROM[what]} AND ts < ${END} GROUP BY 1 ORDER BY 1`;
}

/** Ten years of minutes in a database of their own. */
export async function plainTable(url: string): Promise<PlainTable> {
  if (url.startsWith('sqlite:')) return onSqlite(`${url.slice('sqlite:'.length)}.plain`);
  return onPostgres(url);
}

function onSqlite(path: string): PlainTable {
  const db = new Sqlite(path);
  db.exec(`PRAGMA journal_mode = off; PRAGMA synchronous = off;
    CREATE TABLE plain (device_key INT, field_key INT, ts INT, value, PRIMARY KEY (device_key, field_key, ts)) WITHOUT ROWID`);
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${10 * YEAR_MINUTES - 1})
    INSERT INTO plain SELECT 1, 1, ${FIRST} + i * ${MINUTE}, 20 + (i * 7919 % 1000) / 100.0 FROM n`);
  return {
    time: (what) => Promise.resolve(timed(() => db.prepare(select('ts', what)).raw().all())),
    close: async () => void db.close(),
  };
}

async function onPostgres(url: string): Promise<PlainTable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('CREATE UNLOGGED TABLE plain (device_key int, field_key int, ts bigint, value float8)');
  await client.query(`INSERT INTO plain SELECT 1, 1, ${FIRST} + i::bigint * ${MINUTE},
    20 + (i::bigint * 7919 % 1000) / 100.0 FROM generate_series(0, ${10 * YEAR_MINUTES - 1}) AS i`);
  await client.query('ALTER TABLE plain ADD PRIMARY KEY (device_key, field_key, ts)');
  await client.query('VACUUM ANALYZE plain');
  return {
    time: async (what) => {
      const begun = performance.now();
      JSON.stringify((await client.query({ text: select('ts', what), rowMode: 'array' })).rows);
      return performance.now() - begun;
    },
    close: async () => {
      await client.query('DROP TABLE plain');
      await client.end();
    },
  };
}

function timed(rows: () => unknown): number {
  const begun = performance.now();
  JSON.stringify(rows());
  return performance.now() - begun;
}
