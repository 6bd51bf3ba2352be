import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import { type Rejection, reject } from './entry.ts';
import { duplicate, onlyPlaces } from './replaced-entries.ts';
import type { Batch } from '../ports/store.ts';
import { must } from '../../must.ts';

/** The accepted entries of a request, before it is known which of them are stored. */
export interface JudgedEntries {
  device: DeviceInfo;
  batch: Batch;
  /** Of each place in the batch: the index of its entry in the request. */
  indexes: readonly number[];
  /** See `lastOfEachKey`. */
  lastOf: readonly number[] | null;
  /** Gets what is not stored, and is in the order of the entries again then. */
  rejected: Rejection[];
}

/** What the write limit says: which entries count for nothing (null: none), and of which fields the others may be stored (null: of all). */
interface Limit {
  already: readonly boolean[] | null;
  taken: ReadonlySet<number> | null;
}

/** The fields that want to write something that is not stored already, each once. */
export function fieldsToWrite({ batch, lastOf }: JudgedEntries, already: readonly boolean[] | null): number[] {
  const fields = new Set<number>();
  for (const [at, fieldKey] of batch.fieldKeys.entries())
    if (already?.[lastOf?.[at] ?? at] !== true) fields.add(fieldKey);
  return [...fields];
}

/** What is stored of a batch: the last entry of each key, where the limit (null: there is none) allows it. */
export function whatIsKept({ device, batch, indexes, lastOf, rejected }: JudgedEntries, limit: Limit | null): Batch {
  const taken = limit?.taken ?? null;
  if (lastOf === null && taken === null) return batch;
  const places: number[] = [];
  for (const [at, fieldKey] of batch.fieldKeys.entries()) {
    const last = lastOf?.[at] ?? at;
    const identifier = device.product.fieldsByKey.get(fieldKey)?.identifier ?? null;
    if (taken !== null && !taken.has(fieldKey) && limit?.already?.[last] !== true) {
      const message = `Over the write limit of one write each ${device.writeIntervalMs / 1000} s for a device and field.`;
      rejected.push(reject(must(indexes[at]), identifier, 'RATE_LIMITED', message));
    } else if (last !== at)
      rejected.push(duplicate(must(indexes[at]), identifier, must(batch.timestamps[at]), must(indexes[last])));
    else places.push(at);
  }
  rejected.sort((a, b) => a.index - b.index);
  return places.length === batch.fieldKeys.length ? batch : onlyPlaces(batch, places);
}
