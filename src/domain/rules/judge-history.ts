import { NOBODY } from '../../scheduling/caller.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { FieldColumns } from '../history/field-columns.ts';
import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { fieldsOf, type RuleDefinition } from './definition.ts';
import type { RuleJudge } from './rule-judge.ts';
import { SlidingWindow, windowsOf } from './windows.ts';

/** Values judged between two looks at the clock. */
const STRIDE = 2_000;

interface HistoryToJudge {
  definition: RuleDefinition;
  fields: readonly FieldInfo[];
  /** The values of each field, from before `from` where a window needs them. */
  columns: readonly FieldColumns[];
  /** Earlier values only say what held before, in ms UTC. */
  from: number;
  /** Whether each value counts as hearing from the device. */
  hears: boolean;
  /** Called now and then, and at the end; an error that it throws ends the judging. */
  onStride: (inWindows: number) => void;
}

/** Judges stored values in time order, measured times standing for the clock; gives way to others in between. */
export async function judgeHistory(
  judge: RuleJudge,
  { definition, fields, columns, from, hears, onStride }: HistoryToJudge,
): Promise<void> {
  const watched = fieldsOf(definition);
  const windows = windowsOf(definition);
  const inputs = fields.map((field, at) => ({
    key: field.key,
    isWatched: watched.has(field.key),
    columns: columns[at]!,
    at: firstFrom(columns[at]!.timestamps, from),
    windows: windows
      .filter((one) => one.field === field.key)
      .map(({ index, window }) => ({ index, sliding: new SlidingWindow(field, columns[at]!, window) })),
  }));
  for (const { key, isWatched, columns: of, at } of inputs) {
    const earlier = at > 0 ? { timestamp: of.timestamps[at - 1]!, value: of.values[at - 1]! } : of.before;
    if (earlier === null || earlier.timestamp <= (judge.state.judgedAt[key] ?? -Infinity)) continue;
    if (hears) judge.heard(earlier.timestamp);
    if (isWatched)
      judge.value({ field: key, measuredAt: earlier.timestamp, receivedAt: earlier.timestamp, value: earlier.value });
  }
  const slices = new Slices(NOBODY);
  let inWindows = 0;
  for (let judged = 0; ; judged += 1) {
    let next: (typeof inputs)[number] | null = null;
    let time = Infinity;
    for (const input of inputs) {
      const at = input.columns.timestamps[input.at];
      if (at !== undefined && at < time) [next, time] = [input, at];
    }
    if (next === null) break;
    judge.clock(time);
    if (hears) judge.heard(time);
    if (next.isWatched) {
      const event = { field: next.key, measuredAt: time, receivedAt: time, value: next.columns.values[next.at]! };
      if (next.windows.length === 0) judge.value(event);
      else {
        const found: Record<number, string | number | null> = {};
        for (const { index, sliding } of next.windows) {
          const { value, count } = sliding.at(next.at);
          found[index] = value;
          inWindows += count;
        }
        judge.value({ ...event, windows: found });
      }
    }
    next.at += 1;
    if (judged % STRIDE !== STRIDE - 1) continue;
    onStride(inWindows);
    inWindows = 0;
    if (slices.isOver) await slices.next();
  }
  onStride(inWindows);
}

function firstFrom(timestamps: FieldColumns['timestamps'], from: number): number {
  let [low, high] = [0, timestamps.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timestamps[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
