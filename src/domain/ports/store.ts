import type { SeriesAnswer, SeriesRequest } from './series-request.ts';
/**
 * What a measurement store must do; `measurement-store/` has one for SQLite and one for PostgreSQL. Every write,
 * correction and deletion of measurements goes through these verbs. Times are integer milliseconds UTC, devices,
 * fields and products are their integer keys.
 */

/** FLOAT, INTEGER: number; BOOLEAN: 1 or 0; STRING, GEOLOCATION: text. */
export type StoredValue = number | string;

/** `receivedAt` of what did not come from the device itself (a file): the device was not heard of. */
export const NOT_HEARD = 0;
/**
 * The same of what is older than anybody follows live: nobody is told of it, and it may go into chunks at once. In one
 * flush with more of the same device it may be told all the same.
 */
export const LONG_AGO = -1;

/**
 * When a batch was stored, in ms; below zero: so long after zero, and it is none of the live values. A reading that is
 * written again is live if it was, and as new as what is written.
 */
export function storedAtOf(receivedAt: number, now: number): number {
  return receivedAt === LONG_AGO ? -now : now;
}

/** When a reading that was stored before was stored again, as above. */
export function storedAgainAt(before: number, storedAt: number): number {
  return Math.max(before, before > 0 ? Math.abs(storedAt) : storedAt);
}

/** Long readings that the database had to write again for a value in them: of each device how many, and their bytes. */
export type RewrittenReadings = Map<number, { readings: number; bytes: number }>;

/** One more of the device was written again. */
export function noteRewritten(rewritten: RewrittenReadings, deviceKey: number, more: number): void {
  const { readings, bytes } = rewritten.get(deviceKey) ?? { readings: 0, bytes: 0 };
  rewritten.set(deviceKey, { readings: readings + 1, bytes: bytes + more });
}

/** A value that comes into a moment writes all of it again: so much of that is a commit, then others have their turn. */
export const PART_BYTES = 2_097_152;

/** Moments of a device, each once. */
export interface Moments {
  deviceKey: number;
  timestamps: number[];
}

/** Device, timestamp, bytes. */
export type LongMoment = [deviceKey: number, timestamp: number, bytes: number];

