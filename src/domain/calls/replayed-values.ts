import { lruCache } from '../../scheduling/lru-cache.ts';
import type { Batch, DeviceKeys, DeviceRemoval, MeasurementStore, SharedValue, StoredValue } from '../ports/store.ts';
import { isStoredValue, type StoredKey } from './stored-values.ts';
import { must } from '../../must.ts';

/** How many values, each counted once however many calls of the replay have it: against what was there before. */
export interface ValueCounts {
  added: number;
  changed: number;
  /** That the new run says and that were there already. */
  unchanged: number;
  /** That the run before stored and the new one does not say. */
  removed: number;
  /** Of the run before that are left: another door has written them since, or the new entry of their field was refused. */
  kept: number;
}

/** A replayed call whose decoder ran. */
export interface CallSaying {
  receivedAt: number;
  /** What the new run says. */
  batches: readonly Batch[];
  /** What the run before stored; null: not known. */
  before: readonly StoredKey[] | null;
  /** Of these fields nothing goes: the new run has entries of them that were refused. */
  refusedFields: ReadonlySet<number>;
}

/** What some calls change, in the order of these. */
export interface ReplayStep {
  batches: Batch[];
  removals: DeviceRemoval[];
  shared: SharedValue[];
  /** Of each call what it goes on to know of the run before. */
  retained: StoredKey[][];
  /** It is done (or only reported): counts it. `left`: values that were to go and were written over meanwhile. */
  end(left: number): void;
}

/** One key, as far as the replay has come. */
interface Touched {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  /** Before the replay. */
  original: StoredValue | undefined;
  value: StoredValue | undefined;
  /** How many calls say the value as well, beside the one that stored it. */
  others: number;
  /** The call of this replay that has said the value, counted from 1; 0: none. */
  by: number;
  isSaid: boolean;
  isKept: boolean;
  /** A call of this replay says so, under what another door or a later call has written over it. */
  under: { value: StoredValue; by: number } | null;
}

/** Keys that are remembered, those touched last: calls whose times are mended meet each other's again. */
const MOST_REMEMBERED = 50_000;

/**
 * What a replay makes of the values that are stored: as if each of its calls, in their order, had never stored what it did
 * and stored what it says now. The rules are in docs/replay.md. A dry run sees what the calls before would have changed.
 */
export class ReplayedValues {
  readonly counts: ValueCounts = { added: 0, changed: 0, unchanged: 0, removed: 0, kept: 0 };
  readonly #store: Pick<MeasurementStore, 'valuesAt'>;
  readonly #dryRun: boolean;
  readonly #touched = lruCache<string, Touched>(MOST_REMEMBERED);
  #calls = 0;

  constructor(store: Pick<MeasurementStore, 'valuesAt'>, dryRun: boolean) {
    this.#store = store;
    this.#dryRun = dryRun;
  }

  /** What the next calls change; nothing is remembered of it until its `end`. */
  async next(calls: readonly CallSaying[]): Promise<ReplayStep> {
    const touched = await this.#look(calls);
    const found = new Map([...touched].map(([key, { value, others }]) => [key, { value, others }]));
    const writtenBy = new Map<string, number>();
    const retained = calls.map((call, at) => say(touched, call, this.#calls + at + 1, (key) => writtenBy.set(key, at)));
    const [written, gone]: [[string, Touched][], Touched[]] = [[], []];
    const shared: SharedValue[] = [];
    const receivedAt = Math.max(...calls.map((call) => call.receivedAt));
    for (const [key, one] of touched) {
      const { deviceKey, fieldKey, timestamp, others } = one;
      const before = must(found.get(key));
      if (others !== before.others) shared.push({ deviceKey, fieldKey, timestamp, others, receivedAt });
      if (one.value === before.value) continue;
      if (one.value === undefined) gone.push({ ...one, value: before.value });
      else written.push([key, one]);
    }
    return {
      batches: batchesOf(written, (key) => must(calls[must(writtenBy.get(key))]).receivedAt, writtenBy),
      removals: removalsOf(gone),
      shared,
      retained,
      end: (left) => this.#end(calls.length, touched, left),
    };
  }

  /** Every key that the calls say or stored, with what is there. */
  async #look(calls: readonly CallSaying[]): Promise<Map<string, Touched>> {
    const asked = new Map<number, DeviceKeys>();
    const names = new Set<string>();
    const ask = (deviceKey: number, fieldKey: number, timestamp: number): void => {
      const name = nameOf(deviceKey, fieldKey, timestamp);
      if (names.has(name)) return;
      names.add(name);
      let own = asked.get(deviceKey);
      if (own === undefined) asked.set(deviceKey, (own = { deviceKey, fieldKeys: [], timestamps: [] }));
      own.fieldKeys.push(fieldKey);
      own.timestamps.push(timestamp);
    };
    for (const { batches, before } of calls) {
      for (const { deviceKey, fieldKeys, timestamps } of batches)
        for (const [at, fieldKey] of fieldKeys.entries()) ask(deviceKey, fieldKey, must(timestamps[at]));
      for (const { deviceKey, fieldKey, timestamp } of before ?? []) ask(deviceKey, fieldKey, timestamp);
    }
    const keys = [...asked.values()];
    const known = keys.length === 0 ? [] : await this.#store.valuesAt(keys);
    const touched = new Map<string, Touched>();
    for (const [nth, { deviceKey, fieldKeys, timestamps }] of keys.entries())
      for (const [at, fieldKey] of fieldKeys.entries()) {
        const place = { deviceKey, fieldKey, timestamp: must(timestamps[at]) };
        const name = nameOf(deviceKey, fieldKey, place.timestamp);
        touched.set(name, this.#known(name, place, must(known[nth]).values[at], must(must(known[nth]).others[at])));
      }
    return touched;
  }

  #known(
    name: string,
    place: Pick<Touched, 'deviceKey' | 'fieldKey' | 'timestamp'>,
    stored: StoredValue | undefined,
    others: number,
  ): Touched {
    const known = this.#touched.get(name);
    if (known === undefined)
      return { ...place, original: stored, value: stored, others, by: 0, isSaid: false, isKept: false, under: null };
    if (this.#dryRun) return { ...known };
    return { ...known, value: stored, others, by: stored === known.value ? known.by : 0 };
  }

  #end(calls: number, touched: ReadonlyMap<string, Touched>, left: number): void {
    this.#calls += calls;
    for (const [name, now] of touched) {
      const before = this.#touched.get(name);
      this.#count(before && kindOf(before), -1);
      this.#count(kindOf(now), 1);
      this.#touched.set(name, now);
    }
    this.counts.removed -= left;
    this.counts.kept += left;
  }

  #count(kind: keyof ValueCounts | undefined, by: number): void {
    if (kind !== undefined) this.counts[kind] += by;
  }
}

