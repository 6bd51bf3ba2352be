import type { Piece } from '../domain/ports/store.ts';
import { type AppError, conflict } from '../errors.ts';
import type { Edit } from './chunks/edit.ts';

/** What one slice of an edit has left to do. */
export interface SliceResult {
  next: Edit | null;
  /** Readings that were written again while the slice was planned, and so are as they were. */
  missed: number;
}

/** Does one slice of an edit; null: somebody else is at the device, and a compaction does not wait. */
type EditSlice = (deviceKey: number, edit: Edit) => Promise<SliceResult | null>;

/** How many slices are done at most, each of them as a piece of its own. */
export interface EditManner {
  slices?: number;
  piece?: Piece;
}

/** Whenever it is asked for. */
export const atOnce: Piece = (work) => work();

/** Readings of one device that are written again and again, faster than they can be removed. */
const MAX_TRIES = 100;

/**
 * Does an edit slice by slice. Returns what is left of it: if it was stopped, or has had its
 * slices; null: nothing, or somebody else is at the device.
 */
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
    // What a compaction missed stays a reading; of what is to go nothing may stay.
    if (result.missed === 0 || current.kind === 'compact') {
      current = result.next;
      tries = 0;
    } else if (++tries > MAX_TRIES) throw writtenTooFast();
  }
  return current;
}

/** Does what is to be written as a whole; null: something had been written again since it was planned. */
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
