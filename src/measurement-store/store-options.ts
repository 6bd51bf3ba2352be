import { POOLS } from '../scheduling/pools.ts';

/** What both stores take: the bounds of their queues, and who is told. */
export interface StoreOptions {
  log?: StoreLog;
  /** What may wait to be committed, in values and in bytes: default 200,000 and 32 MiB. */
  maxWaitingRows?: number;
  maxWaitingBytes?: number;
  /** How long readings stay readings, in milliseconds, before they go into chunks: default an hour. */
  keptMs?: number;
  /** How often that is looked after, in milliseconds: default a minute. */
  compactEveryMs?: number;
  /** Told after each flush that was stored: how many values it had, and how long it took. */
  onFlush?: (values: number, seconds: number) => void;
  /** Told after each flush that failed: how many receipts were in it. */
  onFailure?: (receipts: number) => void;
}

/** The bounds that hold where nothing else is said. */
export const STORE_DEFAULTS = {
  maxWaitingRows: POOLS.commits.maxValues,
  maxWaitingBytes: POOLS.commits.maxBytes,
  keptMs: 3_600_000,
  compactEveryMs: 60_000,
};

/** Log of a store's failures in the background; pino fits. */
export interface StoreLog {
  warn(details: object, message: string): void;
}
