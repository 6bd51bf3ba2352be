import type { LatestWanted, MeasuredValue } from '../../domain/history/history.ts';

/** Weight of a text of the maximum length, in numbers: the real length is not known before. */
const TEXT = 10;
/** Bytes of a number, its time, and its place. */
const VALUE_BYTES = 40;

/** Maximum values per device, a text counted as several. */
export function latestSizes(wanted: readonly LatestWanted[]): number[] {
  // Devices of one product are asked for the same list, which may be long.
  const known = new Map<object, number>();
  return wanted.map(({ device: { product }, fields }) => {
    const list = fields ?? product;
    let size = known.get(list);
    if (size === undefined) {
      size = 0;
      for (const name of fields ?? product.fields.keys())
        size += product.fields.get(name)?.type === 'STRING' ? TEXT : 1;
      known.set(list, size);
    }
    return size;
  });
}

/** Estimates the bytes that were found. */
export function latestBytes(found: readonly (readonly MeasuredValue[] | Error)[]): number {
  let bytes = 0;
  for (const values of found) {
    if (values instanceof Error) continue;
    bytes += values.length * VALUE_BYTES;
    for (const { value } of values) if (typeof value === 'string') bytes += value.length;
  }
  return bytes;
}
