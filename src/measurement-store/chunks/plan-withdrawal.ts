import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import type { DeviceRemoval } from '../../domain/ports/store.ts';
import { fieldsOf, lastOfEach } from '../readings/reading-values.ts';
import { toColumns } from './columns.ts';
import { cutChunks } from './cut-chunks.ts';
import { type Change, emptyChange } from './edit.ts';
import type { Snapshot } from './snapshot.ts';
import { placesOf, valueIn } from './values-at.ts';
import { must } from '../../must.ts';

/** The change to write, and the number of values left because they had changed. */
export interface Withdrawal {
  change: Change;
  left: number;
}

/**
 * Removes single values of a device from readings and chunks, each only where it is unchanged. The device must not be
 * edited otherwise until the change is written; recording may go on.
 */
export async function planWithdrawal(snapshot: Snapshot, removal: DeviceRemoval): Promise<Withdrawal> {
  const { deviceKey, fieldKeys, timestamps, values } = removal;
  const change = emptyChange(deviceKey);
  const places = await placesOf(snapshot, removal);
  const [ofMoment, ofField] = [new Map<number, Set<number>>(), new Map<number, Set<number>>()];
  let left = 0;
  for (const [at, fieldKey] of fieldKeys.entries()) {
    const timestamp = must(timestamps[at]);
    const value = valueIn(places, fieldKey, timestamp);
    if (value !== values[at]) {
      if (value !== undefined) left += 1;
      continue;
    }
    addTo(ofMoment, timestamp, fieldKey);
    addTo(ofField, fieldKey, timestamp);
  }
  for (const [timestamp, gone] of ofMoment) {
    const reading = places.readings.get(timestamp);
    if (reading === undefined) continue;
    const fields = fieldsOf(reading.values);
    const kept = [...fields].filter((fieldKey) => !gone.has(fieldKey));
    if (kept.length === fields.size) continue;
    const rest = kept.length === 0 ? null : lastOfEach(reading.values, (fieldKey) => !gone.has(fieldKey));
    change.readings.push({ timestamp, seq: reading.seq, values: rest });
  }
  for (const [fieldKey, gone] of ofField)
    for (const { firstAt, columns } of places.chunks.get(fieldKey) ?? []) {
      const rest = without(columns, gone);
      if (rest.timestamps.length === columns.timestamps.length) continue;
      change.chunksGone.push({ fieldKey, firstAt });
      change.chunksNew.push(...cutChunks(fieldKey, rest, true));
    }
  return { change, left };
}

function without({ timestamps, values }: SegmentColumns, gone: ReadonlySet<number>): SegmentColumns {
  const kept = [...timestamps.keys()].filter((at) => !gone.has(must(timestamps[at])));
  return toColumns(
    kept.map((at) => must(timestamps[at])),
    kept.map((at) => must(values[at])),
  );
}

function addTo(sets: Map<number, Set<number>>, key: number, member: number): void {
  const own = sets.get(key);
  if (own === undefined) sets.set(key, new Set([member]));
  else own.add(member);
}
