import { AppError, badInput } from '../../errors.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { FilePlaces } from '../../scheduling/file-places.ts';
import type { BackgroundTurns } from '../../scheduling/turns.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { Access } from '../access/access.ts';
import { findProduct, lockProduct } from '../access/find-product.ts';
import type { Authenticator } from '../accounts/authenticator.ts';
import { changeOfDevices } from '../devices/change-of-devices.ts';
import { type OnExisting, type PreparedWish, prepareWish } from '../devices/device-wish.ts';
import { type Settled, settleDevices, storeSettled } from '../devices/settle-devices.ts';
import { ConfigurationFieldSchema } from '../entities/configuration-field.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import { PlanRoom } from '../plans/plan-room.ts';
import { DEFAULT_PLAN, type Plans } from '../plans/plans.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { flatCopy } from '../text/flat-copy.ts';
import { type DeviceLine, deviceLines } from './device-lines.ts';
import { lineWish, serialText } from './line-wish.ts';
import { runImport } from './run-import.ts';
import { must } from '../../must.ts';

/** A line that was refused. */
interface RefusedDevice {
  /** Line in the file, from 1. */
  line: number;
  /** As it was written; null: it has none, or cannot be read. */
  serialNumber: string | null;
  code: string;
  message: string;
}

/** The outcome of a file of devices. */
interface DeviceImportOutcome {
  lines: number;
  created: number;
  updated: number;
  /** Devices that were there, and stay as they are. */
  kept: number;
  refusedLines: number;
  /** The first 10,000 of these. */
  refused: RefusedDevice[];
}

/** How a file is to be taken. */
export interface DeviceImportOptions {
  productId: string;
  kind: 'csv' | 'ndjson';
  onExisting: OnExisting;
  /** The plan of new devices whose line names none. */
  plan: string | null;
  /** True: says the outcome and stores nothing. */
  dryRun: boolean;
}

interface DeviceImporterDeps {
  authenticator: Pick<Authenticator, 'follow'>;
  database: Database;
  cluster: Cluster;
  plans: Plans;
  atRisk: Pick<HistoryAtRisk, 'keepsLess'>;
  shares: Pick<FairScheduler, 'backgroundOf'>;
  now: () => number;
}

/** Maximum lines per file of devices. */
const MAX_LINES = 100_000;
/** Maximum refused lines that are listed. */
export const MAX_LISTED = 10_000;
/** Maximum lines, and their characters, per transaction: on SQLite it delays recording. */
const MAX_BATCH = 500;
const MAX_BATCH_CHARACTERS = 1_000_000;
/** Maximum time of reading before yielding. */
const SLICE_MS = 5;

/** Makes and changes devices by a file, line by line; sending it again is harmless (CONTRACT 11). */
export class DeviceImporter {
  readonly #deps: DeviceImporterDeps;
  readonly #places = new FilePlaces('imports of devices');

  constructor(deps: DeviceImporterDeps) {
    this.#deps = deps;
  }

  /**
   * Takes a file in batches of lines, each in a transaction of its own; a line that is refused does not keep the others
   * out. Rejects with BAD_USER_INPUT for a file of another kind, with an unknown column or too many lines, with
   * NOT_FOUND or FORBIDDEN when the token may not (or no longer) CONFIGURE the product, and with UNAVAILABLE; the
   * details of an error have the counts so far. OVERLOADED when too many are in progress.
   */
  async run(access: Access, options: DeviceImportOptions, text: AsyncIterable<string>): Promise<DeviceImportOutcome> {
    const { shares, authenticator } = this.#deps;
    const turns = shares.backgroundOf(access);
    const run = new DeviceImportRun(this.#deps, { access, options, turns, accessNow: authenticator.follow(access) });
    const counts = (): Record<string, unknown> => {
      const { refused: _, ...others } = run.outcome;
      return others;
    };
    await runImport({ access, places: this.#places, counts }, async () => {
      await turns.next();
      await run.take(text);
    });
    return run.outcome;
  }
}

interface Asked {
  access: Access;
  options: DeviceImportOptions;
  turns: BackgroundTurns;
  /** The present access of the token. */
  accessNow: () => Promise<Access>;
}

type KnownFields = Parameters<typeof lineWish>[1];

/** One import in progress. */
class DeviceImportRun {
  readonly outcome: DeviceImportOutcome = { lines: 0, created: 0, updated: 0, kept: 0, refusedLines: 0, refused: [] };
  readonly #deps: DeviceImporterDeps;
  readonly #asked: Asked;
  /** Identity of a serial number → its first line in the file. */
  readonly #seen = new Map<string, number>();
  #batch: { line: number; prepared: PreparedWish }[] = [];
  #characters = 0;
  /** Of a dry run, which takes room that nothing keeps. */
  #room: PlanRoom | null = null;
  #sliceFrom = performance.now();

  constructor(deps: DeviceImporterDeps, asked: Asked) {
    this.#deps = deps;
    this.#asked = asked;
  }

