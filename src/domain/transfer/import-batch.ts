import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import { checkEntry, isRejection, type Rejection } from '../measurements/entry.ts';
import { addToBatch, type DeviceBatch } from '../measurements/recorder.ts';
import { withinRetention } from '../measurements/retention.ts';
import { LONG_AGO, NOT_HEARD } from '../ports/store.ts';
import type { ImportLine } from './import-format.ts';
import type { ImportPreview } from './import-preview.ts';
import { type Ahead, aheadOf, aheadOfAll } from '../times/ahead.ts';
import { readTime, type TimeBounds } from '../times/entry-time.ts';
import { asMeant, hintFor, valuesFor } from './meant-values.ts';

/** A line, or one value of it, that was not stored. */
export interface RefusedLine {
  /** Line in the file, from 1. */
  line: number;
  field: string | null;
  code: Rejection['code'] | 'AMBIGUOUS_DEVICE';
  message: string;
}

/** The device of a line, or the reason that it has none. */
export type FoundDevice = DeviceInfo | Pick<RefusedLine, 'code' | 'message'>;

/** Maximum rejected lines that are listed. */
export const MAX_REJECTED = 1_000;
/** Maximum values, and lines, per commit: enough to be quick, few enough to let others in between. */
const MAX_BATCH = 5_000;
/** Maximum characters of a batch's lines, whose texts may keep all of them in memory. */
const MAX_BATCH_CHARACTERS = 8_000_000;
/** Maximum age of a batch: a file that arrives slowly is stored as it arrives. */
const LONGEST_MS = 1_000;

/** Settings of a batch. */
export interface ImportBatchDeps {
  liveWindowMs: number;
  maxFutureMs: number;
  now: () => number;
  /** Zone of times without one; null: that of each device's product. */
  timeZone: string | null;
  /** The preview of the first lines; null: none is wanted. */
  preview: ImportPreview | null;
}

/** Keys per generation, of which two are kept. */
const MOST_KEYS = 50_000;

/** The keys of the last stored values of a file, 50,000 of them at least, so that memory stays bounded. */
export class SeenKeys {
  #young = new Set<string>();
  #old = new Set<string>();

  has(key: string): boolean {
    return this.#young.has(key) || this.#old.has(key);
  }

  add(keys: Iterable<string>): void {
    for (const key of keys) this.#young.add(key);
    if (this.#young.size < MOST_KEYS) return;
    this.#old = this.#young;
    this.#young = new Set();
  }
}

/** Lines of a file for one commit, each judged by its device as it was when the line was added. */
export class ImportBatch {
  readonly lines: ImportLine[] = [];
  /** The first rejected lines. */
  readonly rejected: RefusedLine[] = [];
  stored = 0;
  refused = 0;
  values = 0;
  /** Values that were replaced by a later one of the file with the same field and time. */
  replaced = 0;
  /** Characters of its lines, whether valid or not. */
  characters = 0;
  readonly #deps: ImportBatchDeps;
  readonly #recent = new Map<number, DeviceBatch>();
  readonly #old = new Map<number, DeviceBatch>();
  readonly #from = performance.now();
  readonly #before: SeenKeys;
  /** Keys of its values. */
  readonly keys = new Set<string>();

  /** `before`: keys of the file up to here. */
  constructor(deps: ImportBatchDeps, before: SeenKeys) {
    this.#deps = deps;
    this.#before = before;
  }

  get isFull(): boolean {
    return this.values + this.replaced >= MAX_BATCH || this.lines.length >= MAX_BATCH;
  }

  /** True when it holds its maximum of characters, or has existed for its maximum time. */
  get isLong(): boolean {
    return this.characters >= MAX_BATCH_CHARACTERS || performance.now() - this.#from >= LONGEST_MS;
  }

  /** The values to store, by device. */
  get devices(): DeviceBatch[] {
    return [...this.#recent.values(), ...this.#old.values()];
  }

  /** The times that lie ahead of the server's clock; null: none. */
  get ahead(): Ahead | null {
    const now = this.#deps.now();
    return aheadOfAll([...this.#recent.values()].map(({ batch }) => aheadOf(batch.timestamps, now)));
  }

  add(line: ImportLine, found: FoundDevice): void {
    this.lines.push(line);
    const { timestamp, values, error } = line;
    let refused = true;
    if (error !== null) this.#refuse(line, null, { code: 'INVALID_ENTRY', message: error });
    else if ('code' in found) this.#refuse(line, null, found);
    else if (values.length === 0)
      this.#refuse(line, null, { code: 'MISSING_VALUE', message: 'The line has no value.' });
    else {
      const bounds: TimeBounds = { door: 'import', latest: this.#deps.now() + this.#deps.maxFutureMs };
      const time = readTime(timestamp, this.#deps.timeZone ?? found.product.timeZone, bounds);
      if (typeof time === 'number') refused = this.#addValues(line, found, time, bounds);
      else this.#refuse(line, null, time);
    }
    if (refused) this.refused += 1;
    else this.stored += 1;
  }

  #refuse(
    line: ImportLine,
    field: unknown,
    { code, message }: Pick<RefusedLine, 'code' | 'message'>,
    known: { device: string; time: number; value: unknown } | null = null,
  ): void {
    const shown = typeof field === 'string' ? field.slice(0, 64) : null;
    if (this.rejected.length < MAX_REJECTED) this.rejected.push({ line: line.line, field: shown, code, message });
    const { preview } = this.#deps;
    if (preview?.takes(line) !== true) return;
    const device = known?.device ?? textIn(line.device);
    const timestamp = known === null ? textIn(line.timestamp) : new Date(known.time).toISOString();
    preview.refuse(line, { device, field: shown, timestamp, value: known?.value ?? null, code, message });
  }

  /** Adds the values of a line; true when any was rejected. */
  #addValues(line: ImportLine, device: DeviceInfo, time: number, bounds: TimeBounds): boolean {
    const receivedAt = this.#deps.now();
    const isOld = time < receivedAt - this.#deps.liveWindowMs;
    const batches = isOld ? this.#old : this.#recent;
    let { batch } = batches.get(device.key) ?? { batch: null };
    let refused = false;
    for (const [named, given] of valuesFor(line, device.product)) {
      const [field, value] = asMeant(line, device.product, named, given);
      const entry = { field, value };
      const checked = checkEntry(device.product, entry, 0, time, bounds);
      const accepted = withinRetention(device.keeps, checked, 0, receivedAt);
      if (isRejection(accepted)) {
        refused = true;
        const { code } = accepted;
        const isListed = this.rejected.length < MAX_REJECTED;
        const message = accepted.message + (isListed ? hintFor(line, device.product, entry, code) : '');
        this.#refuse(line, field, { code, message }, { device: device.serialNumber, time, value });
        continue;
      }
      if (this.#deps.preview?.takes(line) === true) this.#deps.preview.accept(line, device.serialNumber, accepted);
      if (batch === null) {
        const notHeard = isOld ? LONG_AGO : NOT_HEARD;
        batch = { deviceKey: device.key, receivedAt: notHeard, fieldKeys: [], timestamps: [], values: [] };
        batches.set(device.key, { device, batch });
      }
      addToBatch(batch, accepted);
      const key = `${device.key} ${accepted.field.key} ${accepted.timestamp}`;
      if (this.keys.has(key) || this.#before.has(key)) this.replaced += 1;
      else this.values += 1;
      this.keys.add(key);
    }
    return refused;
  }
}

/** A name or time as the file has it. */
function textIn(given: unknown): string | null {
  return typeof given === 'string' || typeof given === 'number' ? String(given) : null;
}
