import type { Batch } from '../../domain/ports/store.ts';
import { must } from '../../must.ts';

/** A batch, or several of one device put one behind the other. */
export type BatchColumns = Pick<Batch, 'fieldKeys' | 'timestamps' | 'values'>;

/**
 * Calls back once for each moment of the batch, in order of time, with its rows: `order[from]` to `order[to - 1]`, in
 * the order in which they were handed in.
 */
export function eachMoment(
  columns: BatchColumns,
  visit: (timestamp: number, order: ArrayLike<number>, from: number, to: number) => void,
): void {
  const { timestamps } = columns;
  const order = timeOrder(timestamps);
  for (let from = 0; from < timestamps.length;) {
    const timestamp = must(timestamps[must(order[from])]);
    let to = from + 1;
    while (to < timestamps.length && timestamps[must(order[to])] === timestamp) to++;
    visit(timestamp, order, from, to);
    from = to;
  }
}

let identity = Uint32Array.from({ length: 16_384 }, (_, i) => i);

/** Most batches are in order as they come: for them nothing is made. */
function timeOrder(timestamps: number[]): Uint32Array {
  let sorted = true;
  for (let i = 1; sorted && i < timestamps.length; i++) sorted = must(timestamps[i - 1]) <= must(timestamps[i]);
  if (!sorted)
    return Uint32Array.from(timestamps.keys()).sort((a, b) => must(timestamps[a]) - must(timestamps[b]) || a - b);
  if (timestamps.length > identity.length) identity = Uint32Array.from(timestamps.keys());
  return identity;
}
