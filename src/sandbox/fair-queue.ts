import type { PoolJob, PoolProduct } from './pool-job.ts';

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
  size = 0;

  push(job: PoolJob): void {
    this.#lineOf(job.product).jobs.push(job);
    this.size += 1;
  }

  /** Before the other jobs of its product. */
  pushFirst(job: PoolJob): void {
    const line = this.#lineOf(job.product);
    if (line.head > 0) line.jobs[--line.head] = job;
    else line.jobs.unshift(job);
    this.size += 1;
  }

  next(): PoolJob | undefined {
    for (let line = this.#turns[0]; line !== undefined; line = this.#turns[0]) {
      if (line.creditMs <= 0) {
        line.creditMs += QUANTUM_MS;
        this.#turns.push(this.#turns.shift()!);
        continue;
      }
      const job = line.jobs[line.head]!;
      line.head += 1;
      line.creditMs -= Math.max(0.05, Math.min(100, job.product.averageMs));
      this.size -= 1;
      if (line.head === line.jobs.length) this.#close(line);
      else if (line.head > 1000) {
        line.jobs.splice(0, line.head);
        line.head = 0;
      }
      return job;
    }
    return undefined;
  }

  /** Takes out all jobs of a product. */
  take(product: PoolProduct): PoolJob[] {
    const line = this.#lines.get(product);
    if (line === undefined) return [];
    const jobs = line.jobs.slice(line.head);
    this.size -= jobs.length;
    this.#close(line);
    return jobs;
  }

  /** Takes out the jobs that have waited since before `time`. */
  takeOlderThan(time: number): PoolJob[] {
    const old: PoolJob[] = [];
    for (const line of this.#lines.values()) {
      while (line.head < line.jobs.length && line.jobs[line.head]!.queuedAt < time) {
        old.push(line.jobs[line.head]!);
        line.head += 1;
        this.size -= 1;
      }
      if (line.head === line.jobs.length) this.#close(line);
    }
    return old;
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
}
