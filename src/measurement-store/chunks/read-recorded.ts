import type { RecordedPage, RecordedQuery, RecordedReading, StoredValue } from '../../domain/ports/store.ts';
import type { RecordedRow, Snapshot } from './snapshot.ts';
import { eachValue } from '../readings/reading-values.ts';

/** Readings recorded between two positions, decoded; `expired` when some of them may be in chunks by now. */
export async function readRecorded(snapshot: Snapshot, query: RecordedQuery): Promise<RecordedPage> {
  const { upTo, isKept, rows, isLast } = await snapshot.recorded({ ...query, limit: query.limit + 1 });
  if (!isKept) return { expired: true, upTo, readings: [], complete: false };
  const complete = isLast && rows.length <= query.limit;
  return { expired: false, upTo, readings: rows.slice(0, query.limit).map(toReading), complete };
}

function toReading({ seq, deviceKey, timestamp, storedAt, values: bytes }: RecordedRow): RecordedReading {
  const values = new Map<number, StoredValue>();
  // Written again within its moment: the last one counts.
  eachValue(bytes, (fieldKey, value) => values.set(fieldKey, value));
  return { seq, deviceKey, timestamp, storedAt, fieldKeys: [...values.keys()], values: [...values.values()] };
}
