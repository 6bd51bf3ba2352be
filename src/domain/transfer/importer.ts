import { AppError, asAppError } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { DeviceInfo, IngestCache } from '../ingest-cache/ingest-cache.ts';
import { isPossibleSerial } from '../ingest-cache/possible-serial.ts';
import { changed, type DeviceBatch, type Recorder, stillTakes } from '../measurements/recorder.ts';
import { textsOf } from '../measurements/receipt-parts.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { BackgroundTurns } from '../../scheduling/turns.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { type Ahead, aheadOfAll } from '../times/ahead.ts';
import { FilePlaces } from '../../scheduling/file-places.ts';
import { type FoundDevice, ImportBatch, MAX_REJECTED, type RefusedLine, SeenKeys } from './import-batch.ts';
import { importFormat, type ImportLine } from './import-format.ts';

/** What became of a file: lines that were stored whole, lines of which something was refused, values stored. */
interface ImportOutcome {
  lines: number;
  stored: number;
  refused: number;
  values: number;
  /** Values that a later one of the file, for the same field and moment, was stored in place of. */
  replaced: number;
  /** The first 1,000. */
  rejected: RefusedLine[];
  /** What of it lies ahead of the server's clock; left out: nothing. */
  ahead?: Ahead;
}

interface ImporterDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  ingestCache: Pick<IngestCache, 'device' | 'revision'>;
  devices: DeviceFinder;
  recorder: Recorder;
  store: Pick<MeasurementStore, 'compactSoon'>;
  shares: FairScheduler;
  /** What is older is told to nobody who follows live values. */
  liveWindowMs: number;
  maxFutureMs: number;
  now: () => number;
}

/**
 * What a file takes of the event loop and of the database, in ms: a character (an empty line is one), a value (half of it
 * on the thread that writes), and the look-up of a device at most.
 */
