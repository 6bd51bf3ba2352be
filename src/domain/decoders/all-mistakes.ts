import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { checkEntry, isRejection, type Rejection } from '../measurements/entry.ts';
import { readTime, type TimeBounds } from '../times/entry-time.ts';

/** Rejections that say nothing about the rest of the entry. */
const OF_DEVICES = new Set<Rejection['code']>(['UNKNOWN_DEVICE', 'MISSING_DEVICE']);
const OF_TIMES = new Set<Rejection['code']>(['INVALID_TIMESTAMP', 'TIMESTAMP_IN_FUTURE']);

/** The rejection with all else that is wrong with the entry, so that one run of a decoder shows everything to mend. */
export function withOtherMistakes(
  first: Rejection,
  { product, entry, bounds }: { product: ProductInfo; entry: unknown; bounds: TimeBounds },
): Rejection {
  if (typeof entry !== 'object' || entry === null || !('field' in entry)) return first;
  const mistakes = [first];
  if (OF_DEVICES.has(first.code)) {
    const own = checkEntry(product, entry, first.index, 0, bounds);
    if (isRejection(own)) mistakes.push(own);
  }
  const { timestamp } = entry as { timestamp?: unknown };
  if (timestamp != null && !mistakes.some(({ code }) => OF_TIMES.has(code))) {
    const time = readTime(timestamp, product.timeZone, bounds);
    if (typeof time !== 'number') mistakes.push({ ...first, code: time.code, message: time.message });
  }
  return { ...first, message: mistakes.map(({ message }) => message).join(' Also: ') };
}
