import type { Rewrite } from '../../domain/ports/store.ts';
import type { Caller } from '../../scheduling/caller.ts';
import type { Edit } from '../chunks/edit.ts';
import type { ReaderJob } from '../chunks/reader-job.ts';
import type { SliceResult } from '../run-edit.ts';

/** What the main thread asks of a reader thread. */
export type PostgresReaderJob =
  | ReaderJob
  /** Does the next slice of an edit; answered with a PostgresSliceResult, or null (see `EditSlice`). */
  | { kind: 'edit'; deviceKey: number; edit: Edit }
  /** Answered with a RewriteResult; null: readings were written again meanwhile, and nothing of it is written. */
  | { kind: 'rewrite'; rewrite: Rewrite };

/** The job, and who pays for it: of those that wait for a connection the next is chosen by that. */
export interface PostgresReaderQuestion {
  job: PostgresReaderJob;
  party: Caller;
}

/** What a slice has left to do, and has left behind. */
export interface PostgresSliceResult extends SliceResult {
  /** Rows of `reading` that it removed or replaced. */
  rowsGone: number;
}

/** What a rewrite could not remove, and has left behind. */
export interface RewriteResult {
  /** Values that were not what they had been. */
  left: number;
  rowsGone: number;
}
