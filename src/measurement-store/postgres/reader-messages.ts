import type { Rewrite } from '../../domain/ports/store.ts';
import type { Caller } from '../../scheduling/caller.ts';
import type { Edit } from '../chunks/edit.ts';
import type { ReaderJob } from '../chunks/reader-job.ts';
import type { SliceResult } from '../run-edit.ts';
import type { ReplicaNeed } from './replica-guard.ts';

/** Jobs of a reader thread, asked by the main thread. */
export type PostgresReaderJob =
  | ReaderJob
  /** Does the next slice of an edit; answered with a PostgresSliceResult, or null (see `EditSlice`). */
  | { kind: 'edit'; deviceKey: number; edit: Edit }
  /** Answered with a RewriteResult; null: readings were written again meanwhile, and nothing of it is written. */
  | { kind: 'rewrite'; rewrite: Rewrite };

/** The job, and its caller: of the jobs that wait for a connection the next is chosen by that. */
export interface PostgresReaderQuestion {
  job: PostgresReaderJob;
  party: Caller;
  /** Left out: the primary is asked. Of a replica only what reads. */
  replica?: ReplicaNeed;
}

/** The rest of a slice, and the rows that it left behind. */
export interface PostgresSliceResult extends SliceResult {
  /** Rows of `reading` that it removed or replaced. */
  rowsGone: number;
}

/** Values that a rewrite could not remove, and the rows that it left behind. */
export interface RewriteResult {
  /** Values that were not what they had been. */
  left: number;
  rowsGone: number;
}
