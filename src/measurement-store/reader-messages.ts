import type { CallFilter, CallQuery, RangeQuery, RemoveQuery } from '../domain/measurements/store.ts';

/** What the main thread asks of the reader thread. */
export type ReaderJob =
  | { kind: 'latest'; deviceKey: number; fieldKeys: number[] }
  | { kind: 'range'; query: RangeQuery }
  | { kind: 'lastHeard'; deviceKeys: number[] }
  | { kind: 'count'; query: RemoveQuery }
  | { kind: 'calls'; query: CallQuery }
  | { kind: 'countCalls'; filter: CallFilter }
  | { kind: 'call'; productKey: number; id: string }
  | { kind: 'ping' };

/** Columns between threads: numbers travel as memory that changes hands. */
export interface PackedColumns {
  timestamps: Float64Array<ArrayBuffer>;
  values: Float64Array<ArrayBuffer> | (number | string)[];
}
