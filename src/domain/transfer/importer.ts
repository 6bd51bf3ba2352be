import { AppError } from '../../errors.ts';
import { flatCopy } from '../text/flat-copy.ts';
import { runImport } from './run-import.ts';
import type { Access } from '../access/access.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { DeviceFinder } from '../ingest-cache/device-finder.ts';
import type { DeviceInfo, IngestCache } from '../ingest-cache/ingest-cache.ts';
import { isPossibleSerial } from '../ingest-cache/device-names.ts';
import { changed, type DeviceBatch, type Recorder, stillTakes } from '../measurements/recorder.ts';
import type { RuleBook } from '../alerts/rule-book.ts';
import { unjudged } from '../alerts/unjudged.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import type { BackgroundTurns } from '../../scheduling/turns.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { type Ahead, aheadOfAll } from '../times/ahead.ts';
import { FilePlaces } from '../../scheduling/file-places.ts';
import {
  type FoundDevice,
  ImportBatch,
  type ImportBatchDeps,
  MAX_REJECTED,
  type RefusedLine,
  SeenKeys,
} from './import-batch.ts';
import { importFormat, type ImportLine } from './import-format.ts';
import type { ImportOptions } from './import-options.ts';
import { ImportPreview, type PreviewedValue } from './import-preview.ts';
import { must } from '../../must.ts';

/** Outcome of a file: lines stored whole, lines with any rejection, values stored. */
interface ImportOutcome {
  lines: number;
  stored: number;
  refused: number;
  values: number;
  /** Values that were replaced by a later one of the file with the same field and time. */
  replaced: number;
  /** The first 1,000. */
  rejected: RefusedLine[];
  /** The times that lie ahead of the server's clock; left out: none. */
  ahead?: Ahead;
  /** The first lines value by value; of a dry run only. */
  preview?: readonly PreviewedValue[];
}

interface ImporterDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  ingestCache: Pick<IngestCache, 'device' | 'revision'>;
  devices: DeviceFinder;
  recorder: Recorder;
  store: Pick<MeasurementStore, 'compactSoon'>;
  shares: FairScheduler;
  rules: Pick<RuleBook, 'present'>;
  /** Age up to which values are published live. */
  liveWindowMs: number;
  maxFutureMs: number;
  now: () => number;
}

/**
 * Prices of a file for the event loop and the database, in ms: of a character (an empty line is one), of a value (half
 * of it on the writing thread), and at most of a device's look-up.
 */
const CHARACTER_MS = 0.00007;
const VALUE_MS = 0.005;
const MOST_LOOK_UP_MS = 3;
/** Maximum time of work before yielding. */
const SLICE_MS = 5;
/** Maximum attempts to store a batch whose devices and fields keep changing. */
const MOST_ATTEMPTS = 10;

/** Imports a file of measurements, line by line in constant memory; sending it again is harmless (CONTRACT 8). */
export class Importer {
  readonly #deps: ImporterDeps;
  readonly #places = new FilePlaces('imports');

  constructor(deps: ImporterDeps) {
    this.#deps = deps;
  }

  /**
   * Runs an import, or says what it would do; `device` null: each line names its device by serial number or id. Rejects
   * with BAD_USER_INPUT for a file of another kind and with UNAVAILABLE; also when the token is revoked meanwhile, may no
   * longer CONFIGURE a device of the next commit, or `device` is gone. The details of an error have `stored` so far.
   * OVERLOADED when too many are in progress.
   */
  async run(
    access: Access,
    options: ImportOptions,
    device: DeviceInfo | null,
    text: AsyncIterable<string>,
  ): Promise<ImportOutcome> {
    const format = importFormat(options.kind, options.columns);
    const turns = this.#deps.shares.backgroundOf(access);
    const accessNow = this.#deps.authenticator.follow(access);
    const run = new ImportRun(this.#deps, { access, turns, device, accessNow, options });
    const counts = (): Record<string, unknown> => {
      const { rejected: _, preview: __, ...others } = run.outcome;
      return others;
    };
    await runImport({ access, places: this.#places, counts }, async () => {
      await turns.next();
      for await (const piece of text) await run.take(format.read(piece), piece.length);
      await run.take(format.end(), 0);
      await run.commit();
      // Ignore failures: the values are stored anyway.
      if (options.dryRun !== true) this.#deps.store.compactSoon().catch(() => {});
    });
    return run.outcome;
  }
}

interface Asked {
  access: Access;
  turns: BackgroundTurns;
  device: DeviceInfo | null;
  /** The present access of the token. */
  accessNow: () => Promise<Access>;
  options: ImportOptions;
}

/** One import in progress. */
class ImportRun {
  readonly outcome: ImportOutcome = {
    lines: 0,
    stored: 0,
    refused: 0,
    values: 0,
    replaced: 0,
    rejected: [],
  };
  readonly #deps: ImporterDeps & ImportBatchDeps;
  readonly #asked: Asked;
  /** Devices by the names in this batch, as they were at `#foundAt`. */
  readonly #found = new Map<string, FoundDevice>();
  #foundAt: number;
  readonly #seen = new SeenKeys();
  #batch: ImportBatch;
  /** Oldest revision of the devices found for the batch. */
  #batchFrom: number;
  /** Estimated price and measured time of the work since the last yield. */
  #slice = { spentMs: 0, tookMs: 0 };

  constructor(deps: ImporterDeps, asked: Asked) {
    const preview = asked.options.dryRun === true ? new ImportPreview() : null;
    if (preview !== null) this.outcome.preview = preview.values;
    this.#deps = { ...deps, timeZone: asked.options.timeZone ?? null, preview };
    this.#asked = asked;
    this.#foundAt = this.#batchFrom = deps.ingestCache.revision;
    this.#batch = new ImportBatch(this.#deps, this.#seen);
  }