/** Returns what the call goes on to know of the run before, though the new one does not say it. */
function say(
  touched: ReadonlyMap<string, Touched>,
  { batches, before, refusedFields }: CallSaying,
  by: number,
  writes: (name: string) => void,
): StoredKey[] {
  const own = new Map<string, StoredKey[]>();
  for (const key of before ?? []) {
    const name = nameOf(key.deviceKey, key.fieldKey, key.timestamp);
    const others = own.get(name);
    if (others === undefined) own.set(name, [key]);
    else others.push(key);
  }
  const said = new Map<string, StoredValue>();
  for (const { deviceKey, fieldKeys, timestamps, values } of batches)
    for (const [at, fieldKey] of fieldKeys.entries())
      said.set(nameOf(deviceKey, fieldKey, must(timestamps[at])), asKept(must(values[at])));
  for (const [name, value] of said) {
    const one = must(touched.get(name));
    const stored = own.get(name);
    const isOthers = stored !== undefined && one.by === 0 && one.value !== undefined;
    if (isOthers && one.value !== value && !isOneOf(stored, must(one.value))) {
      one.isKept = true;
      one.under = { value, by };
      continue;
    }
    if (one.value !== value) {
      writes(name);
      one.others = 0;
    } else if (stored === undefined && before !== null) one.others += 1;
    one.value = value;
    one.by = by;
    one.isSaid = true;
  }
  const retained: StoredKey[] = [];
  for (const [name, stored] of own) {
    if (said.has(name)) continue;
    const one = must(touched.get(name));
    const isRefused = refusedFields.has(must(stored[0]).fieldKey);
    if (isRefused) retained.push(...stored);
    if (one.value === undefined) continue;
    if (isRefused || !isOneOf(stored, one.value)) one.isKept = true;
    else if (one.others > 0) one.others -= 1;
    else if (one.by !== 0) continue;
    else if (one.under === null) one.value = undefined;
    else {
      // It was this call that had written over it.
      writes(name);
      one.value = one.under.value;
      one.by = one.under.by;
      one.isSaid = true;
    }
  }
  return retained;
}

/** Half a surrogate is stored as U+FFFD. */
function asKept(value: StoredValue): StoredValue {
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** A replay that was cut off between two commits leaves a call that knows of two values. */
function isOneOf(stored: readonly StoredKey[], value: StoredValue): boolean {
  return stored.some((one) => isStoredValue(one.value, value));
}

/** As what the key counts; undefined: nothing has become of it. */
function kindOf({ original, value, isSaid, isKept }: Touched): keyof ValueCounts | undefined {
  if (original === undefined) return value === undefined ? undefined : 'added';
  if (value === undefined) return 'removed';
  if (value !== original) return 'changed';
  if (isSaid) return 'unchanged';
  return isKept ? 'kept' : undefined;
}

function batchesOf(
  written: readonly [string, Touched][],
  receivedAtOf: (name: string) => number,
  writtenBy: ReadonlyMap<string, number>,
): Batch[] {
  const batches = new Map<string, Batch>();
  for (const [name, { deviceKey, fieldKey, timestamp, value }] of written) {
    const whose = `${must(writtenBy.get(name))} ${deviceKey}`;
    let batch = batches.get(whose);
    if (batch === undefined) {
      batch = { deviceKey, receivedAt: receivedAtOf(name), fieldKeys: [], timestamps: [], values: [] };
      batches.set(whose, batch);
    }
    batch.fieldKeys.push(fieldKey);
    batch.timestamps.push(timestamp);
    batch.values.push(must(value));
  }
  return [...batches.values()];
}

function removalsOf(gone: readonly Touched[]): DeviceRemoval[] {
  const removals = new Map<number, DeviceRemoval>();
  for (const { deviceKey, fieldKey, timestamp, value } of gone) {
    let removal = removals.get(deviceKey);
    if (removal === undefined) {
      removal = { deviceKey, fieldKeys: [], timestamps: [], values: [] };
      removals.set(deviceKey, removal);
    }
    removal.fieldKeys.push(fieldKey);
    removal.timestamps.push(timestamp);
    removal.values.push(must(value));
  }
  return [...removals.values()];
}

function nameOf(deviceKey: number, fieldKey: number, timestamp: number): string {
  return `${deviceKey} ${fieldKey} ${timestamp}`;
}
