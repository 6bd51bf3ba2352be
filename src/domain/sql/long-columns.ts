import type { Dialect } from '../ports/database.ts';
import { must } from '../../must.ts';

/** SQL for the stored bytes of a text or JSON value, found without reading it; null: unknown. */
export function bytesSql(dialect: Dialect, column: string): string {
  if (dialect === 'sqlite') return `octet_length(${column})`;
  // Compressed values may be a hundred times as long as their size: report them as unknown.
  return `case when pg_column_compression(${column}) is null then pg_column_size(${column}) end`;
}

/** Splits rows, in their order, into pieces of at most `most` bytes; a larger row is a piece of its own. */
export function inPieces<Row extends { bytes: number | null }>(rows: readonly Row[], most: number): Row[][] {
  const pieces: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    const bytes = row.bytes ?? most;
    if (pieces.length === 0 || bytes > room) {
      pieces.push([]);
      room = most;
    }
    must(pieces.at(-1)).push(row);
    room -= bytes;
  }
  return pieces;
}

/** One `?` per value. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** JSON of a column as text: SQLite takes a JSON column for a numeric one, and returns a bare number as a number. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
