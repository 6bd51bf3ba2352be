import { giveWay } from '../give-way.ts';
import type { Series } from '../history/history.ts';
import { type ExportedValue, type ExportFormat, PIECE } from './export-format.ts';

/** Points put into rows at a time: 5 ms. */
const POINTS_A_TURN = 20_000;

/** The charts of a device as rows, piece by piece; `wide`: a row for each time, with these columns. */
export async function* chartedRows(
  format: ExportFormat,
  serialNumber: string,
  series: readonly Series[],
  wide: readonly string[] | null,
): AsyncGenerator<Uint8Array> {
  if (wide !== null) yield* wideRows(format, serialNumber, await rowsByTime(series, wide));
  else
    for (const { field, timestamps, values } of series) {
      format.begin(serialNumber, field.identifier);
      for (const [at, seconds] of timestamps.entries()) {
        const value = values[at] ?? undefined;
        if (value !== undefined) format.longRow(toMs(seconds), value);
        if (format.out.length >= PIECE) yield format.out.take();
      }
    }
}

type Rows = Map<number, (ExportedValue | undefined)[]>;

async function rowsByTime(series: readonly Series[], columns: readonly string[]): Promise<Rows> {
  const rows: Rows = new Map();
  let points = 0;
  for (const { field, timestamps, values } of series) {
    const column = columns.indexOf(field.identifier);
    for (const [at, seconds] of timestamps.entries()) {
      if ((points += 1) % POINTS_A_TURN === 0) await giveWay();
      const value = values[at] ?? undefined;
      if (value === undefined) continue;
      const row = rows.get(toMs(seconds)) ?? columns.map(() => undefined);
      row[column] = value;
      rows.set(toMs(seconds), row);
    }
  }
  return rows;
}

async function* wideRows(format: ExportFormat, serialNumber: string, rows: Rows): AsyncGenerator<Uint8Array> {
  format.begin(serialNumber, null);
  for (const time of Float64Array.from(rows.keys()).sort()) {
    format.wideRow(time, rows.get(time)!);
    if (format.out.length >= PIECE) yield format.out.take();
  }
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
