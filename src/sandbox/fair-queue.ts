import { isSlow } from './penalties.ts';
import type { Line, PoolJob, PoolProduct, PoolWorkspace, Turn } from './pool-job.ts';

/** `fast`: what behaves, many at a time; `slow`: slow and quarantined products, and suspects, one job at a time. */
export type Lane = 'fast' | 'slow';
/** In the order in which they are served. */
export const LANES = ['fast', 'slow'] as const;

/** Execution time each product may use in its turn. */
const QUANTUM_MS = 4;
/** So many jobs that are gone are cut off a line. */
const CUT = 1_000;

/**
 * Jobs that wait, in one line per product. Workspaces take turns by execution time, and so do the products of each in
 * its turns: neither many jobs nor many products buy a larger share.
 */
export class FairQueue {
  /** Those for which jobs wait. */
  #turns: PoolWorkspace[] = [];
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
    const { workspace } = product;
    const job = this.#take(product);
    const tookMs = Math.max(0.05, Math.min(100, product.averageMs));
    spend(workspace.products, product, product.line, tookMs, isEmpty(product));
    spend(this.#turns, workspace, workspace.turns[lane], tookMs, workspace.products.length === 0);
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
    for (const workspace of this.#turns) {
      const before = old.length;
      for (const product of workspace.products)
        while (!isEmpty(product) && firstOf(product).queuedAt < time) old.push(this.#take(product));
      if (old.length > before) workspace.products = workspace.products.filter((product) => !isEmpty(product));
    }
    if (old.length > 0) this.#turns = this.#turns.filter(({ products }) => products.length > 0);
    return old;
  }

  #inTurn(lane: Lane, now: number): PoolProduct | undefined {
    const suspect = lane === 'slow' ? this.#suspect() : undefined;
    if (suspect !== undefined) return suspect;
    const isServed = (product: PoolProduct): boolean => laneOf(product, now) === lane;
    const hasServed = ({ products }: PoolWorkspace): boolean => products.some(isServed);
    const workspace = inTurn(this.#turns, ({ turns }) => turns[lane], hasServed);
    return workspace && inTurn(workspace.products, ({ line }) => line, isServed);
  }

  #suspect(): PoolProduct | undefined {
    for (const { products } of this.#turns)
      for (const product of products) if (firstOf(product).isSuspect) return product;
    return undefined;
  }

  #open(product: PoolProduct): Line {
    const { workspace, line } = product;
    if (!isEmpty(product)) return line;
    if (workspace.products.length === 0) {
      workspace.turns.fast.creditMs = QUANTUM_MS;
      workspace.turns.slow.creditMs = QUANTUM_MS;
      this.#turns.push(workspace);
    }
    line.creditMs = QUANTUM_MS;
    workspace.products.push(product);
    return line;
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

/** The first that has something left of its turn; where none has, all get new turns. */
function inTurn<T>(all: readonly T[], turnOf: (one: T) => Turn, isServed: (one: T) => boolean): T | undefined {
  let most = -Infinity;
  for (const one of all) {
    if (!isServed(one)) continue;
    const { creditMs } = turnOf(one);
    if (creditMs > 0) return one;
    most = Math.max(most, creditMs);
  }
  if (most === -Infinity) return undefined;
  const rounds = Math.floor(-most / QUANTUM_MS) + 1;
  for (const one of all) if (isServed(one)) turnOf(one).creditMs += rounds * QUANTUM_MS;
  return inTurn(all, turnOf, isServed);
}

/** Whose turn is over goes behind the others; who has nothing to do any more goes away. */
function spend<T>(all: T[], one: T, turn: Turn, tookMs: number, isDone: boolean): void {
  turn.creditMs -= tookMs;
  if (!isDone && turn.creditMs > 0) return;
  const [taken] = all.splice(all.indexOf(one), 1);
  if (!isDone) all.push(taken!);
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
