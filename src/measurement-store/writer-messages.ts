import type { Purge, RemoveQuery } from '../domain/measurements/store.ts';
import type { CallOutcome } from './call-columns.ts';
import type { CallValues } from './sqlite-call-log.ts';

/** What the main thread asks of the writer thread, and what each is answered with. */
export type WriterJob =
  /** One commit; answered with its place in commit order, and the buffer to use again. */
  | { kind: 'flush'; buffer: ArrayBuffer; length: number; calls: CallValues[] }
  /** Answered when the writer pauses; `release` (no answer) lets it go on. */
  | { kind: 'hold' }
  | { kind: 'release' }
  /** Makes what these devices have waiting visible to SQL; without devices: everything. */
  | { kind: 'settle'; deviceKeys?: number[] }
  /** Answered with [device key, receipt time] of what is not settled yet. */
  | { kind: 'lastHeard'; deviceKeys: number[] }
  | { kind: 'remove'; query: RemoveQuery }
  | { kind: 'purge'; purges: Purge[] }
  | { kind: 'updateCall'; call: CallOutcome }
  /** Answered with how many went: at most `limit`. */
  | { kind: 'removeCalls'; receivedBefore: number; productKey: number | undefined; limit: number }
  | { kind: 'stop' };

export interface FlushAnswer {
  seq: number;
  buffer: ArrayBuffer;
}
