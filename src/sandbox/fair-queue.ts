import { doubt, isHeavy } from './penalties.ts';
import type { Lane, Line, PoolJob, PoolProduct, PoolWorkspace, WaitingLanes } from './pool-job.ts';
import { charge, enter, goOn, inTurn } from './turns.ts';
import { lanesOf, leaveLane } from './waiting-lanes.ts';

/** In the order in which they are served. */
export const LANES = ['fast', 'slow', 'barred'] as const;

/** So many jobs that are gone are cut off a line. */
const CUT = 1_000;
/** Who had a job within this time is there. */
const THERE_MS = 10_000;

/**
 * Jobs that wait, in one line per product. Workspaces take turns by the time for which they keep a process, and so do the
 * products of each in its turns: neither many jobs nor many products buy a larger share, nor does who sends the next job
 * only when one has ended.
 */
export class FairQueue {
  /** Those for which jobs wait. */
  #turns: PoolWorkspace[] = [];
  #size = 0;
  /** The two that came last. */
  #newest: PoolWorkspace | null = null;
  #before: PoolWorkspace | null = null;

  get size(): number {
    return this.#size;
  }

  push(job: PoolJob, now: number): void {
    const line = this.#open(job.product, now);
    line.jobs.push(job);
    if (waitingOf(job.product) === 1) doubt(job.product);
    this.#size += 1;
    const { workspace } = job.product;
    workspace.cameAt = now;
    if (workspace === this.#newest) return;
    this.#before = this.#newest;
    this.#newest = workspace;
  }

  /** Before the other jobs of its product. */
  pushFirst(job: PoolJob, now: number): void {
    const line = this.#open(job.product, now);
    if (line.head > 0) line.jobs[--line.head] = job;
    else line.jobs.unshift(job);
    doubt(job.product);
    this.#size += 1;
  }

  /** The job whose turn it is in a lane, suspects first; products that are held are passed over. */
  next(lane: Lane, now: number): PoolJob | undefined {
    const product = this.#inTurn(lane, now);
    if (product === undefined) return undefined;
    const { workspace } = product;
    const job = this.#take(product);
    job.lane = lane;
    job.chargedMs = Math.max(0.05, Math.min(100, product.averageMs));
    chargeBoth(job, job.chargedMs, now);
    goOn(workspace.products, product, product.line, isEmpty(product));
    goOn(this.#turns, workspace, workspace.turns[lane], workspace.products.length === 0);
    return job;
  }

  /** What `next` gave has kept a process for so long, and is done with it: until then the turns knew only what is usual. */
  settle(job: PoolJob, keptMs: number, now: number): void {
    chargeBoth(job, keptMs - job.chargedMs, now);
    job.chargedMs = 0;
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
    const suspect = lane === 'barred' ? this.#suspect(now) : undefined;
    if (suspect !== undefined) return suspect;
    const isServed = ({ line }: PoolProduct): boolean => line.lane === lane;
    const hasServed = (workspace: PoolWorkspace): boolean => this.#lanesOf(workspace, now).counts[lane] > 0;
    const workspace = inTurn(this.#turns, ({ turns }) => turns[lane], hasServed);
    return workspace && inTurn(workspace.products, ({ line }) => line, isServed);
  }

  #lanesOf(workspace: PoolWorkspace, now: number): WaitingLanes {
    return lanesOf(workspace, now, isHeavy(workspace, now) && this.#hasOthers(workspace, now));
  }

  #hasOthers(workspace: PoolWorkspace, now: number): boolean {
    const other = workspace === this.#newest ? this.#before : this.#newest;
    return other !== null && now - other.cameAt < THERE_MS;
  }

  #suspect(now: number): PoolProduct | undefined {
    const workspace = this.#turns.find((one) => this.#lanesOf(one, now).suspects > 0);
    return workspace?.products.find(({ line }) => line.isSuspect);
  }

  #open(product: PoolProduct, now: number): Line {
    const { workspace, line } = product;
    if (!isEmpty(product)) return line;
    if (workspace.products.length === 0) {
      for (const lane of LANES) enter(workspace.turns[lane], now);
      this.#turns.push(workspace);
    }
    enter(line, now);
    workspace.products.push(product);
    return line;
  }

  #take(product: PoolProduct): PoolJob {
    const { line } = product;
    const job = line.jobs[line.head]!;
    // What waits behind it must not keep it, and the body of its call, in memory.
    line.jobs[line.head] = undefined;
    line.head += 1;
    if (line.head === line.jobs.length || line.head > CUT) {
      line.jobs.splice(0, line.head);
      line.head = 0;
    }
    this.#size -= 1;
    leaveLane(product);
    doubt(product);
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

function chargeBoth({ product: { line, workspace }, lane }: PoolJob, tookMs: number, now: number): void {
  charge(line, tookMs, now);
  charge(workspace.turns[lane], tookMs, now);
}