const CHARACTER_MS = 0.00007;
const VALUE_MS = 0.005;
const MOST_LOOK_UP_MS = 3;
/** So long it works at a time. */
const SLICE_MS = 5;
/** Devices and fields that change while a batch waits to be stored are looked at again so often. */
const MOST_ATTEMPTS = 10;

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
   * CONFIGURE a device of what is to be committed any more, or `device` is gone: a file takes its time. OVERLOADED when
   * too many are under way.
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
      // A look-up fails with the database's own error.
      const known = asAppError(error);
      if (known === null) throw error;
      const { rejected: _, ...counts } = run.outcome;
      throw new AppError(known.code, known.message, {
        details: { ...known.details, ...counts },
        cause: known.cause,
      });
    } finally {
      this.#places.release(access);
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
  readonly outcome: ImportOutcome = {
    lines: 0,
    stored: 0,
    refused: 0,
    values: 0,
    replaced: 0,
    rejected: [],
  };
  readonly #deps: ImporterDeps;
  readonly #access: Access;
  readonly #turns: BackgroundTurns;
  readonly #device: DeviceInfo | null;
  readonly #accessNow: () => Promise<Access>;
  /** By the names in this batch, as they were at `#foundAt`. */
  readonly #found = new Map<string, FoundDevice>();
  #foundAt: number;
  readonly #seen = new SeenKeys();
  #batch: ImportBatch;
  /** What was found for it is at least so new. */
  #batchFrom: number;
  /** Since it last gave way: what it is taken to have cost, and for how long it worked. */
  #spentMs = 0;
  #tookMs = 0;

  constructor(deps: ImporterDeps, { access, turns, device, accessNow }: Asked) {
    this.#deps = deps;
    this.#access = access;
    this.#turns = turns;
    this.#device = device;
    this.#accessNow = accessNow;
    this.#foundAt = this.#batchFrom = deps.ingestCache.revision;
    this.#batch = new ImportBatch(deps, this.#seen);
  }

  /** `characters`: in which they came, which count even when they are no lines at all. */
  async take(lines: Iterable<ImportLine>, characters: number): Promise<void> {
    if (this.#batch.isLong) await this.commit();
    this.#spentMs += characters * CHARACTER_MS;
    this.#batch.characters += characters;
    await this.#add(lines, () => this.commit());
    if (this.#isSliceOver()) await this.#giveWay();
    if (this.#batch.isLong) await this.commit();
  }

  async #add(lines: Iterable<ImportLine>, whenFull: () => Promise<void>): Promise<void> {
    let from = performance.now() - this.#tookMs;
    for (const line of lines) {
      let found = this.#known(line);
      if (found === undefined) {
        const started = performance.now();
        found = await this.#find(line);
        this.#spentMs += Math.min(performance.now() - started, MOST_LOOK_UP_MS);
      }
      this.#batch.add(line, found);
      this.#spentMs += Math.max(1, line.values.length) * VALUE_MS;
      this.#tookMs = performance.now() - from;
      if (!this.#batch.isFull && !this.#isSliceOver()) continue;
      await this.#giveWay();
      if (this.#batch.isFull) await whenFull();
      from = performance.now();
    }
    this.#tookMs = performance.now() - from;
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
    await yieldToEventLoop();
    await this.#turns.next();
  }

  /** What was gathered becomes durable, and counts. */
  async commit(): Promise<void> {
    for (let attempts = 1; !(await this.#store()); attempts += 1) {
      if (attempts === MOST_ATTEMPTS)
        throw new AppError(
          'OVERLOADED',
          'Devices or fields keep being changed while the file is stored; send the rest again.',
        );
      const { lines } = this.#batch;
      this.#begin();
      await this.#add(lines, async () => {});
    }
    const { outcome } = this;
    const { lines, stored, refused, values, replaced, rejected, keys } = this.#batch;
    const ahead = aheadOfAll([outcome.ahead, this.#batch.ahead]);
    if (ahead !== null) outcome.ahead = ahead;
    outcome.lines += lines.length;
    outcome.stored += stored;
    outcome.refused += refused;
    outcome.values += values;
    outcome.replaced += replaced;
    this.#seen.add(keys);
    for (const line of rejected.slice(0, MAX_REJECTED - outcome.rejected.length)) outcome.rejected.push(flatCopy(line));
    this.#begin();
  }

  #begin(): void {
    this.#found.clear();
    this.#batch = new ImportBatch(this.#deps, this.#seen);
    this.#batchFrom = this.#deps.ingestCache.revision;
  }

  /** False, and nothing is stored, when a device or field that it would write to is gone by now. */
  async #store(): Promise<boolean> {
    const { devices } = this.#batch;
    if (devices.length === 0) return true;
    const receipt = { batches: devices.map(({ batch }) => batch) };
    const texts = Math.max(...devices.map(({ device }) => textsOf(device.product)));
    const isAllowed = async (): Promise<boolean> => {
      const access = await this.#accessNow();
      for (const { device } of devices) access.requireDevice(device, 'CONFIGURE');
      return this.#batchFrom === this.#deps.ingestCache.revision || (await this.#allThere(devices));
    };
    const requireRight = async (): Promise<void> => {
      if (!(await isAllowed())) throw changed();
    };
    const store = async (): Promise<boolean> => {
      if (!(await isAllowed())) return false;
      await this.#deps.recorder.commit(receipt, {
        product: devices[0]!.device.product,
        texts,
        isPatient: true,
        requireRight,
      });
      return true;
    };
    // Who waits for room keeps nobody else from working.
    return retryWhileOverloaded(() => this.#turns.piece(store));
  }

  async #allThere(devices: readonly DeviceBatch[]): Promise<boolean> {
    // Together they are few queries.
    const present = await Promise.all(devices.map(({ device }) => this.#deps.ingestCache.device(device.id)));
    return devices.every(({ batch }, at) => present[at] != null && stillTakes(present[at], batch));
  }

  #known(line: ImportLine): FoundDevice | undefined {
    const { revision } = this.#deps.ingestCache;
    if (revision !== this.#foundAt) {
      this.#found.clear();
      this.#foundAt = revision;
    }
    const name = this.#device === null ? nameIn(line) : this.#device.id;
    return typeof name === 'string' ? this.#found.get(name) : undefined;
  }

  async #find(line: ImportLine): Promise<FoundDevice> {
    if (this.#device !== null) {
      const device = await this.#deps.devices.named(this.#access, this.#device.id, 'CONFIGURE');
      this.#found.set(device.id, device);
      return device;
    }
    if (line.error !== null) return { code: 'INVALID_ENTRY', message: line.error };
    const named = nameIn(line);
    if (typeof named !== 'string' || named === '')
      return { code: 'MISSING_DEVICE', message: 'The line has no "device": a serial number or device id.' };
    if (!isPossibleSerial(named)) return unknownDevice(named);
    const name = flatCopy(named);
    const found = await this.#deps.devices
      .named(this.#access, name, 'CONFIGURE')
      .catch((thrown: unknown): FoundDevice => {
        if (!(thrown instanceof AppError)) throw thrown;
        if (thrown.code === 'AMBIGUOUS_DEVICE') return { code: thrown.code, message: thrown.message };
        if (thrown.code !== 'NOT_FOUND' && thrown.code !== 'FORBIDDEN') throw thrown;
        return unknownDevice(name);
      });
    this.#found.set(name, found);
    return found;
  }
}

/** As what it is read: some write serial numbers without quotes. */
function nameIn({ device }: ImportLine): unknown {
  return typeof device === 'number' ? String(device) : device;
}

function unknownDevice(name: string): Pick<RefusedLine, 'code' | 'message'> {
  const message = `No device that this token may configure has the name "${name.slice(0, 64)}".`;
  return { code: 'UNKNOWN_DEVICE', message };
}

/** For what is kept: a part of a text holds the whole text, a piece of the file, in memory. */
function flatCopy<T>(kept: T): T {
  return JSON.parse(JSON.stringify(kept)) as T;
}
