import { countsOf } from '../scheduling/lane-counts.ts';
import { LANES } from '../scheduling/lanes.ts';
import { doubt, isHeavy } from './penalties.ts';
import type { Lane, Line, PoolJob, PoolProduct, PoolWorkspace, WaitingLanes } from './pool-job.ts';
import { charge, enter, goOn, inTurn } from './turns.ts';
import { lanesOf, leaveLane } from './waiting-lanes.ts';
import { must } from '../must.ts';

/** Lanes in the order in which they are served. */
export const DECODER_LANES = ['fast', 'slow', 'barred'] as const;

/** Maximum taken jobs at the head of a line before they are cut off. */
const CUT = 1_000;
/** Time after its last job for which a workspace counts as active. */
const THERE_MS = 10_000;

/**
 * Waiting jobs, in one line per product. Workspaces take turns by the time they keep a process, and so do the products
 * of each: neither many jobs nor many products buy a larger share.
 */
export class FairQueue {
  /** Workspaces with waiting jobs. */
  #turns: PoolWorkspace[] = [];
  #size = 0;
  readonly #counts = countsOf(LANES.decoders.name);
  /** The two workspaces whose jobs came last. */
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
    this.#counts.waiting += 1;
    const { workspace } = job.product;
    workspace.cameAt = now;
    if (workspace === this.#newest) return;
    this.#before = this.#newest;
    this.#newest = workspace;
  }

  /** Puts the job before the others of its product. */
  pushFirst(job: PoolJob, now: number): void {
    const line = this.#open(job.product, now);
    if (line.head > 0) line.jobs[--line.head] = job;
    else line.jobs.unshift(job);
    doubt(job.product);
    this.#size += 1;
    this.#counts.waiting += 1;
  }

  /** Takes the next job of a lane, suspects first; passes over products that are held. */
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

  /** Charges what a job from `next` really kept its process, instead of the usual time. */
  settle(job: PoolJob, keptMs: number, now: number): void {
    chargeBoth(job, keptMs - job.chargedMs, now);
    job.chargedMs = 0;
  }

  /** The job that `next` would take. */
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
      for (const lane of DECODER_LANES) enter(workspace.turns[lane], now);
      this.#turns.push(workspace);
    }
    enter(line, now);
    workspace.products.push(product);
    return line;
  }

  #take(product: PoolProduct): PoolJob {
    const { line } = product;
    const job = must(line.jobs[line.head]);
    // Frees the job and its body while others still wait behind it.
    line.jobs[line.head] = undefined;
    line.head += 1;
    if (line.head === line.jobs.length || line.head > CUT) {
      line.jobs.splice(0, line.head);
      line.head = 0;
    }
    this.#size -= 1;
    this.#counts.end(job.queuedAt);
    leaveLane(product);
    doubt(product);
    return job;
  }
}

/** Number of the product's waiting jobs. */
export function waitingOf({ line }: PoolProduct): number {
  return line.jobs.length - line.head;
}

function isEmpty(product: PoolProduct): boolean {
  return waitingOf(product) === 0;
}

function firstOf({ line }: PoolProduct): PoolJob {
  return must(line.jobs[line.head]);
}

function chargeBoth({ product: { line, workspace }, lane }: PoolJob, tookMs: number, now: number): void {
  charge(line, tookMs, now);
  charge(workspace.turns[lane], tookMs, now);
}
