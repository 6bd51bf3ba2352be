import type { Dialect } from '../ports/database.ts';

/** SQL for how many bytes a text or a JSON value takes, which is not read for that; null: nobody knows. */
export function bytesSql(dialect: Dialect, column: string): string {
  if (dialect === 'sqlite') return `octet_length(${column})`;
  // What is compressed may be a hundred times as long.
  return `case when pg_column_compression(${column}) is null then pg_column_size(${column}) end`;
}

/** Rows that follow each other, so that those of one piece have so many bytes together; who has more is alone. */
export function inPieces<Row extends { bytes: number | null }>(rows: readonly Row[], most: number): Row[][] {
  const pieces: Row[][] = [];
  let room = 0;
  for (const row of rows) {
    const bytes = row.bytes ?? most;
    if (pieces.length === 0 || bytes > room) {
      pieces.push([]);
      room = most;
    }
    pieces.at(-1)!.push(row);
    room -= bytes;
  }
  return pieces;
}

/** `?` for each of the values. */
export function placeholders(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ');
}

/** JSON as a column gave it, as text: SQLite takes a column of JSON for one of numbers, and gives a bare one as that. */
export function jsonText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
