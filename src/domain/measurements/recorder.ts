import { AppError } from '../../errors.ts';
import type { DeviceInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { type Ahead, aheadOf } from '../times/ahead.ts';
import type { TimeBounds } from '../times/entry-time.ts';
import { retryWhileOverloaded } from '../../scheduling/retry-while-overloaded.ts';
import { type Accepted, checkEntry, isRejection, lacksTime, type Rejection } from './entry.ts';
import type { RecordedFeed } from '../live/recorded-feed.ts';
import { fieldsToWrite, type JudgedEntries, whatIsKept } from './kept-entries.ts';
import { lastOfEachKey } from './replaced-entries.ts';
import type { ReceiptTimes } from './receipt-times.ts';
import type { Batch, CallOutcome, MeasurementStore, Receipt, Rewrite } from '../ports/store.ts';
import { withinRetention } from './retention.ts';
import { StoredAlready } from './stored-already.ts';
import type { Suggestions } from './suggestions.ts';
import type { ValueTally } from './value-tally.ts';
import type { WriteLimiter } from './write-limiter.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import type { Amount, WriteShares } from '../../scheduling/write-shares.ts';
import { must } from '../../must.ts';

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

/** The product whose receipt is committed, or whose values a replay changes. */
interface Committing {
  product: ProductInfo;
  /** Asked again after any waiting; rejects to refuse, also when what it is for is gone. */
  requireRight: () => Promise<unknown>;
}

interface RecorderDeps {
  store: MeasurementStore;
  limiter: WriteLimiter;
  shares: WriteShares;
  feed: RecordedFeed;
  suggestions: Suggestions;
  /** Told of what was stored; left out: nothing is counted. */
  valueTally?: Pick<ValueTally, 'note'>;
  receiptTimes: ReceiptTimes;
  maxFutureMs: number;
  /** Told of each refused entry of the record endpoint. */
  onRejected?: (code: Rejection['code']) => void;
}

/** THE write path: untrusted entries in, an outcome for each of them out, after the commit is durable (CONTRACT 3). */
export class Recorder {
  readonly #deps: RecorderDeps;
  readonly #underWay = new InFlightLimit();
  readonly #storedAlready: StoredAlready;

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#storedAlready = new StoredAlready(deps.store);
  }

  /**
   * Stores the valid entries of one device in one transaction. Rejects with OVERLOADED or UNAVAILABLE: then nothing is stored,
   * nor counted for the write limit.
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
    const asked = amountOf([batch]);
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
    const requireRight = async (): Promise<void> => {
      if (!stillTakes(await recheck(), batch)) throw changed();
    };
    const store = (): Promise<number> => this.commit({ batches: [batch] }, { product, requireRight });
    return this.#deps.shares.storing(product.workspaceId, asked, store);
  }

  /** Commits a receipt whose write shares are charged, then tells the live feed. Resolves as the store does. */
  commit(receipt: Receipt, { product, requireRight }: Committing): Promise<number> {
    return this.#underWay.of(product.workspaceId, receipt, {
      requireRight,
      store: () => this.#append(product.workspaceId, receipt),
    });
  }

  /**
   * Commits what a replay changes, which nobody waits for: in one commit, or in small ones if it is much, each in the turn of
   * its workspace, and again while that is refused as OVERLOADED, unless `requireRight` rejects then. `begun`: the calls as
   * they are from the first of several commits on. Resolves as `rewrite` of the store does.
   */
  async rewriteInTurns(rewrite: Rewrite, begun: CallOutcome[], { product, requireRight }: Committing): Promise<number> {
    const { shares, store, feed } = this.#deps;
    const { workspaceId } = product;
    const { shared, calls } = rewrite;
    const pieces = piecesOf(rewrite);
    if (pieces.length > 1) must(pieces[0]).calls = begun;
    Object.assign(must(pieces.at(-1)), { shared, calls });
    let left = 0;
    for (const piece of pieces) {
      const amount = amountOf([...piece.batches, ...piece.removals]);
      const write = async (): Promise<number> => {
        await requireRight();
        const from = performance.now();
        left += await store.rewrite(piece);
        if (piece.batches.length > 0) feed.recorded();
        return performance.now() - from;
      };
      await retryWhileOverloaded(async () => {
        await shares.turn(workspaceId, amount);
        await shares.storing(workspaceId, amount, write);
      });
    }
    return left;
  }

  async #append(workspaceId: string, receipt: Receipt): Promise<number> {
    const { store, feed, valueTally } = this.#deps;
    const tookMs = await store.append(receipt);
    feed.recorded();
    valueTally?.note(workspaceId, amountOf(receipt.batches).values);
    return tookMs;
  }
}

/** Splits a rewrite into commits of at most `MOST_IN_TURN` values, in order, removals last. */
function piecesOf({ batches, removals }: Rewrite): Rewrite[] {
  const pieces = [emptyRewrite()];
  let room = MOST_IN_TURN;
  const cut = <Columns extends KeyedColumns>(all: readonly Columns[], listOf: (piece: Rewrite) => Columns[]): void => {
    for (const columns of all)
      for (let from = 0; from < columns.values.length;) {
        if (room === 0) {
          pieces.push(emptyRewrite());
          room = MOST_IN_TURN;
        }
        const to = Math.min(from + room, columns.values.length);
        listOf(must(pieces.at(-1))).push({
          ...columns,
          fieldKeys: columns.fieldKeys.slice(from, to),
          timestamps: columns.timestamps.slice(from, to),
          values: columns.values.slice(from, to),
        });
        room -= to - from;
        from = to;
      }
  };
  cut(batches, (piece) => piece.batches);
  cut(removals, (piece) => piece.removals);
  return pieces;
}

type KeyedColumns = Pick<Batch, 'fieldKeys' | 'timestamps' | 'values'>;

function emptyRewrite(): Rewrite {
  return { batches: [], removals: [], shared: [], calls: [] };
}

/** Size of a write or a removal. */
export function amountOf(batches: readonly Pick<Batch, 'values'>[]): Amount {
  return { values: batches.reduce((sum, { values }) => sum + values.length, 0) };
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
