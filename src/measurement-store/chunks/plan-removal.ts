import { lastOfEach, fieldsOf } from '../readings/reading-values.ts';
import { decode } from './codec.ts';
import { indexAt } from '../../domain/history/index-at.ts';
import { sliceColumns } from './columns.ts';
import { cutChunks } from './cut-chunks.ts';
import { type Change, type Edit, emptyChange, isEmpty, type Plan } from './edit.ts';
import type { ChunkHead, Snapshot, Seq } from './snapshot.ts';
import { must } from '../../must.ts';

const READINGS_A_SLICE = 1_000;
/** Maximum chunks of one field removed per slice; a slice ends with the field that reaches it. */
const CHUNKS_A_SLICE = 200;

type Removal = Extract<Edit, { kind: 'remove' }>;

/** Removes values from chunks that come first, from readings, and then from chunks, where moved ones are met. */
export async function planRemoval(snapshot: Snapshot, deviceKey: number, edit: Removal): Promise<Plan> {
  const { first, ...then } = edit;
  if (first !== undefined) {
    const { change, left } = await fromChunks(snapshot, deviceKey, { ...edit, fieldKeys: first.fieldKeys });
    if (left !== null) return { change, next: { ...edit, first: { fieldKeys: left } } };
    return isEmpty(change) ? planRemoval(snapshot, deviceKey, then) : { change, next: then };
  }
  if (edit.readingsFrom !== null) return fromReadings(snapshot, deviceKey, edit, edit.readingsFrom);
  const { change, left } = await fromChunks(snapshot, deviceKey, edit);
  return { change, next: left === null ? null : { ...edit, fieldKeys: left } };
}

async function fromReadings(snapshot: Snapshot, deviceKey: number, edit: Removal, from: number): Promise<Plan> {
  const change = emptyChange(deviceKey);
  const range = { deviceKey, from, to: edit.to, newestFirst: false, limit: READINGS_A_SLICE };
  const { rows: readings, isLast } = await snapshot.readings(range);
  const gone = edit.fieldKeys && new Set(edit.fieldKeys);
  const isIncluded = edit.upTo === null ? () => true : committedBy(edit.upTo);
  for (const { timestamp, seq, values } of readings) {
    if (!isIncluded(seq)) continue;
    const fields = [...fieldsOf(values)];
    const kept = gone ? fields.filter((fieldKey) => !gone.has(fieldKey)) : [];
    if (kept.length === fields.length) continue;
    const left = kept.length === 0 ? null : lastOfEach(values, (fieldKey) => kept.includes(fieldKey));
    change.readings.push({ timestamp, seq, values: left });
  }
  return { change, next: { ...edit, readingsFrom: isLast ? null : must(readings.at(-1)).timestamp + 1 } };
}

/** `left`: the fields that have more of it; null: none. */
async function fromChunks(
  snapshot: Snapshot,
  deviceKey: number,
  edit: Removal,
): Promise<{ change: Change; left: number[] | null }> {
  const change = emptyChange(deviceKey);
  const fieldKeys = edit.fieldKeys ?? (await snapshot.chunkFields(deviceKey));
  const { from, to } = edit;
  for (const [i, fieldKey] of fieldKeys.entries()) {
    const range = { deviceKey, fieldKey, from, to, newestFirst: false, limit: CHUNKS_A_SLICE };
    const heads = await snapshot.chunks(range);
    for (const head of heads) await removeFromChunk(snapshot, change, fieldKey, head, edit);
    // The rest of this field is met again: chunks that reach out of the range have become some that do not.
    if (heads.length === CHUNKS_A_SLICE) return { change, left: fieldKeys.slice(i) };
    if (change.chunksGone.length >= CHUNKS_A_SLICE / 4 && i < fieldKeys.length - 1)
      return { change, left: fieldKeys.slice(i + 1) };
  }
  return { change, left: null };
}

async function removeFromChunk(
  snapshot: Snapshot,
  change: Change,
  fieldKey: number,
  { firstAt, lastAt }: ChunkHead,
  { from, to }: Removal,
): Promise<void> {
  if (firstAt >= from && lastAt < to) {
    change.chunksGone.push({ fieldKey, firstAt });
    return;
  }
  const [bytes] = await snapshot.chunkBytes(change.deviceKey, fieldKey, [firstAt]);
  const columns = decode(must(bytes));
  const start = indexAt(columns.timestamps, from);
  const end = indexAt(columns.timestamps, to);
  if (start === end) return;
  change.chunksGone.push({ fieldKey, firstAt });
  // Two chunks where it was cut in the middle: none reaches across the gap.
  change.chunksNew.push(...cutChunks(fieldKey, sliceColumns(columns, 0, start), true));
  change.chunksNew.push(...cutChunks(fieldKey, sliceColumns(columns, end, columns.timestamps.length), true));
}

/**
 * Tells of each `seq` whether what was committed as that was before the position (`Snapshot.position`): SQLite's is the
 * number of a flush, PostgreSQL's a snapshot `xmin:xmax:xip,…` (and `@` its history).
 */
function committedBy(position: string): (seq: Seq) => boolean {
  const [first, end, inProgress] = position.split(':');
  if (end === undefined) return (seq) => Number(seq) <= Number(first);
  const later = new Set(must(must(inProgress).split('@')[0]).split(','));
  return (seq) => Number(seq) < Number(end) && !later.has(String(seq));
}
