import type { CallQuery, DeviceKeys, DeviceRemoval } from '../../../domain/ports/store.ts';
import type { DueQuery } from '../../compactor.ts';
import type { Edit } from '../../chunks/edit.ts';
import type { ReaderJob } from '../../chunks/reader-job.ts';

/** What the main thread asks of a reader thread. */
export type SqliteReaderJob =
  | ReaderJob
  /** Answered with a Plan: the next slice of an edit. */
  | { kind: 'plan'; deviceKey: number; edit: Edit }
  /** Answered with a Withdrawal for each device. */
  | { kind: 'withdraw'; removals: readonly DeviceRemoval[] }
  /** Answered with the `others` of each device. */
  | { kind: 'others'; keys: readonly DeviceKeys[] }
  /** Answered with device keys. */
  | { kind: 'due'; query: DueQuery }
  | { kind: 'purges'; handsOver: boolean; after: number; limit: number }
  | { kind: 'lastPurge' }
  | { kind: 'lastHeard'; deviceKeys: number[] }
  | { kind: 'calls'; query: CallQuery }
  | { kind: 'countCalls'; query: CallQuery }
  | { kind: 'call'; productKey: number; id: string }
  /** Copies most of the log into the file, beside those who write. */
  | { kind: 'copyLog' }
  | { kind: 'ping' };
