import type { Piece } from '../domain/ports/store.ts';
import { type AppError, conflict } from '../errors.ts';
import type { Edit } from './chunks/edit.ts';

/** The rest of an edit after one slice. */
export interface SliceResult {
  next: Edit | null;
  /** Readings that were written again while the slice was planned, and so are as they were. */
  missed: number;
}

/** Does one slice of an edit; null: another is at the device, and a compaction does not wait. */
type EditSlice = (deviceKey: number, edit: Edit) => Promise<SliceResult | null>;

/** Maximum slices, each of them done as a piece of its own. */
export interface EditManner {
  slices?: number;
  piece?: Piece;
}

/** Runs the work at once. */
export const atOnce: Piece = (work) => work();

/** Maximum tries while readings are written again faster than they can be removed. */
const MAX_TRIES = 100;

/** Does an edit by slices. Returns its rest, if stopped or out of slices; null: none, or another is at the device. */
export async function runEdit(
  slice: EditSlice,
  deviceKey: number,
  edit: Edit,
  isStopped: () => boolean,
  { slices = Infinity, piece = atOnce }: EditManner = {},
): Promise<Edit | null> {
  let tries = 0;
  let current: Edit | null = edit;
  for (let done = 0; current !== null && done < slices; done++) {
    if (isStopped()) return current;
    const edited: Edit = current;
    const result: SliceResult | null = await piece(() => slice(deviceKey, edited));
    if (result === null) return null;
    // A reading that a compaction missed stays one; a removal must not miss any.
    if (result.missed === 0 || current.kind === 'compact') {
      current = result.next;
      tries = 0;
    } else if (++tries > MAX_TRIES) throw writtenTooFast();
  }
  return current;
}

/** Repeats `attempt` until all is written; it returns null when something was written again since it was planned. */
export async function untilWritten<T>(attempt: () => Promise<T | null>): Promise<T> {
  for (let tries = 0; tries <= MAX_TRIES; tries += 1) {
    const result = await attempt();
    if (result !== null) return result;
  }
  throw writtenTooFast();
}

function writtenTooFast(): AppError {
  return conflict('The device is written to faster than its values can be removed; try again when it sends less.');
}
