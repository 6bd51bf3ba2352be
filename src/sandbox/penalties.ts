import { lruCache } from '../scheduling/lru-cache.ts';
import { LeakyBucket } from '../scheduling/leaky-bucket.ts';
import { QUICK_MS } from './frames.ts';
import type { Loss } from './decoder-process.ts';
import type { Conduct, PoolJob, PoolProduct, PoolWorkspace } from './pool-job.ts';
import { newTurn } from './turns.ts';

/** Average run time from which a product uses the slow lane. */
const SLOW_MS = 20;
const QUARANTINE_MS = 10_000;
const MAX_QUARANTINE_MS = 300_000;
/**
 * Rest of a product after a run that had to be ended on a busy server, as a multiple of the run's time: it gets at most
 * a fifth of one processor.
 */
const REST_FACTOR = 4;
const MAX_REST_MS = 5_000;
/** Cost of a lost process: another has to be started. */
export const START_MS = 100;
const KEPT_PRODUCTS = 10_000;
/**
 * Runs after which a product is known; doubled for each further offender of its workspace. One offender says nothing
 * about others, nor does one long run.
 */
const YOUNG_RUNS = 10;
const OFFENDERS = 2;
const LONG_FIRST_MS = 100;
/** Maximum doublings, as products that offend now and then are counted each time. */
const MOST_DOUBLED = 4;
const MAX_OFFENCES = 10;
/** Share of the time for long runs of a workspace in the fast lane, and the maximum charged beyond it. */
const LONG_MS = 250;
const LONG = { share: 0.05, max: 10 * LONG_MS };

/**
 * Conduct of products. A run that had to be ended costs a whole limit of processor time, so its product is barred,
 * longer each time; others never wait behind it.
 */
export class Penalties {
  #products = lruCache<string, PoolProduct>(KEPT_PRODUCTS);
  #workspaces = lruCache<string, PoolWorkspace>(KEPT_PRODUCTS);
  #numbers = 0;

  /** The product, known or new; the latest 10,000 are kept. */
  of(id: string, workspaceId: string): PoolProduct {
    const workspace = this.#workspaceOf(workspaceId);
    let product = this.#products.get(id);
    if (product === undefined) {
      product = {
        id,
        no: this.#nextNumber(),
        workspace,
        open: { jobs: 0, bytes: 0 },
        line: { jobs: [], head: 0, lane: null, isSuspect: false, ...newTurn() },
        averageMs: 0,
        runs: 0,
        heldUntil: 0,
        quarantinedUntil: 0,
        offences: 0,
      };
      this.#products.set(id, product);
    }
    return product;
  }

  #workspaceOf(id: string): PoolWorkspace {
    let workspace = this.#workspaces.get(id);
    if (workspace === undefined) {
      workspace = {
        no: this.#nextNumber(),
        open: { jobs: 0, bytes: 0 },
        products: [],
        waiting: { counts: { fast: 0, slow: 0, barred: 0 }, suspects: 0, doubted: [], standing: 0, until: 0 },
        turns: { fast: newTurn(), slow: newTurn(), barred: newTurn() },
        youngMs: 0,
        youngAt: 0,
        long: new LeakyBucket(0),
        cameAt: -Infinity,
        quarantinedUntil: 0,
        offences: 0,
      };
      this.#workspaces.set(id, workspace);
    }
    return workspace;
  }

  #nextNumber(): number {
    this.#numbers = (this.#numbers + 1) >>> 0;
    return this.#numbers;
  }
}

/** Whether its runs are expected to have to be ended. */
export function isBarred(product: PoolProduct, now: number): boolean {
  return now < product.quarantinedUntil || (isBad(product.workspace, now) && isYoung(product));
}

/** Whether the product's jobs leave the fast lane: in quarantine, or slow on average. */
export function isSlow(product: PoolProduct, now: number): boolean {
  return now < product.quarantinedUntil || product.averageMs > SLOW_MS;
}

/**
 * Whether its jobs leave the fast lane because of other products of its workspace: a new product is expected to be like
 * them until it is known, or each would cost a limit of processor time.
 */
export function isDoubtful(product: PoolProduct, now: number): boolean {
  return (isBad(product.workspace, now) || isSlowAtFirst(product.workspace, now)) && isYoung(product);
}

/** A number; while it stays the same, only the product's own runs change its `isBarred` and `isDoubtful`. */
export function standingOf(workspace: PoolWorkspace, now: number): number {
  return doublings(workspace) * 4 + (isBad(workspace, now) ? 2 : 0) + (isSlowAtFirst(workspace, now) ? 1 : 0);
}

/** Whether its long runs have used up their share. */
export function isHeavy({ long }: PoolWorkspace, now: number): boolean {
  return long.level(now, LONG.share) > LONG_MS;
}

