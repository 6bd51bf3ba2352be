import type { Receipt } from '../domain/ports/store.ts';
import { AppError } from '../errors.ts';
import { poolCountsOf } from '../scheduling/pool-counts.ts';
import { POOLS } from '../scheduling/pools.ts';
import { callBytes, checkReceipt } from './check-receipt.ts';
import { stopping } from './unavailable.ts';
import { must } from '../must.ts';

/** Target of a group of receipts. */
export interface FlushTarget {
  /** Adds the receipt to the group that is being gathered; returns its estimated bytes. */
  gather(receipt: Receipt): number;
  /**
   * Commits the gathered receipts; resolves when they are durable. They are taken before it returns. Two may be under
   * way; they commit in the order of the calls.
   */
  flush(): Promise<void>;
}

interface CommitOptions {
  /** Rows and bytes that may wait, gathered or under way. */
  maxWaitingRows: number;
  maxWaitingBytes: number;
  /** Told after each flush that was stored: its rows, and its seconds. */
  onFlush?: (rows: number, seconds: number) => void;
  /** Told after each flush that failed: the number of its receipts. */
  onFailure?: (receipts: number) => void;
}

/** Milliseconds of the flush per row; or the reason why it failed. */
type Outcome = { rowMs: number } | { error: unknown };

interface Group {
  rows: number;
  bytes: number;
  /** Resolvers of its receipts, in order. */
  waiting: ((outcome: Outcome) => void)[];
  outcome?: Outcome;
}

/** One that the database works on, and one that it finds when it is done, without waiting for us. */
const MAX_UNDER_WAY = 2;
/** Minimum part of the first flush with which a second one begins: smaller ones would only cut groups into crumbs. */
const WORTH_A_FLUSH = 0.6;
/** Milliseconds of any flush, however small: they say nothing of the rows. */
const ANYWAY_MS = 20;
/** Maximum answers per turn of the event loop: thousands may wait behind a disk that stood still. */
const ANSWERED_AT_ONCE = 100;

const counts = poolCountsOf(POOLS.commits.name);

/**
 * Concurrent receipts share one commit: a flush takes everything that waits, as soon as there is none under way, or
 * enough to keep the database busy beside those that are.
 */
export class GroupCommit {
  readonly #target: FlushTarget;
  readonly #options: CommitOptions;
  #gathering = emptyGroup();
  readonly #underWay = new Set<Group>();
  /** Groups that are done, but not yet answered to the end. */
  readonly #answering: Group[] = [];
  /** Of groups that were not answered to the end. */
  readonly #waiting = { rows: 0, bytes: 0 };
  /** Number of flushes begun, and time at which the last one was done. */
  readonly #flushed = { begun: 0, doneAt: 0 };
  #stopping: { resolve: () => void } | null = null;

  constructor(target: FlushTarget, options: CommitOptions) {
    this.#target = target;
    this.#options = options;
  }

  /** Resolves with its part of its flush's time, in ms. */
  append(receipt: Receipt): Promise<number> {
    if (this.#stopping) return Promise.reject(stopping());
    let rows: number;
    try {
      rows = checkReceipt(receipt);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#isFull(rows, receipt.call ? callBytes(receipt.call) : 0)) {
      counts.refused += 1;
      return Promise.reject(new AppError('OVERLOADED', POOLS.commits.refusal));
    }
    return new Promise((resolve, reject) => {
      const group = this.#gathering;
      const gathered = this.#target.gather(receipt);
      group.bytes += gathered;
      group.rows += rows;
      this.#waiting.bytes += gathered;
      counts.bytes += gathered;
      this.#waiting.rows += rows;
      group.waiting.push((outcome) => ('error' in outcome ? reject(outcome.error) : resolve(outcome.rowMs * rows)));
      if (this.#underWay.size > 0) this.#flushIfWorthIt();
      // Requests that arrived in the same turn of the event loop come along.
      else if (group.waiting.length === 1) setImmediate(() => this.#flushIfWorthIt());
    });
  }

  /** Number of flushes begun. */
  get flushes(): number {
    return this.#flushed.begun;
  }

  /** Rows of groups that were not answered to the end. */
  get waitingRows(): number {
    return this.#waiting.rows;
  }

  /** Resolves when everything handed over by now has had its answer, whatever comes in the meantime. */
  async settled(): Promise<void> {
    const ends: Promise<void>[] = [];
    for (const { waiting } of [...this.#answering, ...this.#underWay, this.#gathering])
      if (waiting.length > 0) ends.push(new Promise((resolve) => waiting.push(() => resolve())));
    await Promise.all(ends);
  }

  /** Refuses new receipts; resolves when everything that waits has had its answer. */
  stop(): Promise<void> {
    return new Promise((resolve) => {
      this.#stopping = { resolve };
      this.#resolveWhenDone();
    });
  }

  #isFull(rows: number, bytes: number): boolean {
    // A receipt on its own always fits, however large.
    if (this.#isIdle()) return false;
    const { maxWaitingRows, maxWaitingBytes } = this.#options;
    return this.#waiting.rows + rows > maxWaitingRows || this.#waiting.bytes + bytes > maxWaitingBytes;
  }

  #flushIfWorthIt(): void {
    if (this.#gathering.waiting.length === 0) return;
    const [first] = this.#underWay;
    const isCrumb = first !== undefined && this.#gathering.rows < first.rows * WORTH_A_FLUSH;
    if (isCrumb || this.#underWay.size >= MAX_UNDER_WAY) return;
    void this.#flush();
  }

  async #flush(): Promise<void> {
    const group = this.#gathering;
    this.#gathering = emptyGroup();
    this.#underWay.add(group);
    this.#flushed.begun += 1;
    const from = performance.now();
    try {
      await this.#target.flush();
      const now = performance.now();
      this.#options.onFlush?.(group.rows, (now - from) / 1000);
      // They follow each other: it began when the one before it was done.
      const tookMs = now - Math.max(from, this.#flushed.doneAt) - ANYWAY_MS;
      group.outcome = { rowMs: Math.max(0, tookMs) / Math.max(1, group.rows) };
    } catch (error) {
      this.#options.onFailure?.(group.waiting.length);
      group.outcome = { error };
    }
    this.#flushed.doneAt = performance.now();
    this.#underWay.delete(group);
    this.#flushIfWorthIt();
    this.#answering.push(group);
    if (this.#answering.length === 1) this.#answer();
  }

  /** Some of them in the order of the commits, the rest in the next turns of the event loop. */
  #answer(): void {
    let left = ANSWERED_AT_ONCE;
    while (left > 0 && this.#answering.length > 0) {
      const { rows, bytes, waiting, outcome } = must(this.#answering[0]);
      const some = waiting.splice(0, left);
      left -= some.length;
      for (const tell of some) tell(must(outcome));
      if (waiting.length > 0) break;
      this.#answering.shift();
      this.#waiting.rows -= rows;
      this.#waiting.bytes -= bytes;
      counts.bytes -= bytes;
    }
    if (this.#answering.length > 0) setImmediate(() => this.#answer());
    else this.#resolveWhenDone();
  }

  #resolveWhenDone(): void {
    if (this.#isIdle()) this.#stopping?.resolve();
  }

  #isIdle(): boolean {
    return this.#answering.length === 0 && this.#underWay.size === 0 && this.#gathering.waiting.length === 0;
  }
}

function emptyGroup(): Group {
  return { rows: 0, bytes: 0, waiting: [] };
}
