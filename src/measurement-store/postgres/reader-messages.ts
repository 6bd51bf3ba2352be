import type { Edit } from '../chunks/edit.ts';
import type { ReaderJob } from '../chunks/reader-job.ts';

/** What the main thread asks of a reader thread. */
export type PostgresReaderJob =
  | ReaderJob
  /** Does the next slice of an edit; answered with a SliceResult, or null (see `EditSlice`). */
  | { kind: 'edit'; deviceKey: number; edit: Edit };