/** The accepted entries of one device of one request: three columns of equal length. Never changed once handed over. */
export interface Batch {
  deviceKey: number;
  receivedAt: number;
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** What can become of a logged call (CONTRACT 4). */
export const CALL_STATUSES = ['STORED', 'PARTLY_STORED', 'NOTHING_STORED', 'DECODER_FAILED', 'NO_DECODER'] as const;

/** What became of a logged call. */
export type CallStatus = (typeof CALL_STATUSES)[number];

/** One row of the call log (CONTRACT 4); `query`, `headers` and `run` are JSON text, `id` is a UUIDv7 of the receipt time. */
export interface CallRow {
  id: string;
  productKey: number;
  receivedAt: number;
  method: string;
  path: string;
  query: string;
  headers: string;
  body: string;
  bodyTruncated: boolean;
  status: CallStatus;
  httpStatus: number;
  decoderVersion: number | null;
  run: string | null;
  /** Which values it stored, as `calls/stored-values.ts` writes them; null: not known, as of a call of an older version. */
  stored: string | null;
}

/** A replayed call, and what a replay changes of it. */
export type CallOutcome = Pick<CallRow, 'productKey' | 'id' | 'status' | 'decoderVersion' | 'run' | 'stored'>;

type CallTexts = Pick<CallRow, 'body' | 'headers' | 'run' | 'stored'>;

/** How long the texts of a call are that can be, in characters. */
export function textLengthOf({ body, headers, run, stored }: CallTexts): number {
  return body.length + headers.length + (run?.length ?? 0) + (stored?.length ?? 0);
}

/** What is committed together or not at all: the batches of one request and, for a webhook, its call. */
export interface Receipt {
  batches: Batch[];
  call?: CallRow;
}

/** Values of one device by field and moment: columns of equal length, each key once; times in ms UTC. */
interface KeyedValues {
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** Keys of a device whose values are asked for: two columns of equal length. */
export interface DeviceKeys extends Omit<KeyedValues, 'values'> {
  deviceKey: number;
}

/** Values of a device that are to go, each only where it is still what is there. */
export interface DeviceRemoval extends KeyedValues {
  deviceKey: number;
}

/** What is known of some keys, in their order. */
export interface KnownValues {
  /** undefined: there is none. */
  values: (StoredValue | undefined)[];
  /** How many replayed calls say the value as well, beside the one that stored it. */
  others: number[];
}

/** By how many more replayed calls a value is said by now (0: it is forgotten); the latest was received then. */
export interface SharedValue {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  others: number;
  receivedAt: number;
}

/** What a replay commits together or not at all. */
export interface Rewrite {
  /** Come over what is there; of one device several may come. */
  batches: Batch[];
  /** Each device once; no key of these is among the batches. */
  removals: DeviceRemoval[];
  shared: SharedValue[];
  calls: CallOutcome[];
}

/** Values of one field in time order; both arrays have one length, `timestamps` in ms UTC. */
export interface Columns {
  timestamps: number[];
  values: StoredValue[];
}

/** The fields of a device whose newest values are wanted. */
export interface LatestQuery {
  deviceKey: number;
  fieldKeys: number[];
  /** Whose device it is: what is remembered of searches is bounded for each. */
  tenant?: string | undefined;
}

/** The value of a field with the latest measured time, in ms UTC. */
export interface LatestRow {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  value: StoredValue;
}

/** A stretch of one field's values of one device, times in ms UTC. */
export interface RangeQuery {
  deviceKey: number;
  fieldKey: number;
  /** Inclusive; left out: from the first. */
  from?: number;
  /** Exclusive; left out: to the last. */
  to?: number;
  newestFirst: boolean;
  limit: number;
  /** Of texts: those up to the one with which there are so many, although there may be more of them. */
  maxCharacters?: number;
}

/** Values of some fields of one device from `from` (inclusive) to `to` (exclusive), in ms UTC. */
export interface RemoveQuery {
  deviceKey: number;
  fieldKeys: number[];
  from: number;
  to: number;
  /** Counts only. */
  dryRun: boolean;
}

/** Does a piece of long work when it may be done. */
export type Piece = <T>(work: () => Promise<T>) => Promise<T>;

/** Which calls of a product; all that is given must hold. Times in ms UTC. */
export interface CallFilter {
  productKey: number;
  statuses?: CallStatus[];
  /** Receipt time, inclusive / exclusive. */
  from?: number;
  to?: number;
}

/** A page of a product's logged calls. */
export interface CallQuery extends CallFilter {
  /** Newest first unless `oldestFirst`; `after` is the id of the last call seen. */
  after?: string;
  oldestFirst?: boolean;
  limit: number;
}

/** Some calls that were counted, with the ids of the first and the last of them; null if there are none. */
export interface CallCount {
  count: number;
  first: string | null;
  last: string | null;
}

/** Measurements to forget for good, because their device (fieldKey null: all fields) or field is gone. */
export interface Purge {
  deviceKey: number;
  fieldKey: number | null;
}

/** A moment of a device as it was recorded, with the place of its commit in the order of commits. Times in ms UTC. */
export interface RecordedReading {
  seq: string;
  deviceKey: number;
  timestamp: number;
  /** When it was committed. */
  storedAt: number;
  /** Every field of the moment, also those of earlier commits; two columns of equal length. */
  fieldKeys: number[];
  values: StoredValue[];
}

/** A reading inside the order of commits: by seq, then device, then time. */
export type RecordedPlace = Pick<RecordedReading, 'seq' | 'deviceKey' | 'timestamp'>;

/** What was committed after the position `after` and not after `upTo` (null: until now), from behind `place` on. */
export interface RecordedQuery {
  after: string;
  upTo: string | null;
  place: RecordedPlace | null;
  /** Only of these; null: of any. */
  deviceKeys: number[] | null;
  limit: number;
}

/** `upTo`: the position that was reached; `complete`: nothing is left before it. */
export interface RecordedPage {
  upTo: string;
  readings: RecordedReading[];
  complete: boolean;
  /** Something recorded after `after` is no longer kept in the order of commits. */
  expired: boolean;
}

/** What keeps measurements and the call log, on SQLite and PostgreSQL alike; all times in ms UTC. */
export interface MeasurementStore {
  /**
   * Resolves when the receipt is durable, with about how long the database had to do with its values, in ms; many callers
   * share one commit. Writing a key again replaces its value, the last one in the order of commits wins. Rejects with
   * AppError OVERLOADED when the bounded queue is full, UNAVAILABLE when the database is away or the store is stopping;
   * nothing of the receipt is stored then.
   */
  append(receipt: Receipt): Promise<number>;
  /**
   * Of these moments the long ones that are there, each with its bytes: what comes into it writes them again. What came
   * within the last second may be left out.
   */
  longMoments(moments: readonly Moments[]): Promise<LongMoment[]>;

