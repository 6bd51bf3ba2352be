import { isSlow } from './penalties.ts';
import type { Line, PoolJob, PoolProduct } from './pool-job.ts';

/** `fast`: what behaves, many at a time; `slow`: slow and quarantined products, and suspects, one job at a time. */
export type Lane = 'fast' | 'slow';
/** In the order in which they are served. */
export const LANES = ['fast', 'slow'] as const;

/** Execution time each product may use in its turn. */
const QUANTUM_MS = 4;
/** So many jobs that are gone are cut off a line. */
const CUT = 1_000;

/** Jobs that wait, in one line per product; the lines take turns by execution time, so many jobs buy no larger share. */
export class FairQueue {
  /** Those in whose lines jobs wait. */
  #turns: PoolProduct[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(job: PoolJob): void {
    this.#open(job.product).jobs.push(job);
    this.#size += 1;
  }

  /** Before the other jobs of its product. */
  pushFirst(job: PoolJob): void {
    const line = this.#open(job.product);
    if (line.head > 0) line.jobs[--line.head] = job;
    else line.jobs.unshift(job);
    this.#size += 1;
  }

  /** The job whose turn it is in a lane, suspects first; products that are held are passed over. */
  next(lane: Lane, now: number): PoolJob | undefined {
    const product = this.#inTurn(lane, now);
    if (product === undefined) return undefined;
    const job = this.#take(product);
    product.line.creditMs -= Math.max(0.05, Math.min(100, product.averageMs));
    const at = this.#turns.indexOf(product);
    if (isEmpty(product)) this.#turns.splice(at, 1);
    else if (product.line.creditMs <= 0) this.#turns.push(...this.#turns.splice(at, 1));
    return job;
  }

  /** What `next` would give, left where it is. */
  peek(lane: Lane, now: number): PoolJob | undefined {
    const product = this.#inTurn(lane, now);
    return product && firstOf(product);
  }

  /** Takes out the jobs that have waited since before `time`. */
  takeOlderThan(time: number): PoolJob[] {
    const old: PoolJob[] = [];
    for (const product of this.#turns)
      while (!isEmpty(product) && firstOf(product).queuedAt < time) old.push(this.#take(product));
    if (old.length > 0) this.#turns = this.#turns.filter((product) => !isEmpty(product));
    return old;
  }

  #inTurn(lane: Lane, now: number): PoolProduct | undefined {
    let next: PoolProduct | undefined;
    let most = -Infinity;
    for (const product of this.#turns) {
      if (laneOf(product, now) !== lane) continue;
      if (firstOf(product).isSuspect) return product;
      const { creditMs } = product.line;
      if (creditMs > 0) next ??= product;
      most = Math.max(most, creditMs);
    }
    if (next !== undefined || most === -Infinity) return next;
    const rounds = Math.floor(-most / QUANTUM_MS) + 1;
    for (const product of this.#turns) if (laneOf(product, now) === lane) product.line.creditMs += rounds * QUANTUM_MS;
    return this.#inTurn(lane, now);
  }

  #open(product: PoolProduct): Line {
    if (isEmpty(product)) {
      product.line.creditMs = QUANTUM_MS;
      this.#turns.push(product);
    }
    return product.line;
  }

  #take({ line }: PoolProduct): PoolJob {
    const job = line.jobs[line.head]!;
    // What waits behind it must not keep it, and the body of its call, in memory.
    line.jobs[line.head] = undefined;
    line.head += 1;
    if (line.head === line.jobs.length || line.head > CUT) {
      line.jobs.splice(0, line.head);
      line.head = 0;
    }
    this.#size -= 1;
    return job;
  }
}

/** How many of the product's jobs wait. */
export function waitingOf({ line }: PoolProduct): number {
  return line.jobs.length - line.head;
}

function isEmpty(product: PoolProduct): boolean {
  return waitingOf(product) === 0;
}

function firstOf({ line }: PoolProduct): PoolJob {
  return line.jobs[line.head]!;
}

/** Where a product's first job may run now. */
function laneOf(product: PoolProduct, now: number): Lane | null {
  if (firstOf(product).isSuspect) return 'slow';
  if (now < product.heldUntil) return null;
  return isSlow(product, now) ? 'slow' : 'fast';
}
