import type { Series } from '../history/history.ts';
import { type Cell, type ExportFormat, PIECE } from './export-format.ts';

/** The charts of a device as rows, piece by piece; `wide`: a row for each time, and which column is which field's. */
export function* chartedRows(
  format: ExportFormat,
  serialNumber: string,
  series: readonly Series[],
  wide: ReadonlyMap<string, number> | null,
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

/** One row at a time, of what it has: there may be 200,000 of them, and thousands of columns, nearly all empty. */
function* wideRows(
  format: ExportFormat,
  serialNumber: string,
  series: readonly Series[],
  columns: ReadonlyMap<string, number>,
): Generator<Uint8Array> {
  format.begin(serialNumber, null);
  const runs = new Runs(series, columns);
  for (let next = runs.first; next !== undefined;) {
    const time = timeOf(next);
    const here: Cell[] = [];
    for (; next !== undefined && timeOf(next) === time; next = runs.advance())
      here.push({ column: next.column, value: next.values[next.at]! });
    format.wideRow(
      toMs(time),
      here.sort((left, right) => left.column - right.column),
    );
    if (format.out.length >= PIECE) yield format.out.take();
  }
}

/** A series, and where in it the next value is. */
interface Run extends Series {
  column: number;
  at: number;
}

/**
 * The series of a device by the time of what is next in them: a heap, since for each row of 500 fields, of which mostly
 * one has a value, all of them would be looked through.
 */
class Runs {
  readonly #runs: Run[];

  /** Of fields that have come since the file began there is no column. */
  constructor(series: readonly Series[], columns: ReadonlyMap<string, number>) {
    const runs = series.flatMap((one) => {
      const column = columns.get(one.field.identifier);
      return column === undefined ? [] : [{ ...one, column, at: -1 }];
    });
    this.#runs = runs.filter(goOn).sort((left, right) => timeOf(left) - timeOf(right));
  }

  /** The one with the earliest value; undefined: there is none any more. */
  get first(): Run | undefined {
    return this.#runs[0];
  }

  /** The first one goes on to its next value: the one that is first then. */
  advance(): Run | undefined {
    const runs = this.#runs;
    const moved = goOn(runs[0]!) ? runs[0]! : runs.pop()!;
    if (runs.length === 0) return undefined;
    let at = 0;
    for (let child = 1; child < runs.length; child = at * 2 + 1) {
      if (child + 1 < runs.length && timeOf(runs[child + 1]!) < timeOf(runs[child]!)) child += 1;
      if (timeOf(runs[child]!) >= timeOf(moved)) break;
      runs[at] = runs[child]!;
      at = child;
    }
    runs[at] = moved;
    return runs[0];
  }
}

/** To the next value that is there; false: there is none. */
function goOn(run: Run): boolean {
  do run.at += 1;
  while (run.at < run.values.length && run.values[run.at] === null);
  return run.at < run.values.length;
}

const timeOf = ({ timestamps, at }: Run): number => timestamps[at]!;

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