  async take(text: AsyncIterable<string>): Promise<void> {
    const { access, options } = this.#asked;
    const { database, plans } = this.#deps;
    const plan = plans.bySlug(options.plan ?? DEFAULT_PLAN, 'plan').slug;
    const em = database.read();
    const product = await findProduct(em, access, options.productId, 'CONFIGURE');
    const rows = await em.find(ConfigurationFieldSchema, { product: product.key });
    const fields = new Map(rows.map(({ key, identifier, type }) => [identifier, { key, type }]));
    const reader = deviceLines(options.kind, new Set(fields.keys()));
    for await (const piece of text) {
      this.#characters += piece.length;
      await this.#add(reader.read(piece), fields, plan);
      if (this.#characters >= MAX_BATCH_CHARACTERS) await this.#flush();
    }
    await this.#add(reader.end(), fields, plan);
    await this.#flush();
    this.outcome.refused.sort((one, other) => one.line - other.line);
  }

  async #add(lines: Iterable<DeviceLine>, fields: KnownFields, plan: string): Promise<void> {
    for (const line of lines) {
      if (this.outcome.lines === MAX_LINES)
        throw badInput(`A file of devices has at most ${MAX_LINES} lines; send the rest as another file.`);
      this.outcome.lines += 1;
      this.#judge(line, fields, plan);
      if (this.#batch.length === MAX_BATCH) await this.#flush();
      else if (performance.now() - this.#sliceFrom >= SLICE_MS) await this.#giveWay();
    }
  }

  #judge({ line, parts, error }: DeviceLine, fields: KnownFields, plan: string): void {
    const serialNumber = serialText(parts.serialNumber);
    if (error !== null) return this.#refuse(line, serialNumber, 'INVALID_LINE', error);
    try {
      const prepared = prepareWish(lineWish(parts, fields, this.#deps.plans), plan);
      const first = this.#seen.get(prepared.identity);
      if (first !== undefined)
        return this.#refuse(
          line,
          serialNumber,
          'DUPLICATE_IN_REQUEST',
          `Line ${first} has this serial number already.`,
        );
      this.#seen.set(flatCopy(prepared.identity), line);
      this.#batch.push({ line, prepared });
    } catch (thrown) {
      if (!(thrown instanceof AppError)) throw thrown;
      this.#refuse(line, serialNumber, thrown.code, thrown.message);
    }
  }

  #refuse(line: number, serialNumber: string | null, code: string, message: string): void {
    this.outcome.refusedLines += 1;
    if (this.outcome.refused.length === MAX_LISTED) return;
    const shown = serialNumber === null ? null : flatCopy(serialNumber.slice(0, 200).toWellFormed());
    this.outcome.refused.push({ line, serialNumber: shown, code, message: flatCopy(message) });
  }

  async #giveWay(): Promise<void> {
    this.#asked.turns.spend(performance.now() - this.#sliceFrom);
    await yieldToEventLoop();
    await this.#asked.turns.next();
    this.#sliceFrom = performance.now();
  }

  async #flush(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    await this.#giveWay();
    if (batch.length > 0) await this.#store(batch);
    this.#sliceFrom = performance.now();
  }

  async #store(batch: readonly { line: number; prepared: PreparedWish }[]): Promise<void> {
    const { database, cluster, plans, atRisk, now } = this.#deps;
    const { options, turns, accessNow } = this.#asked;
    const { onExisting, productId, dryRun } = options;
    const { dialect } = database;
    const access = await accessNow();
    const wishes = batch.map(({ prepared }) => prepared);
    const common = { dialect, onExisting, pathOf: () => 'serialNumber', asker: access, atRisk };
    const store = async (): Promise<Settled[]> => {
      const done = await database.write(async (em) => {
        const product = await lockProduct(em, access, productId, 'CONFIGURE');
        const room = new PlanRoom({ em, access, plans, workspaceId: product.workspace.id, lock: true });
        const settled = await settleDevices(wishes, { ...common, em, product, room });
        await storeSettled({ em, dialect, product, createdAt: now() }, settled);
        return { id: product.id, workspaceId: product.workspace.id, settled };
      }, access);
      const changed = done.settled.flatMap((one) =>
        one.kind === 'created' ? one.row.id : one.kind === 'updated' ? one.present.id : [],
      );
      const place = { productId: done.id, workspaceId: done.workspaceId };
      if (changed.length > 0) await cluster.changed([changeOfDevices(place, changed)]);
      return done.settled;
    };
    const tell = async (): Promise<Settled[]> => {
      const em = database.read();
      const product = await findProduct(em, access, productId, 'CONFIGURE');
      const room = (this.#room ??= new PlanRoom({ em, access, plans, workspaceId: product.workspace.id, lock: false }));
      return settleDevices(wishes, { ...common, em, product, room, readOnly: true });
    };
    const settled = await turns.piece(dryRun ? tell : store);
    for (const [at, one] of settled.entries()) {
      const { line, prepared } = must(batch[at]);
      if (one.kind === 'refused') this.#refuse(line, prepared.wish.serialNumber, one.error.code, one.error.message);
      else this.outcome[one.kind] += 1;
    }
  }
}
