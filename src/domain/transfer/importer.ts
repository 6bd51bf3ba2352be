import { AppError } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { retryWhileOverloaded } from '../calls/retry-while-overloaded.ts';
import { giveWay } from '../give-way.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import { isPossibleSerial } from '../ingest-cache/possible-serial.ts';
import { checkEntry, isRejection, type Rejection } from '../measurements/entry.ts';
import { LONG_AGO, type MeasurementStore, NOT_HEARD } from '../measurements/store.ts';
import { addToBatch, type DeviceBatch, type Recorder } from '../measurements/recorder.ts';
import type { Authenticator } from '../tokens/authenticator.ts';
import type { BackgroundTurns } from '../turns.ts';
import type { WorkShares } from '../work-shares.ts';
import { FilePlaces } from './file-places.ts';
import { importFormat, type ImportLine } from './import-format.ts';
import { readTime } from './read-time.ts';

/** A line, or one value of it, that was not stored. */
interface RefusedLine {
  /** In the file, from 1. */
  line: number;
  field: string | null;
  code: Rejection['code'] | 'AMBIGUOUS_DEVICE';
  message: string;
}

/** What became of a file: lines that were stored whole, lines of which something was refused, values stored. */
interface ImportOutcome {
  lines: number;
  stored: number;
  refused: number;
  values: number;
  /** The first 1,000. */
  rejected: RefusedLine[];
}

interface ImporterDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  devices: DeviceFinder;
  recorder: Recorder;
  store: Pick<MeasurementStore, 'compactSoon'>;
  shares: WorkShares;
  /** What is older is told to nobody who follows live values. */
  liveWindowMs: number;
  maxFutureMs: number;
  now: () => number;
}

/** Values committed together: enough to be quick, few enough to let others in between. */
const MAX_BATCH = 5_000;
/** In so many characters at most: texts of one batch may be parts of all of them. */
const MAX_BATCH_CHARACTERS = 8_000_000;
/**
 * What they take of the event loop and of the database, in ms: a character (an empty line is one), a value (half of it
 * on the thread that writes), and the look-up of a device at most.
 */
const CHARACTER_MS = 0.00007;
const VALUE_MS = 0.005;
const MOST_LOOK_UP_MS = 3;
/** So long it works at a time. */
const SLICE_MS = 5;
const MAX_REJECTED = 1_000;
/** Names of devices remembered for one file. */
const MAX_NAMES = 10_000;

type Found = DeviceInfo | Pick<RefusedLine, 'code' | 'message'>;

/** Brings a file of measurements in, line by line in constant memory; sending it again is harmless (CONTRACT 8). */
export class Importer {
  readonly #deps: ImporterDeps;
  readonly #places = new FilePlaces('imports');

  constructor(deps: ImporterDeps) {
    this.#deps = deps;
  }

