import { type Edit, type Plan, emptyChange } from './edit.ts';
import { planCompaction } from './plan-compaction.ts';
import { planExpiry } from './plan-expiry.ts';
import { planRemoval } from './plan-removal.ts';
import type { Snapshot } from './snapshot.ts';
import { ReadingFrames } from '../readings/reading-frames.ts';
import { readRange } from './read-range.ts';
import { must } from '../../must.ts';

const OWN_VALUES_A_SLICE = 2_000;

/** The next slice of an edit. No other may edit the device until its change is written; recording may go on. */
export function planEdit(snapshot: Snapshot, deviceKey: number, edit: Edit): Promise<Plan> {
  switch (edit.kind) {
    case 'compact':
      return planCompaction(snapshot, deviceKey, edit);
    case 'remove':
      return planRemoval(snapshot, deviceKey, edit);
    case 'expire':
      return planExpiry(snapshot, deviceKey, edit);
    case 'fill':
      return planFill(snapshot, deviceKey, edit);
  }
}

/**
 * Gives the device values where it has none. Its chunks stay as they are until the change is written; readings recorded
 * until then stay as well, as the database puts these values under the ones that it finds.
 */
async function planFill(snapshot: Snapshot, deviceKey: number, edit: Extract<Edit, { kind: 'fill' }>): Promise<Plan> {
  const { fieldKey, heardAt: receivedAt, timestamps, values } = edit;
  const stretch = { deviceKey, fieldKey, from: must(timestamps[0]), to: must(timestamps.at(-1)) + 1 };
  const own = await readRange(snapshot, { ...stretch, newestFirst: false, limit: OWN_VALUES_A_SLICE });
  const upTo = own.timestamps.length < OWN_VALUES_A_SLICE ? Infinity : must(own.timestamps.at(-1));
  const end = timestamps.filter((timestamp) => timestamp <= upTo).length;
  const taken = new Set(own.timestamps);
  const missing = [...timestamps.slice(0, end).keys()].filter((at) => !taken.has(must(timestamps[at])));
  const change = emptyChange(deviceKey);
  if (missing.length > 0) {
    const columns = {
      timestamps: missing.map((at) => must(timestamps[at])),
      values: missing.map((at) => must(values[at])),
    };
    const frames = new ReadingFrames();
    frames.add({ deviceKey, receivedAt, fieldKeys: missing.map(() => fieldKey), ...columns });
    const { buffer, length } = frames.take(undefined);
    change.filled = new Uint8Array(buffer.slice(0, length));
  }
  const isLast = end === timestamps.length;
  return { change, next: isLast ? null : { ...edit, timestamps: timestamps.slice(end), values: values.slice(end) } };
}
