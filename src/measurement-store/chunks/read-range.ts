import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import type { RangeQuery, StoredValue } from '../../domain/ports/store.ts';
import { valueOf } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import { indexAt } from '../../domain/history/index-at.ts';
import { joinColumns, mergeColumns, sliceColumns, toColumns } from './columns.ts';
import type { Snapshot, ReadingRange, ReadingRow } from './snapshot.ts';
import { must } from '../../must.ts';

const CHUNKS_A_PAGE = 100;

const READINGS_A_PAGE = 2_000;

/**
 * One field's values in time order, or newest first, readings over chunks. From each side no more is read than the
 * limit: the first values of both together are among the first of each.
 */
export async function readRange(snapshot: Snapshot, query: RangeQuery): Promise<SegmentColumns> {
  const merged = mergeColumns(await ofChunks(snapshot, query), await ofReadings(snapshot, query));
  const count = merged.timestamps.length;
  if (!query.newestFirst) return within(sliceColumns(merged, 0, Math.min(count, query.limit)), query);
  const { timestamps, values } = sliceColumns(merged, Math.max(0, count - query.limit), count);
  return within({ timestamps: timestamps.toReversed(), values: values.toReversed() }, query);
}

/** Cuts off what exceeds `maxCharacters`: the columns go to the event loop in one piece. */
function within(columns: SegmentColumns, { maxCharacters = Infinity }: RangeQuery): SegmentColumns {
  const { values } = columns;
  if (values instanceof Float64Array) return columns;
  let characters = 0;
  const last = values.findIndex((value) => typeof value === 'string' && (characters += value.length) >= maxCharacters);
  return last === -1 ? columns : sliceColumns(columns, 0, last + 1);
}

async function ofReadings(snapshot: Snapshot, query: RangeQuery): Promise<SegmentColumns> {
  const { deviceKey, fieldKey, newestFirst, limit, from = -Infinity, to = Infinity } = query;
  const timestamps: number[] = [];
  const values: StoredValue[] = [];
  for await (const page of readingPages(snapshot, { deviceKey, from, to, newestFirst })) {
    for (const row of page) {
      const value = valueOf(row.values, fieldKey);
      if (value === undefined) continue;
      timestamps.push(row.timestamp);
      values.push(value);
    }
    if (timestamps.length >= limit) break;
  }
  if (newestFirst) return toColumns(timestamps.toReversed(), values.toReversed());
  return toColumns(timestamps, values);
}

async function ofChunks(snapshot: Snapshot, query: RangeQuery): Promise<SegmentColumns> {
  const { deviceKey, fieldKey, newestFirst, limit } = query;
  let { from = -Infinity, to = Infinity } = query;
  const [first, end] = [from, to];
  const parts: SegmentColumns[] = [];
  let count = 0;
  for (;;) {
    const pageLimit = Math.min(CHUNKS_A_PAGE, Math.ceil(limit / 500) + 1);
    const heads = await snapshot.chunks({ deviceKey, fieldKey, from, to, newestFirst, limit: pageLimit });
    const bytes = await snapshot.chunkBytes(deviceKey, fieldKey, heads.map((head) => head.firstAt)); // oxfmt-ignore
    for (const chunk of bytes) {
      if (count >= limit) break;
      const columns = decode(chunk);
      const part = sliceColumns(columns, indexAt(columns.timestamps, first), indexAt(columns.timestamps, end));
      count += part.timestamps.length;
      parts.push(part);
    }
    if (heads.length < pageLimit || count >= limit) break;
    if (newestFirst) to = must(heads.at(-1)).firstAt;
    else from = must(heads.at(-1)).lastAt + 1;
  }
  if (newestFirst) parts.reverse();
  return joinColumns(parts);
}

/** A device's readings of a range, page by page; `firstPage`: readings of the first one, which may be enough. */
export async function* readingPages(
  snapshot: Snapshot,
  range: Omit<ReadingRange, 'limit'>,
  firstPage = READINGS_A_PAGE,
): AsyncGenerator<ReadingRow[]> {
  let { from, to } = range;
  for (let limit = firstPage; ; limit = READINGS_A_PAGE) {
    const { rows, isLast } = await snapshot.readings({ ...range, from, to, limit });
    yield rows;
    if (isLast) return;
    if (range.newestFirst) to = must(rows.at(-1)).timestamp;
    else from = must(rows.at(-1)).timestamp + 1;
  }
}