  /** `characters`: of the lines, whether valid or not. */
  async take(lines: Iterable<ImportLine>, characters: number): Promise<void> {
    if (this.#batch.isLong) await this.commit();
    this.#slice.spentMs += characters * CHARACTER_MS;
    this.#batch.characters += characters;
    await this.#add(lines, () => this.commit());
    if (this.#isSliceOver()) await this.#giveWay();
    if (this.#batch.isLong) await this.commit();
  }

  async #add(lines: Iterable<ImportLine>, whenFull: () => Promise<void>): Promise<void> {
    let from = performance.now() - this.#slice.tookMs;
    for (const line of lines) {
      let found = this.#known(line);
      if (found === undefined) {
        const started = performance.now();
        found = await this.#find(line);
        this.#slice.spentMs += Math.min(performance.now() - started, MOST_LOOK_UP_MS);
      }
      this.#batch.add(line, found);
      this.#slice.spentMs += Math.max(1, line.values.length) * VALUE_MS;
      this.#slice.tookMs = performance.now() - from;
      if (!this.#batch.isFull && !this.#isSliceOver()) continue;
      await this.#giveWay();
      if (this.#batch.isFull) await whenFull();
      from = performance.now();
    }
    this.#slice.tookMs = performance.now() - from;
  }

  #isSliceOver(): boolean {
    return Math.max(this.#slice.spentMs, this.#slice.tookMs) >= SLICE_MS;
  }

  /**
   * Charges the work and yields: SQLite answers look-ups before the event loop turns, so thousands of them would block
   * others.
   */
  async #giveWay(): Promise<void> {
    // Charge the measured time if it is longer, as on a busy machine.
    this.#asked.turns.spend(Math.max(this.#slice.spentMs, this.#slice.tookMs));
    this.#slice = { spentMs: 0, tookMs: 0 };
    await yieldToEventLoop();
    await this.#asked.turns.next();
  }

  /** Commits the batch and counts its lines. */
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

  /** Stores the batch, unless it is tried; false, with nothing stored, when a device or field is gone by now. */
  async #store(): Promise<boolean> {
    const { devices } = this.#batch;
    if (devices.length === 0) return true;
    const given = devices.map(({ device, batch }) => ({ batch, productKey: device.product.key }));
    const receipt = { batches: await unjudged(this.#deps.rules, given) };
    const isAllowed = async (): Promise<boolean> => {
      const access = await this.#asked.accessNow();
      for (const { device } of devices) access.requireDevice(device, 'CONFIGURE');
      return this.#batchFrom === this.#deps.ingestCache.revision || (await this.#allThere(devices));
    };
    const requireRight = async (): Promise<void> => {
      if (!(await isAllowed())) throw changed();
    };
    const store = async (): Promise<boolean> => {
      if (!(await isAllowed())) return false;
      if (this.#asked.options.dryRun === true) return true;
      await this.#deps.recorder.commit(receipt, { product: must(devices[0]).device.product, requireRight });
      return true;
    };
    // Give up the piece while waiting for room, so that others can work.
    return retryWhileOverloaded(() => this.#asked.turns.piece(store));
  }

  async #allThere(devices: readonly DeviceBatch[]): Promise<boolean> {
    // Ask together, for few queries.
    const present = await Promise.all(devices.map(({ device }) => this.#deps.ingestCache.device(device.id)));
    return devices.every(({ batch }, at) => present[at] != null && stillTakes(present[at], batch));
  }

  #known(line: ImportLine): FoundDevice | undefined {
    const { revision } = this.#deps.ingestCache;
    if (revision !== this.#foundAt) {
      this.#found.clear();
      this.#foundAt = revision;
    }
    const name = this.#asked.device?.id ?? nameIn(line);
    return typeof name === 'string' ? this.#found.get(name) : undefined;
  }

  async #find(line: ImportLine): Promise<FoundDevice> {
    const { access, device } = this.#asked;
    if (device !== null) {
      const current = await this.#deps.devices.named(access, device.id, 'CONFIGURE');
      this.#found.set(current.id, current);
      return current;
    }
    if (line.error !== null) return { code: 'INVALID_ENTRY', message: line.error };
    const named = nameIn(line);
    if (typeof named !== 'string' || named === '')
      return { code: 'MISSING_DEVICE', message: 'The line has no "device": a serial number or device id.' };
    if (!isPossibleSerial(named)) return unknownDevice(named);
    const name = flatCopy(named);
    const found = await this.#deps.devices.named(access, name, 'CONFIGURE').catch((thrown: unknown): FoundDevice => {
      if (!(thrown instanceof AppError)) throw thrown;
      if (thrown.code === 'AMBIGUOUS_DEVICE') return { code: thrown.code, message: thrown.message };
      if (thrown.code !== 'NOT_FOUND' && thrown.code !== 'FORBIDDEN') throw thrown;
      return unknownDevice(name);
    });
    this.#found.set(name, found);
    return found;
  }
}

/** The device's name, also when written as a number: some files have serial numbers without quotes. */
function nameIn({ device }: ImportLine): unknown {
  return typeof device === 'number' ? String(device) : device;
}

function unknownDevice(name: string): Pick<RefusedLine, 'code' | 'message'> {
  const message = `No device that this token may configure has the name "${name.slice(0, 64)}".`;
  return { code: 'UNKNOWN_DEVICE', message };
}
