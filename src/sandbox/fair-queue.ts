import { isSlow } from './penalties.ts';
import type { PoolJob, PoolProduct } from './pool-job.ts';

/** `fast`: what behaves, many at a time; `slow`: slow and quarantined products, and suspects, one job at a time. */
export type Lane = 'fast' | 'slow';
/** In the order in which they are served. */
export const LANES = ['fast', 'slow'] as const;

/** Execution time each product may use in its turn. */
const QUANTUM_MS = 4;

interface Line {
  product: PoolProduct;
  jobs: PoolJob[];
  /** Index of the first job: shifting an array of thousands costs too much. */
  head: number;
  creditMs: number;
}

/** Jobs that wait, in one line per product; the lines take turns by execution time, so many jobs buy no larger share. */
export class FairQueue {
  #lines = new Map<PoolProduct, Line>();
  #turns: Line[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(job: PoolJob): void {
    this.#lineOf(job.product).jobs.push(job);
    this.#count(job, 1);
  }

  /** Before the other jobs of its product. */
  pushFirst(job: PoolJob): void {
    const line = this.#lineOf(job.product);
    if (line.head > 0) line.jobs[--line.head] = job;
    else line.jobs.unshift(job);
    this.#count(job, 1);
  }

  /** The job whose turn it is in a lane, suspects first; products that are held are passed over. */
  next(lane: Lane, now: number): PoolJob | undefined {
    const line = this.#lineIn(lane, now);
    if (line === undefined) return undefined;
    const job = line.jobs[line.head]!;
    line.head += 1;
    line.creditMs -= Math.max(0.05, Math.min(100, job.product.averageMs));
    this.#count(job, -1);
    if (line.head === line.jobs.length) this.#close(line);
    else {
      if (line.creditMs <= 0) this.#turns.push(...this.#turns.splice(this.#turns.indexOf(line), 1));
      if (line.head > 1000) {
        line.jobs.splice(0, line.head);
        line.head = 0;
      }
    }
    return job;
  }

  /** What `next` would give, left where it is. */
  peek(lane: Lane, now: number): PoolJob | undefined {
    const line = this.#lineIn(lane, now);
    return line?.jobs[line.head];
  }

  /** Takes out the jobs that have waited since before `time`. */
  takeOlderThan(time: number): PoolJob[] {
    const old: PoolJob[] = [];
    for (const line of this.#lines.values()) {
      while (line.head < line.jobs.length && line.jobs[line.head]!.queuedAt < time) {
        const job = line.jobs[line.head]!;
        old.push(job);
        line.head += 1;
        this.#count(job, -1);
      }
      if (line.head === line.jobs.length) this.#close(line);
    }
    return old;
  }

  #lineIn(lane: Lane, now: number): Line | undefined {
    let next: Line | undefined;
    let most = -Infinity;
    for (const line of this.#turns) {
      if (laneOf(line, now) !== lane) continue;
      if (line.jobs[line.head]!.isSuspect) return line;
      if (line.creditMs > 0) next ??= line;
      most = Math.max(most, line.creditMs);
    }
    if (next !== undefined || most === -Infinity) return next;
    const rounds = Math.floor(-most / QUANTUM_MS) + 1;
    for (const line of this.#turns) if (laneOf(line, now) === lane) line.creditMs += rounds * QUANTUM_MS;
    return this.#lineIn(lane, now);
  }

  #lineOf(product: PoolProduct): Line {
    let line = this.#lines.get(product);
    if (line === undefined) {
      line = { product, jobs: [], head: 0, creditMs: QUANTUM_MS };
      this.#lines.set(product, line);
      this.#turns.push(line);
    }
    return line;
  }

  #close(line: Line): void {
    this.#lines.delete(line.product);
    this.#turns.splice(this.#turns.indexOf(line), 1);
  }

  #count(job: PoolJob, by: 1 | -1): void {
    this.#size += by;
    job.product.waiting += by;
  }
}

/** Where a line's first job may run now. */
function laneOf({ product, jobs, head }: Line, now: number): Lane | null {
  if (jobs[head]!.isSuspect) return 'slow';
  if (now < product.heldUntil) return null;
  return isSlow(product, now) ? 'slow' : 'fast';
}
