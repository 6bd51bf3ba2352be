import type { ReadingRange, ReadingRow, Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

const READINGS_A_PAGE = 2_000;

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