  /**
   * `device` null: each line names its device by serial number or id. Rejects with BAD_USER_INPUT for what is no file of
   * that kind and with UNAVAILABLE; `stored` so far is in the details. So it does when the token is revoked, or may not
   * CONFIGURE a device of what is to be committed any more: a file takes its time. OVERLOADED when too many are under way.
   */
  async run(
    access: Access,
    kind: 'csv' | 'ndjson',
    device: DeviceInfo | null,
    text: AsyncIterable<string>,
  ): Promise<ImportOutcome> {
    this.#places.require(access);
    const format = importFormat(kind);
    const turns = this.#deps.shares.backgroundOf(access);
    const accessNow = this.#deps.authenticator.follow(access);
    const run = new ImportRun(this.#deps, { access, turns, device, accessNow });
    this.#places.take(access);
    try {
      await turns.next();
      for await (const piece of text) await run.take(format.read(piece), piece.length);
      await run.take(format.end(), 0);
      await run.commit();
      // What was brought in is there, whatever becomes of that.
      this.#deps.store.compactSoon().catch(() => {});
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { lines, stored, refused, values } = run.outcome;
      throw new AppError(error.code, error.message, {
        details: { ...error.details, lines, stored, refused, values },
        cause: error.cause,
      });
    } finally {
      this.#places.giveBack(access);
    }
    return run.outcome;
  }
}

interface Asked {
  access: Access;
  turns: BackgroundTurns;
  device: DeviceInfo | null;
  /** As it is by then. */
  accessNow: () => Promise<Access>;
}

/** One file on its way in. */
class ImportRun {
  readonly outcome: ImportOutcome = { lines: 0, stored: 0, refused: 0, values: 0, rejected: [] };
  readonly #deps: ImporterDeps;
  readonly #access: Access;
  readonly #turns: BackgroundTurns;
  readonly #device: DeviceInfo | null;
  readonly #accessNow: () => Promise<Access>;
  readonly #found = new Map<string, Found>();
  /** Since it last gave way: what it is taken to have cost, and for how long it worked. */
  #spentMs = 0;
  #tookMs = 0;
  /** Since the last commit. */
  #characters = 0;
  #batches = { recent: new Map<number, DeviceBatch>(), old: new Map<number, DeviceBatch>() };
  #waiting = { values: 0, stored: 0, refused: 0, lines: 0 };

  constructor(deps: ImporterDeps, { access, turns, device, accessNow }: Asked) {
    this.#deps = deps;
    this.#access = access;
    this.#turns = turns;
    this.#device = device;
    this.#accessNow = accessNow;
  }

