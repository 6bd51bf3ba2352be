import type { CommitPosition, Receipt } from '../domain/measurements/store.ts';
import { AppError } from '../errors.ts';
import { callBytes, checkReceipt } from './check-receipt.ts';

/** Where a group of receipts goes. */
export interface FlushTarget {
  /** Adds the receipt to the group that is being gathered; returns about how many bytes it takes. */
  gather(receipt: Receipt): number;
  /** Commits what was gathered since the last call; resolves, when durable, with the group's place in commit order. */
  flush(): Promise<string>;
}

export interface QueueLimits {
  /** Rows and bytes that may wait, gathered or under way. */
  maxWaitingRows: number;
  maxWaitingBytes: number;
}

interface Group {
  rows: number;
  bytes: number;
  resolves: ((position: CommitPosition) => void)[];
  rejects: ((error: unknown) => void)[];
}

/**
 * Concurrent receipts share one commit: a flush starts as soon as the one before is done and takes everything that
 * waits. One flush is under way at a time, so the order of commits is the order of appends.
 */
export class GroupCommit {
  readonly #target: FlushTarget;
  readonly #limits: QueueLimits;
  #gathering = emptyGroup();
  #flushing = emptyGroup();
  #running: Promise<void> | null = null;
  #stopping = false;

  constructor(target: FlushTarget, limits: QueueLimits) {
    this.#target = target;
    this.#limits = limits;
  }

  append(receipt: Receipt): Promise<CommitPosition> {
    if (this.#stopping) return Promise.reject(new AppError('UNAVAILABLE', 'The server is stopping. Try again later.'));
    let rows: number;
    try {
      rows = checkReceipt(receipt);
    } catch (error) {
      return Promise.reject(error);
    }
    if (this.#isFull(rows, receipt.call ? callBytes(receipt.call) : 0))
      return Promise.reject(new AppError('OVERLOADED', 'Too much is waiting to be stored. Try again in a moment.'));
    return new Promise((resolve, reject) => {
      const group = this.#gathering;
      group.bytes += this.#target.gather(receipt);
      group.rows += rows;
      group.resolves.push(resolve);
      group.rejects.push(reject);
      this.#running ??= this.#run();
    });
  }

  /** Refuses what comes from now on; resolves when everything that waits has had its answer. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#running;
  }

  #isFull(rows: number, bytes: number): boolean {
    const waitingRows = this.#gathering.rows + this.#flushing.rows;
    const waitingBytes = this.#gathering.bytes + this.#flushing.bytes;
    // A receipt on its own always fits, however large.
    if (this.#gathering.resolves.length + this.#flushing.resolves.length === 0) return false;
    return waitingRows + rows > this.#limits.maxWaitingRows || waitingBytes + bytes > this.#limits.maxWaitingBytes;
  }

  async #run(): Promise<void> {
    // Requests that arrived in the same turn of the event loop come along.
    await new Promise(setImmediate);
    while (this.#gathering.resolves.length > 0) {
      const group = this.#gathering;
      this.#flushing = group;
      this.#gathering = emptyGroup();
      try {
        const position = await this.#target.flush();
        for (let i = 0; i < group.resolves.length; i++) group.resolves[i]!(`${position}.${toSortable(i, 5)}`);
      } catch (error) {
        for (const reject of group.rejects) reject(error);
      }
      this.#flushing = emptyGroup();
    }
    this.#running = null;
  }
}

/** Digits of base 36, padded so that text order is number order. */
export function toSortable(value: number, digits: number): string {
  return value.toString(36).padStart(digits, '0');
}

function emptyGroup(): Group {
  return { rows: 0, bytes: 0, resolves: [], rejects: [] };
}
