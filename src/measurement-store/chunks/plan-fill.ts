import { ReadingFrames } from '../readings/reading-frames.ts';
import { type Edit, emptyChange, type Plan } from './edit.ts';
import { readRange } from './read-range.ts';
import type { Snapshot } from './snapshot.ts';
import { must } from '../../must.ts';

const OWN_VALUES_A_SLICE = 2_000;

/**
 * Gives the device values where it has none. Its chunks stay as they are until the change is written; readings recorded
 * until then stay as well, as the database puts these values under the ones that it finds.
 */
export async function planFill(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Extract<Edit, { kind: 'fill' }>,
): Promise<Plan> {
  const { fieldKey, heardAt: receivedAt, timestamps, values } = edit;
  const stretch = { deviceKey, fieldKey, from: must(timestamps[0]), to: must(timestamps.at(-1)) + 1 };
  const own = await readRange(snapshot, { ...stretch, newestFirst: false, limit: OWN_VALUES_A_SLICE });
  const upTo = own.timestamps.length < OWN_VALUES_A_SLICE ? Infinity : must(own.timestamps.at(-1));
  const end = timestamps.filter((timestamp) => timestamp <= upTo).length;
  const taken = new Set(own.timestamps);
  const missing = [...timestamps.slice(0, end).keys()].filter((at) => !taken.has(timestamps[at]!));
  const change = emptyChange(deviceKey);
  if (missing.length > 0) {
    const columns = { timestamps: missing.map((at) => timestamps[at]!), values: missing.map((at) => values[at]!) };
    const frames = new ReadingFrames();
    frames.add({ deviceKey, receivedAt, fieldKeys: missing.map(() => fieldKey), ...columns });
    const { buffer, length } = frames.take(undefined);
    change.filled = new Uint8Array(buffer.slice(0, length));
  }
  const isLast = end === timestamps.length;
  return { change, next: isLast ? null : { ...edit, timestamps: timestamps.slice(end), values: values.slice(end) } };
}
