import Sqlite from 'better-sqlite3';
import Koa from 'koa';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/**
 * A year of ten fields in one plain table (a row for each minute) behind a bare Koa app: `GET` streams it as CSV, `POST`
 * inserts the lines of a CSV, each 500 durable together. Prints its port.
 */
const FIELDS = 10;
const YEAR_MINUTES = 525_600;
const START = Date.UTC(2025, 0, 1);
const LINES_A_COMMIT = 500;
const PIECE = 65_536;

const db = new Sqlite(join(mkdtempSync(join(tmpdir(), 'inlet-bare-')), 'bare.db'));
const columns = Array.from({ length: FIELDS }, (_, field) => `f${field}`);
db.exec(`PRAGMA journal_mode = wal; PRAGMA synchronous = full;
  CREATE TABLE plain (ts integer primary key, ${columns.join(' real, ')} real);
  CREATE TABLE arrived (ts integer primary key, ${columns.join(' real, ')} real);
  WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${YEAR_MINUTES - 1})
  INSERT INTO plain SELECT ${START} + i * 60000, ${columns.map((_, field) => `20 + ((i + ${field}) * 7919 % 1000) / 100.0`).join(', ')} FROM n`);
const insert = db.prepare(`INSERT OR REPLACE INTO arrived VALUES (${'?, '.repeat(FIELDS)}?)`);
const insertAll = db.transaction((rows: number[][]) => {
  for (const row of rows) insert.run(...row);
});

async function* file(): AsyncGenerator<string> {
  let piece = `device,timestamp,${columns.join(',')}\n`;
  for (const row of db.prepare<[], number[]>('SELECT * FROM plain ORDER BY ts').raw().iterate()) {
    piece += `device-1,${new Date(row[0]!).toISOString()}`;
    for (let field = 1; field <= FIELDS; field += 1) piece += `,${row[field]}`;
    piece += '\n';
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

const app = new Koa();
app.use(async (context) => {
  if (context.method === 'GET') {
    const { Readable } = await import('node:stream');
    context.type = 'text/csv';
    context.body = Readable.from(file());
    return;
  }
  let rows: number[][] = [];
  let isHeader = true;
  for await (const line of createInterface({ input: context.req })) {
    const [, time, ...values] = line.split(',');
    if (!isHeader) rows.push([Date.parse(time!), ...values.map(Number)]);
    isHeader = false;
    if (rows.length < LINES_A_COMMIT) continue;
    insertAll(rows);
    rows = [];
  }
  insertAll(rows);
  context.body = {};
});
const server = app.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(JSON.stringify({ port: address.port }));
});
// The bench that started us is gone: so are we.
process.stdin.resume().on('end', () => process.exit(0));
