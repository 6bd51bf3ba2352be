import { AppError } from '../../errors.ts';
import type { DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { type Ahead, aheadOf } from '../times/ahead.ts';
import type { TimeBounds } from '../times/entry-time.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import { type Accepted, checkEntry, isRejection, lacksTime, type Rejection } from './entry.ts';
import type { Feed } from '../live/feed.ts';
import type { LongReadings } from './long-readings.ts';
import { fieldsToWrite, type JudgedEntries, whatIsKept } from './kept-entries.ts';
import { lastOfEachKey } from './replaced-entries.ts';
import { type Part, type ReceiptParts, textsOf } from './receipt-parts.ts';
import type { ReceiptTimes } from './receipt-times.ts';
import type { Batch, CallOutcome, DeviceRemoval, MeasurementStore, Receipt, Rewrite } from '../ports/store.ts';
import { withinRetention } from './retention.ts';
import { StoredAlready } from './stored-already.ts';
import type { Suggestions } from './suggestions.ts';
import type { WriteLimiter } from './write-limiter.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import type { Amount, WriteShares } from '../../scheduling/write-shares.ts';

/** What changes while somebody waits is looked at again so often. */
const MOST_ATTEMPTS = 3;
/** Values of what nobody waits for. */
const MOST_IN_TURN = 2_000;

/** What became of a request: the number of values stored, and each entry that was not. */
export interface RecordOutcome {
  stored: number;
  /** In the order of the entries. */
  rejected: Rejection[];
  /** What of it lies ahead of the server's clock; left out: nothing. */
  ahead?: Ahead;
}

interface RecordOptions {
  /** In ms UTC; what is too far in the future counts from here. */
  receivedAt: number;
  /** Whether the write limit applies: on the record endpoint only. */
  limited: boolean;
  /** Whose messages are given; left out: those of the record endpoint. */
  door?: TimeBounds['door'];
  /** Asked again after any waiting between the caller's own check and the commit: the device as it is then; rejects to refuse. */
  recheck?: () => Promise<DeviceInfo>;
}

/** What the domain does after a commit needs the device of each batch as well. */
export interface DeviceBatch {
  device: DeviceInfo;
  batch: Batch;
}

/** Whose receipt is committed. */
interface Committing {
  product: ProductInfo;
  /** Of the product with most of them, where there are several. */
  texts?: number;
  /** It may take minutes: no device waits for it. */
  isPatient?: boolean;
  /** Asked again before each part, and after any waiting; rejects to refuse, also when what it is for is gone. */
  requireRight: () => Promise<unknown>;
}

/** Whose values a replay changes; `requireRight` as above. */
type Rewriting = Pick<Committing, 'product'> & { requireRight: () => Promise<void> };

/** One commit of a replay: how many values come, and the bytes that are written again for them. */
interface Piece extends Rewrite {
  values: number;
  bytes: number;
}

interface RecorderDeps {
  store: MeasurementStore;
  limiter: WriteLimiter;
  shares: WriteShares;
  longReadings: LongReadings;
  parts: ReceiptParts;
  feed: Feed;
  suggestions: Suggestions;
  receiptTimes: ReceiptTimes;
  maxFutureMs: number;
  /** Told of each refused entry of the record endpoint. */
  onRejected?: (code: Rejection['code']) => void;
}

/** THE write path: untrusted entries in, an outcome for each of them out, after the commit is durable (CONTRACT 3). */
export class Recorder {
  readonly #deps: RecorderDeps;
  /** What was committed, and paid for, in parts. */
  readonly #inParts = new WeakSet<readonly Batch[]>();
  readonly #underWay = new InFlightLimit();
  readonly #storedAlready: StoredAlready;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#storedAlready = new StoredAlready(deps.store);
  }

  /**
   * Stores the valid entries of one device in one transaction, unless very much is written again for them (`commit`).
   * Rejects with OVERLOADED or UNAVAILABLE: nothing is counted for the write limit, nor stored, but parts of such.
   */
  async record(device: DeviceInfo, entries: readonly unknown[], options: RecordOptions): Promise<RecordOutcome> {
    const { receiptTimes, suggestions, onRejected } = this.#deps;
    const { receivedAt } = options;
    const defaultTime = entries.some(lacksTime) ? receiptTimes.take([device.key], receivedAt) : receivedAt;
    let present = device;
    for (let attempts = 0; attempts < MOST_ATTEMPTS && present.key === device.key; attempts += 1) {
      const outcome = await this.#attempt(present, entries, defaultTime, options);
      if ('stored' in outcome) {
        for (const rejection of outcome.rejected) {
          suggestions.note(present.product, rejection, entries[rejection.index], receivedAt);
          onRejected?.(rejection.code);
        }
        return outcome;
      }
      present = outcome;
    }
    throw changed();
  }

  /** The outcome; or the device as it is now, for which the entries are to be looked at again. */
  async #attempt(
    device: DeviceInfo,
    entries: readonly unknown[],
    defaultTime: number,
    options: RecordOptions,
  ): Promise<RecordOutcome | DeviceInfo> {
    const { limiter, shares, maxFutureMs } = this.#deps;
    const { receivedAt, limited, door = 'record', recheck = async () => device } = options;
    const bounds = { door, latest: receivedAt + maxFutureMs };
    const rejected: Rejection[] = [];
    const batch: Batch = { deviceKey: device.key, receivedAt, fieldKeys: [], timestamps: [], values: [] };
    const indexes: number[] = [];
    for (let index = 0; index < entries.length; index += 1) {
      const checked = checkEntry(device.product, entries[index], index, defaultTime, bounds);
      const outcome = withinRetention(device.keeps, checked, index, receivedAt);
      if (isRejection(outcome)) rejected.push(outcome);
      else {
        addToBatch(batch, outcome);
        indexes.push(index);
      }
    }
    if (batch.fieldKeys.length === 0) return { stored: 0, rejected };
    const asked = this.amountOf([batch], device.product);
    const turn = shares.turn(device.workspaceId, asked);
    if (turn !== null) {
      await turn;
      const present = await recheck();
      if (!stillTakes(present, batch)) return present;
    }
    const lastOf = lastOfEachKey(batch);
    const judged: JudgedEntries = { device, batch, indexes, lastOf, rejected };
    if (!limited || device.writeIntervalMs === 0) {
      const kept = whatIsKept(judged, null);
      await this.#store(device, kept, asked, recheck);
      return outcomeOf(kept, rejected, defaultTime);
    }
    const looking = this.#storedAlready.find(device, batch, defaultTime);
    const already = looking === null ? null : await looking;
    const fieldKeys = fieldsToWrite(judged, already);
    const reserving = limiter.reserve(device.key, fieldKeys, device.writeIntervalMs);
    const allowed = Array.isArray(reserving) ? reserving : await reserving;
    const taken = fieldKeys.filter((_, nth) => allowed[nth]);
    const kept = whatIsKept(judged, { already, taken: taken.length === fieldKeys.length ? null : new Set(taken) });
    let isStored = false;
    try {
      if (already !== null || allowed !== reserving) {
        const present = await recheck();
        if (!stillTakes(present, kept)) return present;
      }
      if (kept.fieldKeys.length > 0) {
        await this.#store(device, kept, asked, recheck);
        this.#storedAlready.note(kept);
      }
      isStored = true;
    } finally {
      if (!isStored) limiter.giveBack(device.key, taken);
    }
    return outcomeOf(kept, rejected, defaultTime);
  }

  #store({ product }: DeviceInfo, batch: Batch, asked: Amount, recheck: () => Promise<DeviceInfo>): Promise<void> {
    const batches = [batch];
    const amount = (): Amount => this.amountOf(batches, product, { isStored: true });
    const requireRight = async (): Promise<void> => {
      if (!stillTakes(await recheck(), batch)) throw changed();
    };
    const store = (): Promise<number> => this.commit({ batches }, { product, requireRight });
    return this.#deps.shares.storing(product.workspaceId, { asked, amount, store });
  }

  /**
   * What the batches bring into the database; what very much is written again for is paid for part by part, but not what
   * turned out to be so much when it was stored.
   */
  amountOf(batches: readonly Batch[], product: ProductInfo, { isStored = false } = {}): Amount {
    const { longReadings, parts } = this.#deps;
    let [values, rewritten] = [0, 0];
    const isDoubtful = isStored
      ? this.#inParts.has(batches)
      : parts.isDoubtful(product.workspaceId, batches, textsOf(product));
    for (const batch of batches) {
      values += batch.fieldKeys.length;
      if (!isDoubtful) rewritten += longReadings.bytesFor(batch);
    }
    return { values, rewritten };
  }

  /**
   * Commits a receipt whose values are paid for, as one whole, unless very much is written again for it (see
   * `ReceiptParts`); then tells the live feed. Resolves as the store does, without what was paid for in parts.
   */
  async commit(
    receipt: Receipt,
    { product, texts = textsOf(product), isPatient = false, requireRight }: Committing,
  ): Promise<number> {
    const { parts } = this.#deps;
    const { workspaceId } = product;
    const { batches } = receipt;
    const append = (whole: Receipt): Promise<number> =>
      this.#underWay.of(workspaceId, whole, { requireRight, store: () => this.#append(whole) });
    if (!parts.isDoubtful(workspaceId, batches, texts))
      return parts.unasked(workspaceId, batches, texts, () => append(receipt));
    this.#inParts.add(batches);
    let tookMs = 0;
    const all = isPatient ? parts.of(workspaceId, receipt, texts) : parts.ofRequest(workspaceId, receipt, texts);
    for (const { receipt: part, bytes } of await all) {
      // What is in the line of the parts is bounded by that.
      if (bytes > 0) await parts.inTurn(workspaceId, { values: 0, bytes }, () => this.#appendPart(part, requireRight));
      else {
        await requireRight();
        tookMs += await append(part);
      }
    }
    return tookMs;
  }

  /**
   * Commits what a replay changes, which nobody waits for: in one commit, or in small ones if it is much, each in the turn of
   * its workspace, and again while that is refused as OVERLOADED, unless `requireRight` rejects then. `begun`: the calls as
   * they are from the first of several commits on. Resolves as `rewrite` of the store does.
   */
  async rewriteInTurns(rewrite: Rewrite, begun: CallOutcome[], { product, requireRight }: Rewriting): Promise<number> {
    const { parts, store, feed } = this.#deps;
    const { workspaceId } = product;
    const { batches, removals, shared, calls } = rewrite;
    const all = (): Promise<Part[]> => parts.of(workspaceId, { batches }, textsOf(product), MOST_IN_TURN);
    const pieces = piecesOf(await retryWhileOverloaded(all), removals);
    if (pieces.length > 1) pieces[0]!.calls = begun;
    Object.assign(pieces.at(-1)!, { shared, calls });
    let left = 0;
    for (const piece of pieces) {
      const values = piece.removals.reduce((sum, { values: { length } }) => sum + length, piece.values);
      const write = async (): Promise<number> => {
        await requireRight();
        const from = performance.now();
        left += await store.rewrite(piece);
        if (piece.batches.length > 0) feed.recorded();
        return performance.now() - from;
      };
      await retryWhileOverloaded(() => parts.inTurn(workspaceId, { values, bytes: piece.bytes }, write));
    }
    return left;
  }

  async #appendPart(receipt: Receipt, requireRight: () => Promise<unknown>): Promise<number> {
    await requireRight();
    return this.#append(receipt);
  }

  async #append(receipt: Receipt): Promise<number> {
    const tookMs = await this.#deps.store.append(receipt);
    this.#deps.feed.recorded();
    return tookMs;
  }
}

