import type { CallOutcome, SharedValue } from '../../../domain/ports/store.ts';
import type { Change } from '../../chunks/edit.ts';
import type { CallValues } from './sqlite-call-log.ts';

/** What the main thread asks of the writer thread, and what each is answered with. */
export type WriterJob =
  /** One commit of readings (`reading-frames.ts`) and calls; answered with `Flushed`. */
  | { kind: 'flush'; buffer: ArrayBuffer; length: number; calls: CallValues[] }
  /** Answered when the writer pauses; `release` (no answer) lets it go on. */
  | { kind: 'hold' }
  | { kind: 'release' }
  /** Answered with how many of its readings had been written again in the meantime. */
  | { kind: 'change'; change: Change; durable: boolean }
  /** Batches (`reading-frames.ts`), changes and calls in one commit; answered with false if a reading had been written again. */
  | { kind: 'rewrite'; frames: Uint8Array; changes: Change[]; shared: SharedValue[]; calls: CallOutcome[] }
  | { kind: 'forgetHeard'; deviceKey: number }
  | { kind: 'endPurge'; id: number }
  | { kind: 'updateCalls'; calls: CallOutcome[] }
  /** Answered with how many went: at most `limit`. */
  | { kind: 'removeCalls'; receivedBefore: number; productKey: number | undefined; limit: number }
  /** Some of what was committed before goes to its place among the readings; answered with whether there is more. */
  | { kind: 'sortIn' }
  /** Answered when all that was asked before is done. */
  | { kind: 'settle' }
  /** Receipt times of everything committed before go to `device_state`. */
  | { kind: 'showHeard' }
  /** What is left of the log goes into the file. */
  | { kind: 'copyLog' }
  | { kind: 'stop' };

/** Answer to a flush: the buffer to use again, the number of the commit, and its time in ms UTC. */
export interface Flushed {
  buffer: ArrayBuffer;
  seq: number;
  storedAt: number;
}
