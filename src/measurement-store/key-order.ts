/**
 * The indexes of a device's rows in order of (field, timestamp), each key once: where it was written more than once,
 * the last write is left. Sorting by key keeps neighbours in one page together and nodes from deadlocking.
 */
export function keyOrder(fieldKeys: ArrayLike<number>, timestamps: ArrayLike<number>, count: number): Uint32Array {
  const order = new Uint32Array(count);
  for (let i = 0; i < count; i++) order[i] = i;
  // Equal keys stay in order of writing: by index, as typed arrays sort without a promise of stability.
  const compare = (a: number, b: number): number =>
    fieldKeys[a]! - fieldKeys[b]! || timestamps[a]! - timestamps[b]! || a - b;
  if (count <= 24) insertionSort(order, compare);
  else order.sort(compare);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = order[i]!;
    const next = order[i + 1];
    const replaced = next !== undefined && fieldKeys[row] === fieldKeys[next] && timestamps[row] === timestamps[next];
    if (!replaced) order[kept++] = row;
  }
  return order.subarray(0, kept);
}

/** For the few rows of an ordinary request it beats the built-in sort by far. */
function insertionSort(order: Uint32Array, compare: (a: number, b: number) => number): void {
  for (let i = 1; i < order.length; i++) {
    const row = order[i]!;
    let j = i - 1;
    while (j >= 0 && compare(order[j]!, row) > 0) {
      order[j + 1] = order[j]!;
      j--;
    }
    order[j + 1] = row;
  }
}
