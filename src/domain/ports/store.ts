import type { SeriesAnswer, SeriesRequest } from './series-request.ts';
/**
 * The contract of a measurement store; `measurement-store/` has one for SQLite and one for PostgreSQL. Every write,
 * correction and deletion of measurements goes through these verbs. Times are integer milliseconds UTC, devices, fields
 * and products are their integer keys.
 */

/** FLOAT, INTEGER: number; BOOLEAN: 1 or 0; STRING, GEOLOCATION: text. */
export type StoredValue = number | string;

/** `receivedAt` of values that the device itself did not send (a file): they do not count as hearing from it. */
export const NOT_HEARD = 0;
/**
 * Like `NOT_HEARD`, for values older than any live subscriber follows: they are not published, and may go into chunks
 * at once. Written over published ones of the same moment, they are published all the same.
 */
export const LONG_AGO = -1;

/** `receivedAt` of the same batch when it is not published; the device was heard as before. */
export function unpublished(receivedAt: number): number {
  return receivedAt === NOT_HEARD ? LONG_AGO : -Math.abs(receivedAt);
}

/** When the device was heard by a batch with this `receivedAt`; NOT_HEARD or less: it was not. */
export function heardAtOf(receivedAt: number): number {
  return receivedAt < LONG_AGO ? -receivedAt : receivedAt;
}

/**
 * Storage time of a batch in ms; negated for values that are not published. A rewritten reading keeps being live if it
 * was, with the later time.
 */
export function storedAtOf(receivedAt: number, now: number): number {
  return receivedAt < NOT_HEARD ? -now : now;
}

/** Storage time of a reading that is written again, signed as above. */
export function storedAgainAt(before: number, storedAt: number): number {
  return Math.max(before, before > 0 ? Math.abs(storedAt) : storedAt);
}

/** The accepted entries of one device of one request: three columns of equal length. Immutable once handed over. */
export interface Batch {
  deviceKey: number;
  receivedAt: number;
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** Possible outcomes of a logged call (CONTRACT 4). */
export const CALL_STATUSES = ['STORED', 'PARTLY_STORED', 'NOTHING_STORED', 'DECODER_FAILED', 'NO_DECODER'] as const;

/** Outcome of a logged call. */
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
  /**
   * The values it stored, as `calls/stored-values.ts` writes them; null: unknown, as for a call of an older version.
   */
  stored: string | null;
}

/** The columns of a call that a replay changes, with its key. */
export type CallOutcome = Pick<CallRow, 'productKey' | 'id' | 'status' | 'decoderVersion' | 'run' | 'stored'>;

type CallTexts = Pick<CallRow, 'body' | 'headers' | 'run' | 'stored'>;

/** Characters of a call's texts of unbounded length. */
export function textLengthOf({ body, headers, run, stored }: CallTexts): number {
  return body.length + headers.length + (run?.length ?? 0) + (stored?.length ?? 0);
}

/** The unit of one commit: the batches of one request and, for a webhook, its call. */
export interface Receipt {
  batches: Batch[];
  call?: CallRow;
}

/** Values of one device by field and time: columns of equal length, each key once; times in ms UTC. */
interface KeyedValues {
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** Keys of a device to look up: two columns of equal length. */
export interface DeviceKeys extends Omit<KeyedValues, 'values'> {
  deviceKey: number;
}

/** Values of a device to remove, each only while it is still the stored one. */
export interface DeviceRemoval extends KeyedValues {
  deviceKey: number;
}

/** Stored values of some keys, in their order. */
export interface KnownValues {
  /** The value; undefined: none. */
  values: (StoredValue | undefined)[];
  /** Number of replayed calls that gave the same value, beside the one that stored it. */
  others: number[];
}

/** Number of further replayed calls that gave a value (0: forget it), and the receipt time of the latest. */
export interface SharedValue {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  others: number;
  receivedAt: number;
}

/** The unit of one commit of a replay. */
export interface Rewrite {
  /** Values that replace the stored ones; a device may have several batches. */
  batches: Batch[];
  /** One entry per device; their keys are in no batch. */
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
  /** The tenant of the device: the memory of searches is bounded per tenant. */
  tenant?: string | undefined;
}

/** The value of a field with the latest measured time, in ms UTC. */
export interface LatestRow {
  deviceKey: number;
  fieldKey: number;
  timestamp: number;
  value: StoredValue;
}

/** A range of one field's values of one device, times in ms UTC. */
export interface RangeQuery {
  deviceKey: number;
  fieldKey: number;
  /** Inclusive; left out: from the first. */
  from?: number;
  /** Exclusive; left out: to the last. */
  to?: number;
  newestFirst: boolean;
  limit: number;
  /** Maximum characters of texts: the last text may exceed it, and more may follow. */
  maxCharacters?: number;
}

/** Values of some fields of one device from `from` (inclusive) to `to` (exclusive), in ms UTC. */
export interface RemoveQuery {
  deviceKey: number;
  fieldKeys: number[];
  from: number;
  to: number;
  /** True: only count. */
  dryRun: boolean;
}

/** Runs a piece of long work when the scheduler allows it. */
export type Piece = <T>(work: () => Promise<T>) => Promise<T>;

/** A filter of a product's calls: every given condition must hold. Times in ms UTC. */
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

/** A count of calls, with the ids of the first and the last of them; null if there are none. */
export interface CallCount {
  count: number;
  first: string | null;
  last: string | null;
}

/** Measurements to delete because their device (fieldKey null: all fields) or field is gone. */
export interface Purge {
  deviceKey: number;
  fieldKey: number | null;
}

/** A reading of a device as it was recorded, with its position in the order of commits. Times in ms UTC. */
export interface RecordedReading {
  seq: string;
  deviceKey: number;
  timestamp: number;
  /** Time of the commit. */
  storedAt: number;
  /** The fields that the commit wrote, perhaps with those of earlier commits; two columns of equal length. */
  fieldKeys: number[];
  values: StoredValue[];
}

/** Position of a reading within the order of commits: by seq, then device, then time. */
export type RecordedPlace = Pick<RecordedReading, 'seq' | 'deviceKey' | 'timestamp'>;

/** Readings committed after the position `after` and not after `upTo` (null: until now), from behind `place` on. */
export interface RecordedQuery {
  after: string;
  upTo: string | null;
  place: RecordedPlace | null;
  /** Devices to include; null: all. */
  deviceKeys: number[] | null;
  limit: number;
}

/** `upTo`: the position that was reached; `complete`: nothing is left before it. */
export interface RecordedPage {
  upTo: string;
  readings: RecordedReading[];
  complete: boolean;
  /** Whether more was recorded behind `upTo` already: it is to be asked for at once. */
  more: boolean;
  /** True when something recorded after `after` is no longer kept in the order of commits. */
  expired: boolean;
}

/**
 * Where something is read: `any`: on a replica too, where there is one that has everything that this node has
 * acknowledged of the devices; other nodes' writes are seen as far as it is. Only for what nothing written depends on.
 */
export type Place = 'primary' | 'any';

/** Storage of measurements and the call log, on SQLite and PostgreSQL alike; all times in ms UTC. */
export interface MeasurementStore {
  /**
   * Resolves when the receipt is durable, with about the database time that its values took, in ms; many callers share
   * one commit. Writing a key again replaces its value, the last one in the order of commits wins. Rejects with
   * AppError OVERLOADED when the bounded queue is full, UNAVAILABLE when the database is away or the store is stopping;
   * nothing of the receipt is stored then.
   */
  append(receipt: Receipt): Promise<number>;