  /**
   * The value with the latest measured time for each of the devices' fields, of everything acknowledged so far. `spend` is
   * told, now and then, for how long other threads had to search, in ms; what it throws ends that.
   */
  latest(queries: LatestQuery[], spend?: (ms: number) => void): Promise<LatestRow[]>;
  /** One field's values in time order (or newest first), of everything acknowledged so far. */
  range(query: RangeQuery): Promise<Columns>;
  /**
   * The answer to each request, in order, of everything acknowledged so far; reckoned off the event loop. undefined
   * where it would take long, never for all: it is to be asked again.
   */
  series(requests: readonly SeriesRequest[]): Promise<(SeriesAnswer | undefined)[]>;
  /** Receipt time of the last batch of each device that ever sent one. */
  lastHeard(deviceKeys: number[]): Promise<Map<number, number>>;
  /** Resolves when table `device_state` has the receipt times of everything acknowledged so far, or cannot have them now. */
  showHeard(): Promise<void>;

  /**
   * Where the order of commits stands: everything acknowledged so far is before it. Good on every node, after a restart
   * too.
   */
  position(): Promise<string>;
  /** Readings in the order of their commits; those of the last hour at least are kept for it. */
  recorded(query: RecordedQuery): Promise<RecordedPage>;

  /** Deletes (or counts) the measurements of a range, piece by piece; returns how many there were. */
  remove(query: RemoveQuery, piece?: Piece): Promise<number>;
  /**
   * Deletes what was measured before the time, in small slices; the newest value of each field stays, and up to about a
   * thousand values that are stored together with younger ones stay as long as those. Of a device that was sent very
   * much just now, some of the older ones stay until it is called again.
   */
  dropOlderThan(deviceKeys: number[], before: number): Promise<void>;
  /**
   * Works off what is written down (table `purge`, in the transaction that removed the owner) to be forgotten or handed
   * over, in small slices, without blocking writers; survives a restart. Resolves when what is written down by now is done,
   * or must be tried again, whatever else is written down meanwhile.
   */
  settlePurges(): Promise<void>;
  /** Much was brought in that may go into chunks: that begins now, not within a minute; nobody waits for it. */
  compactSoon(): Promise<void>;

  calls(query: CallQuery): Promise<CallRow[]>;
  /** How many calls the query would bring, and which. */
  countCalls(query: CallQuery): Promise<CallCount>;
  call(productKey: number, id: string): Promise<CallRow | null>;
  /** Rewrites the outcomes of a few calls after a replay, in one commit. */
  updateCalls(calls: CallOutcome[]): Promise<void>;
  /** What is under the keys of each device, of everything acknowledged so far. */
  valuesAt(keys: readonly DeviceKeys[]): Promise<KnownValues[]>;
  /**
   * Stores and removes what a replay of a few calls changes, and the outcomes of these with it. Returns how many values
   * that were to go had been written over meanwhile, and are left. Rejects with UNAVAILABLE as `append` does, CONFLICT
   * where a device is written to without end.
   */
  rewrite(rewrite: Rewrite): Promise<number>;
  /** Deletes calls received before the time (of one product, or of all) in small chunks, until a stop; returns how many. */
  removeCalls(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number>;

  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  /** Writes what is waiting, then closes. */
  stop(): Promise<void>;
}
