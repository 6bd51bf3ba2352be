import type { Series } from '../history/history.ts';
import { type Cell, type ExportFormat, PIECE } from './export-format.ts';
import { must } from '../../must.ts';

/** The charts of a device as rows, in pieces; `wide`: the columns of the fields, for one row per time. */
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

/**
 * Writes rows one by one, with present values only: there may be 200,000 of them, and thousands of columns, nearly all
 * empty.
 */
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

/** A series with the position of its next value. */
interface Run extends Series {
  column: number;
  at: number;
}

/**
 * The series of a device in a heap by the time of their next values: each row of 500 fields mostly has one value, and
 * scanning all of them for it would be slow.
 */
class Runs {
  readonly #runs: Run[];

  /** Leaves out fields without a column, which are newer than the file. */
  constructor(series: readonly Series[], columns: ReadonlyMap<string, number>) {
    const runs = series.flatMap((one) => {
      const column = columns.get(one.field.identifier);
      return column === undefined ? [] : [{ ...one, column, at: -1 }];
    });
    this.#runs = runs.filter(goOn).sort((left, right) => timeOf(left) - timeOf(right));
  }

  /** The series with the earliest next value; undefined: none is left. */
  get first(): Run | undefined {
    return this.#runs[0];
  }

  /** Moves the first series to its next value; returns the new first. */
  advance(): Run | undefined {
    const runs = this.#runs;
    const moved = goOn(must(runs[0])) ? must(runs[0]) : must(runs.pop());
    if (runs.length === 0) return undefined;
    let at = 0;
    for (let child = 1; child < runs.length; child = at * 2 + 1) {
      if (child + 1 < runs.length && timeOf(must(runs[child + 1])) < timeOf(must(runs[child]))) child += 1;
      if (timeOf(must(runs[child])) >= timeOf(moved)) break;
      runs[at] = must(runs[child]);
      at = child;
    }
    runs[at] = moved;
    return runs[0];
  }
}

/** Moves to the next present value; false: none is left. */
function goOn(run: Run): boolean {
  do run.at += 1;
  while (run.at < run.values.length && run.values[run.at] === null);
  return run.at < run.values.length;
}

const timeOf = ({ timestamps, at }: Run): number => must(timestamps[at]);

function toMs(seconds: number): number {
  return Math.round(seconds * 1000);
}