  /**
   * The value with the latest measured time for each of the devices' fields, of everything acknowledged so far. `spend`
   * is called now and then with the search time of other threads, in ms; an error that it throws ends the search.
   */
  latest(queries: LatestQuery[], spend?: (ms: number) => void): Promise<LatestRow[]>;
  /** One field's values in time order (or newest first), of everything acknowledged so far. */
  range(query: RangeQuery, place?: Place): Promise<Columns>;
  /**
   * The answer to each request, in order, of everything acknowledged so far; computed off the event loop. undefined for
   * a request that would take long and must be asked again; never for all of them.
   */
  series(requests: readonly SeriesRequest[], place?: Place): Promise<(SeriesAnswer | undefined)[]>;
  /** Receipt time of the last batch of each device that ever sent one. */
  lastHeard(deviceKeys: number[]): Promise<Map<number, number>>;
  /**
   * Resolves when table `device_state` has the receipt times of everything acknowledged so far, or cannot be brought up
   * to date now.
   */
  showHeard(): Promise<void>;

  /**
   * The current position in the order of commits: everything acknowledged so far is before it. Valid on every node,
   * also after a restart.
   */
  position(): Promise<string>;
  /** Readings in the order of their commits, which is kept for an hour at least. */
  recorded(query: RecordedQuery): Promise<RecordedPage>;

  /** Deletes (or counts) the measurements of a range, piece by piece; returns how many there were. */
  remove(query: RemoveQuery, piece?: Piece): Promise<number>;
  /**
   * Deletes values measured before the time, in small slices; the newest value of each field stays, and up to about a
   * thousand values that are stored together with younger ones stay as long as those. Some of the older values of a
   * device that has just sent very much stay until the next call.
   */
  dropOlderThan(deviceKeys: number[], before: number): Promise<void>;
  /**
   * Deletes or hands over what table `purge` lists (written in the transaction that removed the owner), in small
   * slices, without blocking writers; survives a restart. Resolves when every row listed by now is done or must be
   * tried again; later rows do not delay it.
   */
  settlePurges(): Promise<void>;
  /** Starts compacting now instead of within a minute, after a large import; does not wait for it. */
  compactSoon(): Promise<void>;

  calls(query: CallQuery): Promise<CallRow[]>;
  /** Number of calls that match the query, and the first and last of them. */
  countCalls(query: CallQuery): Promise<CallCount>;
  call(productKey: number, id: string): Promise<CallRow | null>;
  /** Rewrites the outcomes of a few calls after a replay, in one commit. */
  updateCalls(calls: CallOutcome[]): Promise<void>;
  /** The values of each device's keys, of everything acknowledged so far. */
  valuesAt(keys: readonly DeviceKeys[]): Promise<KnownValues[]>;
  /**
   * Stores and removes the changes of a replay of a few calls, with their outcomes. Returns the number of values to
   * remove that had been overwritten meanwhile, and stay. Rejects with UNAVAILABLE as `append` does, CONFLICT for a
   * device that is written to without end.
   */
  rewrite(rewrite: Rewrite): Promise<number>;
  /**
   * Deletes calls received before the time (of one product, or of all) in small chunks, until a stop; returns their
   * number.
   */
  removeCalls(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number>;

  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  /** Writes what is queued, then closes. */
  stop(): Promise<void>;
}
