import { LeakyBucket } from '../scheduling/leaky-bucket.ts';
import { LruMap } from '../scheduling/lru-map.ts';
import { QUICK_MS } from './frames.ts';
import type { Loss } from './decoder-process.ts';
import type { Conduct, PoolJob, PoolProduct, PoolWorkspace } from './pool-job.ts';
import { newTurn } from './turns.ts';

/** Decoders that take longer than this on average share the slow lane. */
const SLOW_MS = 20;
const QUARANTINE_MS = 10_000;
const MAX_QUARANTINE_MS = 300_000;
/**
 * If the server is busy when a run had to be ended, its product leaves the processors to the others for so many times as
 * long as the run has kept a process: a fifth of one processor is what it gets, less where these are fought for.
 */
const REST_FACTOR = 4;
const MAX_REST_MS = 5_000;
/** What a process that is lost costs: another has to be started. */
export const START_MS = 100;
const KEPT_PRODUCTS = 10_000;
/**
 * A product has shown what it is like after so many runs, after twice as many for each further offender of its workspace.
 * One says nothing about the others, nor does one long run.
 */
const YOUNG_RUNS = 10;
const OFFENDERS = 2;
const LONG_FIRST_MS = 100;
/** Two that offend now and then, each forgiven meanwhile, are counted again and again. */
const MOST_DOUBLED = 4;
const MAX_OFFENCES = 10;
/**
 * Long runs of a workspace may have this part of the time beside others in the fast lane, whichever of its products they
 * are; what is beyond a limit's worth of it, up to ten times that, has to pass first.
 */
const LONG_MS = 250;
const LONG = { share: 0.05, max: 10 * LONG_MS };

/**
 * The conduct of products. A run that had to be ended costs a whole limit of processor time, so its product is barred, for
 * longer each time, and those that behave, the slow ones, too, never wait behind it.
 */
export class Penalties {
  #products = new LruMap<string, PoolProduct>({ most: KEPT_PRODUCTS });
  #workspaces = new LruMap<string, PoolWorkspace>({ most: KEPT_PRODUCTS });
  #numbers = 0;

  /** The product, known or new; the latest 10,000 are remembered. */
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

/** Whether it is to be expected that its runs have to be ended. */
export function isBarred(product: PoolProduct, now: number): boolean {
  return now < product.quarantinedUntil || (isBad(product.workspace, now) && isYoung(product));
}

/** Whether the product's jobs leave the fast lane: in quarantine, or slow on average. */
export function isSlow(product: PoolProduct, now: number): boolean {
  return now < product.quarantinedUntil || product.averageMs > SLOW_MS;
}

/**
 * Whether they do so although it did nothing: what others of its workspace do is expected of it until it has shown
 * better, or each new product would cost everybody a limit of processor time.
 */
export function isDoubtful(product: PoolProduct, now: number): boolean {
  return (isBad(product.workspace, now) || isSlowAtFirst(product.workspace, now)) && isYoung(product);
}

/** A number: while it is the same, `isBarred` and `isDoubtful` change for a product only with what that does itself. */
export function standingOf(workspace: PoolWorkspace, now: number): number {
  return doublings(workspace) * 4 + (isBad(workspace, now) ? 2 : 0) + (isSlowAtFirst(workspace, now) ? 1 : 0);
}

/** Whether its long runs have had what they may have beside others. */
export function isHeavy({ long }: PoolWorkspace, now: number): boolean {
  return long.level(now, LONG.share) > LONG_MS;
}

const isBad = ({ offences, quarantinedUntil }: PoolWorkspace, now: number): boolean =>
  offences >= OFFENDERS && now < quarantinedUntil;

const isSlowAtFirst = ({ youngMs, youngAt }: PoolWorkspace, now: number): boolean =>
  youngMs > SLOW_MS && now - youngAt <= MAX_QUARANTINE_MS;

const isYoung = ({ runs, workspace }: PoolProduct): boolean => runs < YOUNG_RUNS * 2 ** doublings(workspace);

const doublings = ({ offences }: PoolWorkspace): number => Math.min(MOST_DOUBLED, Math.max(0, offences - OFFENDERS));

/** Its first job, or what is known of it, is another: which lane it waits for has to be looked at again. */
export function doubt(product: PoolProduct): void {
  if (product.line.jobs.length > product.line.head) product.workspace.waiting.doubted.push(product);
}

/** One of its runs goes on aside: none of its others begins before that has come to an end. */
export function hold(product: PoolProduct): void {
  product.heldUntil = Infinity;
  doubt(product);
}

/** The run that the product's others waited for has come to an end. */
export function release(product: PoolProduct): void {
  if (product.heldUntil !== Infinity) return;
  product.heldUntil = 0;
  doubt(product);
}

/**
 * The job for which its process was lost; null: none is to blame, or not yet. Of several one was running, and being killed
 * from outside, or stopped, is nobody's fault: the first time all of them become suspects, who run again alone.
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

/** A run is over; `isOffence`: it had to be ended. */
export function noteEnd(job: PoolJob, isOffence: boolean, now: number, isBusy: boolean): void {
  const { product, source, wallMs } = job;
  // Time of the processor: what the machine did not let run is not long.
  noteTaken(job, isOffence ? wallMs : job.usedMs, now);
  if (isOffence) noteOffence(product, now, isBusy ? wallMs : 0);
  if (isOffence || wallMs > QUICK_MS) source.trust = 0;
  else if (job.job !== null) source.trust += 1;
}

/** A run goes on in another round, which may never come: what is long already is known from now on. */
export function noteRound(job: PoolJob, now: number): void {
  if (job.wallMs > SLOW_MS) noteTaken(job, job.usedMs, now);
}

function noteTaken({ product, wallMs, endedMs, lane, isSuspect }: PoolJob, usedMs: number, now: number): void {
  noteRun(product, wallMs, now);
  // Suspects were in the fast lane before.
  if ((lane === 'fast' || isSuspect) && usedMs > SLOW_MS) noteLong(product.workspace, usedMs + endedMs, now);
}

/** A run has kept a process for so long. */
export function noteRun(product: PoolProduct, wallMs: number, now: number): void {
  const { workspace } = product;
  if (isYoung(product)) {
    workspace.youngMs += (Math.min(wallMs, LONG_FIRST_MS) - workspace.youngMs) * 0.1;
    workspace.youngAt = now;
  }
  product.runs += 1;
  // The first ones count in full: a thousand calls may be waiting for what they tell.
  product.averageMs += (wallMs - product.averageMs) * Math.max(0.1, 1 / product.runs);
  forget(product, now);
  forget(workspace, now);
  doubt(product);
}

/** A run in the fast lane was long. */
export function noteLong({ long }: PoolWorkspace, usedMs: number, now: number): void {
  long.add(usedMs, now, LONG);
}

/** A run had to be ended; `busyMs`: for how long it has kept a process from a busy server. */
export function noteOffence(product: PoolProduct, now: number, busyMs: number): void {
  // Of a workspace so many of its products are counted: one that is broken for good says little about the others.
  quarantine(product.workspace, product.offences === 0, now);
  // Runs that were under way together are one offence.
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
