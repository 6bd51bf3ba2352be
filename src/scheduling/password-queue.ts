import type { LaneCounts } from './lane-counts.ts';

interface Waiting {
  since: number;
  start: () => void;
  evict: () => void;
}

/**
 * Bounded queue in which callers take turns; when it is full, the caller with most entries loses its last one to a
 * caller with fewer.
 */
export class PasswordQueue {
  readonly #max: number;
  readonly #counts: LaneCounts;
  /** Entries by caller in the order of their turns; no list is empty. */
  readonly #byCaller = new Map<string, Waiting[]>();
  #size = 0;

  constructor(max: number, counts: LaneCounts) {
    this.#max = max;
    this.#counts = counts;
  }

  /** Whether the caller may add an entry, perhaps by evicting another's. */
  hasRoom(caller: string): boolean {
    return this.#size < this.#max || this.#largestCaller(caller) !== null;
  }

  /** Resolves with true at the caller's turn, with false if the queue was full or the entry was evicted. */
  wait(caller: string): Promise<boolean> {
    if (this.#size >= this.#max) {
      const largest = this.#largestCaller(caller);
      if (largest === null) {
        this.#counts.refused += 1;
        return Promise.resolve(false);
      }
      // Never its only one: it has at least two more than the caller.
      const evicted = this.#byCaller.get(largest)!.pop()!;
      this.#counts.refuse(evicted.since);
      evicted.evict();
      this.#size -= 1;
    }
    return new Promise((resolve) => {
      const queue = this.#byCaller.get(caller) ?? [];
      queue.push({ since: this.#counts.begin(), start: () => resolve(true), evict: () => resolve(false) });
      this.#byCaller.set(caller, queue);
      this.#size += 1;
    });
  }

  /** Starts the next entry and moves its caller to the end. */
  next(): void {
    const [first] = this.#byCaller;
    if (first === undefined) return;
    const [caller, queue] = first;
    this.#byCaller.delete(caller);
    this.#size -= 1;
    const { since, start } = queue.shift()!;
    this.#counts.end(since);
    if (queue.length > 0) this.#byCaller.set(caller, queue);
    start();
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  /** The caller with most entries, if it has at least two more than `caller`. */
  #largestCaller(caller: string): string | null {
    let max = (this.#byCaller.get(caller)?.length ?? 0) + 1;
    let largest: string | null = null;
    for (const [other, queue] of this.#byCaller)
      if (queue.length > max) {
        max = queue.length;
        largest = other;
      }
    return largest;
  }
}