const isBad = ({ offences, quarantinedUntil }: PoolWorkspace, now: number): boolean =>
  offences >= OFFENDERS && now < quarantinedUntil;

const isSlowAtFirst = ({ youngMs, youngAt }: PoolWorkspace, now: number): boolean =>
  youngMs > SLOW_MS && now - youngAt <= MAX_QUARANTINE_MS;

const isYoung = ({ runs, workspace }: PoolProduct): boolean => runs < YOUNG_RUNS * 2 ** doublings(workspace);

const doublings = ({ offences }: PoolWorkspace): number => Math.min(MOST_DOUBLED, Math.max(0, offences - OFFENDERS));

/** Marks a product whose first job or conduct changed, so that its lane is looked at again. */
export function doubt(product: PoolProduct): void {
  if (product.line.jobs.length > product.line.head) product.workspace.waiting.doubted.push(product);
}

/** Holds back the product's jobs until its run aside has ended. */
export function hold(product: PoolProduct): void {
  product.heldUntil = Infinity;
  doubt(product);
}

/** Lets the product's jobs run again after its run aside. */
export function release(product: PoolProduct): void {
  if (product.heldUntil !== Infinity) return;
  product.heldUntil = 0;
  doubt(product);
}

/**
 * The job that its process was lost for; null: none, or not known yet. If several were possible, or the kill came from
 * outside, they become suspects, which run again alone.
 */
export function guiltyOf({ reason, blame, busyMs }: Loss): PoolJob | null {
  const [only] = blame;
  if (only === undefined) return null;
  const isOutside = reason === 'KILLED' || reason === 'STARVED';
  if (blame.length > 1 || (isOutside && !only.isSuspect)) {
    for (const job of blame) job.isSuspect = true;
    return null;
  }
  only.wallMs += busyMs + START_MS;
  return only;
}

/** Notes the end of a run; `isOffence`: it had to be ended. */
export function noteEnd(job: PoolJob, isOffence: boolean, now: number, isBusy: boolean): void {
  const { product, source, wallMs } = job;
  // Processor time: a run is not long because the machine was busy.
  noteTaken(job, isOffence ? wallMs : job.usedMs, now);
  if (isOffence) noteOffence(product, now, isBusy ? wallMs : 0);
  if (isOffence || wallMs > QUICK_MS) source.trust = 0;
  else if (job.job !== null) source.trust += 1;
}

/** Notes a round that goes on in another one, which may never come. */
export function noteRound(job: PoolJob, now: number): void {
  if (job.wallMs > SLOW_MS) noteTaken(job, job.usedMs, now);
}

function noteTaken({ product, wallMs, endedMs, lane, isSuspect }: PoolJob, usedMs: number, now: number): void {
  noteRun(product, wallMs, now);
  // Suspects came from the fast lane.
  if ((lane === 'fast' || isSuspect) && usedMs > SLOW_MS) noteLong(product.workspace, usedMs + endedMs, now);
}

/** Notes the wall time that a run kept a process. */
export function noteRun(product: PoolProduct, wallMs: number, now: number): void {
  const { workspace } = product;
  if (isYoung(product)) {
    workspace.youngMs += (Math.min(wallMs, LONG_FIRST_MS) - workspace.youngMs) * 0.1;
    workspace.youngAt = now;
  }
  product.runs += 1;
  // The first runs count in full, as many calls may wait for what they show.
  product.averageMs += (wallMs - product.averageMs) * Math.max(0.1, 1 / product.runs);
  forget(product, now);
  forget(workspace, now);
  doubt(product);
}

/** Notes a long run in the fast lane. */
export function noteLong({ long }: PoolWorkspace, usedMs: number, now: number): void {
  long.add(usedMs, now, LONG);
}

/** Notes a run that had to be ended; `busyMs`: time it kept a process of a busy server. */
export function noteOffence(product: PoolProduct, now: number, busyMs: number): void {
  // Each product counts once for its workspace: a broken one says little about others.
  quarantine(product.workspace, product.offences === 0, now);
  // Runs under way together are one offence.
  quarantine(product, now >= product.quarantinedUntil, now);
  product.heldUntil = now + Math.min(MAX_REST_MS, busyMs * REST_FACTOR);
  doubt(product);
}

function quarantine(conduct: Conduct, isNew: boolean, now: number): void {
  conduct.quarantinedUntil = now + Math.min(MAX_QUARANTINE_MS, QUARANTINE_MS * 2 ** conduct.offences);
  if (isNew) conduct.offences = Math.min(conduct.offences + 1, MAX_OFFENCES);
}

function forget(conduct: Conduct, now: number): void {
  if (conduct.offences > 0 && now > conduct.quarantinedUntil + MAX_QUARANTINE_MS) conduct.offences = 0;
}