/** What goes comes with the last of what is written, and is cut as that is. */
function piecesOf(parts: readonly Part[], removals: readonly DeviceRemoval[]): Piece[] {
  const pieces = parts.map(({ receipt: { batches }, values, bytes }): Piece => {
    return { batches, removals: [], shared: [], calls: [], values, bytes };
  });
  let room = MOST_IN_TURN;
  for (const { deviceKey, ...columns } of removals)
    for (let from = 0; from < columns.values.length;) {
      if (room === 0) {
        pieces.push({ batches: [], removals: [], shared: [], calls: [], values: 0, bytes: 0 });
        room = MOST_IN_TURN;
      }
      const to = Math.min(from + room, columns.values.length);
      pieces.at(-1)!.removals.push({
        deviceKey,
        fieldKeys: columns.fieldKeys.slice(from, to),
        timestamps: columns.timestamps.slice(from, to),
        values: columns.values.slice(from, to),
      });
      room -= to - from;
      from = to;
    }
  return pieces;
}

/** A burst gets receipt times that are ahead of the clock themselves. */
function outcomeOf({ timestamps, receivedAt }: Batch, rejected: Rejection[], receiptTime: number): RecordOutcome {
  const outcome = { stored: timestamps.length, rejected };
  const ahead = aheadOf(timestamps, Math.max(receivedAt, receiptTime));
  return ahead === null ? outcome : { ...outcome, ahead };
}

/** Where something was removed while values for it waited. */
export function changed(): AppError {
  return new AppError('OVERLOADED', 'The device or its fields have been changed in the meantime; send it again.');
}

/** Who waits may find another device under the name, or a field gone: its values would be acknowledged, and lost. */
export function stillTakes(present: DeviceInfo, { deviceKey, fieldKeys }: Batch): boolean {
  return present.key === deviceKey && fieldKeys.every((key) => present.product.fieldsByKey.has(key));
}

/** Appends an accepted entry to the columns of its device's batch. */
export function addToBatch(batch: Batch, accepted: Accepted): void {
  batch.fieldKeys.push(accepted.field.key);
  batch.timestamps.push(accepted.timestamp);
  batch.values.push(accepted.value);
}
