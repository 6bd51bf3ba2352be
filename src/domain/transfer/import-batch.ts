import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import { checkEntry, isRejection, type Rejection } from '../measurements/entry.ts';
import { addToBatch, type DeviceBatch } from '../measurements/recorder.ts';
import { LONG_AGO, NOT_HEARD } from '../measurements/store.ts';
import type { ImportLine } from './import-format.ts';
import { asMeant, hintFor, valuesFor } from './meant-values.ts';
import { readTime } from './read-time.ts';

/** A line, or one value of it, that was not stored. */
export interface RefusedLine {
  /** In the file, from 1. */
  line: number;
  field: string | null;
  code: Rejection['code'] | 'AMBIGUOUS_DEVICE';
  message: string;
}

/** The device of a line, or why it has none. */
export type FoundDevice = DeviceInfo | Pick<RefusedLine, 'code' | 'message'>;

/** Refused lines that are listed. */
export const MAX_REJECTED = 1_000;
/** Values, and lines, committed together: enough to be quick, few enough to let others in between. */
const MAX_BATCH = 5_000;
/** In so many characters at most: texts of one batch may be parts of all of them. */
const MAX_BATCH_CHARACTERS = 8_000_000;
/** A file that comes in drops is stored as it comes. */
const LONGEST_MS = 1_000;

interface ImportBatchDeps {
  liveWindowMs: number;
  maxFutureMs: number;
  now: () => number;
}

/** Lines of a file that are to be committed together, each judged by its device as that was when it was added. */
export class ImportBatch {
  readonly lines: ImportLine[] = [];
  /** The first of them. */
  readonly rejected: RefusedLine[] = [];
  stored = 0;
  refused = 0;
  values = 0;
  /** In which the lines came, which count even when they are no lines at all. */
  characters = 0;
  readonly #deps: ImportBatchDeps;
  readonly #recent = new Map<number, DeviceBatch>();
  readonly #old = new Map<number, DeviceBatch>();
  readonly #from = performance.now();

  constructor(deps: ImportBatchDeps) {
    this.#deps = deps;
  }

  get isFull(): boolean {
    return this.values >= MAX_BATCH || this.lines.length >= MAX_BATCH;
  }

  /** As much as may be kept in memory, or for as long as that. */
  get isLong(): boolean {
    return this.characters >= MAX_BATCH_CHARACTERS || performance.now() - this.#from >= LONGEST_MS;
  }

  /** What is to be stored. */
  get devices(): DeviceBatch[] {
    return [...this.#recent.values(), ...this.#old.values()];
  }

  add(line: ImportLine, found: FoundDevice): void {
    this.lines.push(line);
    const { timestamp, values, error } = line;
    let refused = true;
    if (error !== null) this.#refuse(line, null, 'INVALID_ENTRY', error);
    else if ('code' in found) this.#refuse(line, null, found.code, found.message);
    else if (values.length === 0) this.#refuse(line, null, 'MISSING_VALUE', 'The line has no value.');
    else {
      const time = readTime(timestamp);
      if (time === null)
        this.#refuse(line, null, 'INVALID_TIMESTAMP', 'Expected ISO 8601, or epoch seconds or milliseconds.');
      else refused = this.#addValues(line, found, time);
    }
    if (refused) this.refused += 1;
    else this.stored += 1;
  }

  #refuse({ line }: ImportLine, field: unknown, code: RefusedLine['code'], message: string): void {
    const shown = typeof field === 'string' ? field.slice(0, 64) : null;
    if (this.rejected.length < MAX_REJECTED) this.rejected.push({ line, field: shown, code, message });
  }

  /** Returns whether something was refused. */
  #addValues(line: ImportLine, device: DeviceInfo, time: number): boolean {
    const receivedAt = this.#deps.now();
    const isOld = time < receivedAt - this.#deps.liveWindowMs;
    const batches = isOld ? this.#old : this.#recent;
    let { batch } = batches.get(device.key) ?? { batch: null };
    let refused = false;
    for (const [named, given] of valuesFor(line, device.product)) {
      const [field, value] = asMeant(line, device.product, named, given);
      const entry = { field, value, timestamp: time / 1000 };
      const accepted = checkEntry(device.product, entry, 0, time, receivedAt + this.#deps.maxFutureMs);
      if (isRejection(accepted)) {
        refused = true;
        const isListed = this.rejected.length < MAX_REJECTED;
        this.#refuse(
          line,
          field,
          accepted.code,
          accepted.message + (isListed ? hintFor(line, device.product, entry, accepted.code) : ''),
        );
        continue;
      }
      if (batch === null) {
        const notHeard = isOld ? LONG_AGO : NOT_HEARD;
        batch = { deviceKey: device.key, receivedAt: notHeard, fieldKeys: [], timestamps: [], values: [] };
        batches.set(device.key, { device, batch });
      }
      addToBatch(batch, accepted);
      this.values += 1;
    }
    return refused;
  }
}