  /** `characters`: in which they came, which count even when they are no lines at all. */
  async take(lines: Iterable<ImportLine>, characters: number): Promise<void> {
    this.#spentMs += characters * CHARACTER_MS;
    this.#characters += characters;
    let from = performance.now() - this.#tookMs;
    for (const line of lines) {
      let found = this.#device ?? this.#known(line);
      if (found === undefined) {
        const started = performance.now();
        found = await this.#find(line);
        this.#spentMs += Math.min(performance.now() - started, MOST_LOOK_UP_MS);
      }
      this.#add(line, found);
      this.#spentMs += Math.max(1, line.values.length) * VALUE_MS;
      this.#tookMs = performance.now() - from;
      const isFull = this.#waiting.values >= MAX_BATCH;
      if (!isFull && !this.#isSliceOver()) continue;
      await this.#giveWay();
      if (isFull) await this.commit();
      from = performance.now();
    }
    this.#tookMs = performance.now() - from;
    if (this.#isSliceOver()) await this.#giveWay();
    if (this.#characters >= MAX_BATCH_CHARACTERS) await this.commit();
  }

  #isSliceOver(): boolean {
    return Math.max(this.#spentMs, this.#tookMs) >= SLICE_MS;
  }

  /** SQLite answers look-ups before the event loop turns: thousands of them would hold up everybody. */
  async #giveWay(): Promise<void> {
    // On a busy machine it all takes longer.
    this.#turns.spend(Math.max(this.#spentMs, this.#tookMs));
    this.#spentMs = 0;
    this.#tookMs = 0;
    await giveWay();
    await this.#turns.next();
  }

  /** What was gathered becomes durable, and counts. */
  async commit(): Promise<void> {
    const devices = [...this.#batches.recent.values(), ...this.#batches.old.values()];
    if (devices.length > 0) {
      const access = await this.#accessNow();
      for (const { device } of devices) access.requireDevice(device, 'CONFIGURE');
      const receipt = { batches: devices.map(({ batch }) => batch) };
      // Who waits for room keeps nobody else from working.
      await retryWhileOverloaded(() => this.#turns.piece(() => this.#deps.recorder.commit(receipt)));
    }
    const { outcome } = this;
    outcome.lines += this.#waiting.lines;
    outcome.stored += this.#waiting.stored;
    outcome.refused += this.#waiting.refused;
    outcome.values += this.#waiting.values;
    this.#waiting = { values: 0, stored: 0, refused: 0, lines: 0 };
    // Devices and fields are looked up anew for the next commit: they may be gone by then.
    this.#batches = { recent: new Map(), old: new Map() };
    this.#found.clear();
    this.#characters = 0;
  }

  #add({ line, timestamp, values, error }: ImportLine, found: Found): void {
    this.#waiting.lines += 1;
    const refuse = (field: unknown, code: RefusedLine['code'], message: string): void => {
      const shown = typeof field === 'string' ? field.slice(0, 64) : null;
      if (this.outcome.rejected.length < MAX_REJECTED)
        this.outcome.rejected.push(flatCopy({ line, field: shown, code, message }));
    };
    let refused = true;
    if (error !== null) refuse(null, 'INVALID_ENTRY', error);
    else if ('code' in found) refuse(null, found.code, found.message);
    else if (values.length === 0) refuse(null, 'MISSING_VALUE', 'The line has no value.');
    else {
      const time = readTime(timestamp);
      if (time === null) refuse(null, 'INVALID_TIMESTAMP', 'Expected ISO 8601, or epoch seconds or milliseconds.');
      else refused = this.#addValues(found, time, values, refuse);
    }
    if (refused) this.#waiting.refused += 1;
    else this.#waiting.stored += 1;
  }

  /** Returns whether something was refused. */
  #addValues(
    device: DeviceInfo,
    time: number,
    values: ImportLine['values'],
    refuse: (field: unknown, code: RefusedLine['code'], message: string) => void,
  ): boolean {
    const receivedAt = this.#deps.now();
    const isOld = time < receivedAt - this.#deps.liveWindowMs;
    const batches = isOld ? this.#batches.old : this.#batches.recent;
    let { batch } = batches.get(device.key) ?? { batch: null };
    let refused = false;
    for (const [field, value] of values) {
      const entry = { field, value, timestamp: time / 1000 };
      const accepted = checkEntry(device.product, entry, 0, time, receivedAt + this.#deps.maxFutureMs);
      if (isRejection(accepted)) {
        refused = true;
        refuse(field, accepted.code, accepted.message);
        continue;
      }
      if (batch === null) {
        const notHeard = isOld ? LONG_AGO : NOT_HEARD;
        batch = { deviceKey: device.key, receivedAt: notHeard, fieldKeys: [], timestamps: [], values: [] };
        batches.set(device.key, { device, batch });
      }
      addToBatch(batch, accepted);
      this.#waiting.values += 1;
    }
    return refused;
  }

  #known({ device, error }: ImportLine): Found | undefined {
    return error === null && typeof device === 'string' ? this.#found.get(device) : undefined;
  }

  async #find({ device, error }: ImportLine): Promise<Found> {
    if (error !== null) return { code: 'INVALID_ENTRY', message: error };
    const named = typeof device === 'number' ? String(device) : device;
    if (typeof named !== 'string' || named === '')
      return { code: 'MISSING_DEVICE', message: 'The line has no "device": a serial number or device id.' };
    if (!isPossibleSerial(named)) return unknownDevice(named);
    const name = flatCopy(named);
    const found = await this.#deps.devices.named(this.#access, name, 'CONFIGURE').catch((thrown: unknown): Found => {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'AMBIGUOUS_DEVICE') return { code: thrown.code, message: thrown.message };
      if (thrown.code !== 'NOT_FOUND' && thrown.code !== 'FORBIDDEN') throw thrown;
      return unknownDevice(name);
    });
    if (this.#found.size < MAX_NAMES) this.#found.set(name, found);
    return found;
  }
}

function unknownDevice(name: string): Pick<RefusedLine, 'code' | 'message'> {
  const message = `No device that this token may configure has the name "${name.slice(0, 64)}".`;
  return { code: 'UNKNOWN_DEVICE', message };
}

/** For what is kept: a part of a text holds the whole text, a piece of the file, in memory. */
function flatCopy<T>(kept: T): T {
  return JSON.parse(JSON.stringify(kept)) as T;
}
