import type { Series } from '../history/history.ts';
import { type ExportedValue, type ExportFormat, PIECE } from './export-format.ts';

/** The charts of a device as rows, piece by piece; `wide`: a row for each time, with these columns. */
export function* chartedRows(
  format: ExportFormat,
  serialNumber: string,
  series: readonly Series[],
  wide: readonly string[] | null,
): Generator<Uint8Array> {
  if (wide !== null) yield* wideRows(format, serialNumber, series, wide);
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

/** One row at a time: there may be 200,000 of them, each with thousands of columns, nearly all of which are empty. */
function* wideRows(
  format: ExportFormat,
  serialNumber: string,
  series: readonly Series[],
  columns: readonly string[],
): Generator<Uint8Array> {
  format.begin(serialNumber, null);
  const places = new Map(columns.map((name, at) => [name, at]));
  const runs = series.map(({ field, ...points }) => ({ ...points, at: 0, column: places.get(field.identifier)! }));
  const row: (ExportedValue | undefined)[] = columns.map(() => undefined);
  for (;;) {
    let time = Infinity;
    for (const { timestamps, at } of runs) if (timestamps[at]! < time) time = timestamps[at]!;
    if (time === Infinity) return;
    const here = runs.filter(({ timestamps, at }) => timestamps[at] === time);
    for (const { values, at, column } of here) row[column] = values[at] ?? undefined;
    if (here.some(({ column }) => row[column] !== undefined)) format.wideRow(toMs(time), row);
    for (const run of here) {
      row[run.column] = undefined;
      run.at += 1;
    }
    if (format.out.length >= PIECE) yield format.out.take();
  }
}

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
