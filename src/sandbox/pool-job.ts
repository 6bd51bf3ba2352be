import type { LeakyBucket } from '../scheduling/leaky-bucket.ts';
import type { DecoderJob, DecoderResult } from '../domain/decoders/decoder-engine.ts';
import type { LookedUp } from './looked-up.ts';
import type { SerialsText } from './serials-cache.ts';
import type { SourceTraits } from './source-traits.ts';
import type { Turn } from './turns.ts';

/**
 * `fast`: what behaves, many at a time. One at a time: `slow`, which only takes long, and `barred`, what had to be ended,
 * and suspects.
 */
export type Lane = 'fast' | 'slow' | 'barred';

/** So many jobs, and what they hold of memory. */
export interface Amount {
  jobs: number;
  bytes: number;
}

/** Runs that had to be ended. Times are those of `performance.now`. */
export interface Conduct {
  /** In quarantine until then, longer with each offence. */
  quarantinedUntil: number;
  offences: number;
}

/** A workspace as the pool knows it: what its products did is held against those of which little is known yet. */
export interface PoolWorkspace extends Conduct {
  readonly no: number;
  /** Of its jobs, those that are not settled. */
  readonly open: Amount;
  /** Its products for which jobs wait, as their turns come. */
  products: PoolProduct[];
  readonly waiting: WaitingLanes;
  /** What is left of its turn in each lane. */
  readonly turns: Readonly<Record<Lane, Turn>>;
  /** Moving average of what the first runs of its products take, in ms of wall time. */
  youngMs: number;
  /** When the last of them ended; five minutes later they say nothing any more. */
  youngAt: number;
  /** Processor time of its long runs in the fast lane. */
  readonly long: LeakyBucket;
  /** When its last job came. */
  cameAt: number;
}

/** In which lanes the products of a workspace wait (`waiting-lanes.ts`): as it was when they were sorted last. */
export interface WaitingLanes {
  readonly counts: Record<Lane, number>;
  /** Of those of the barred. */
  suspects: number;
  /** Those that may have changed their lane by themselves since. */
  readonly doubted: PoolProduct[];
  /** What the workspace's conduct said of all of them. */
  standing: number;
  /** One of them changes its lane then as time goes by. */
  until: number;
}

/**
 * A product as the pool knows it: all that is held for or against it. Its jobs go to the fast lane; to the slow one while
 * its runs are slow on average; to that of the barred while its quarantine lasts; to none while it is held: until a run of
 * its own that goes on aside is over, or while it rests after an offence. Times are those of `performance.now`.
 */
export interface PoolProduct extends Conduct {
  readonly id: string;
  readonly no: number;
  readonly workspace: PoolWorkspace;
  /** Of its jobs, those that are not settled. */
  readonly open: Amount;
  /** Its place in the queue. */
  readonly line: Line;
  /** Moving average of how long a run keeps a process, in ms of wall time. */
  averageMs: number;
  runs: number;
  /** None of its jobs begins before then; Infinity while one of its runs is waited for aside. */
  heldUntil: number;
}

/**
 * A product's jobs that wait (`fair-queue.ts`). It stays with the product when it is empty: lines and maps that come and
 * go with each job keep finished calls alive until the next full collection.
 */
export interface Line extends Turn {
  /** Those before `head` are gone: shifting an array of thousands costs too much. */
  readonly jobs: (PoolJob | undefined)[];
  head: number;
  /** Where its first job waits, and whether that is a suspect; null: nowhere now. */
  lane: Lane | null;
  isSuspect: boolean;
}

/** A job that has found room. */
export interface Admitted {
  readonly product: PoolProduct;
  readonly inputBytes: number;
  /** What it holds of memory until it is settled: its input, the call that this was made from, what was looked up. */
  bytes: number;
}

/** A source text as the pool and its processes know it. */
export interface PoolSource {
  readonly no: number;
  readonly text: string;
  readonly lines: number;
  readonly traits: SourceTraits;
  /**
   * Quick runs in a row: until there are some, results are written around each run, so that blame is exact. Trust that is
   * given too long costs innocent runs beside a killed one a second try, and nothing else.
   */
  trust: number;
}

/**
 * A run, or a check of the syntax when `job` is null. It waits, is under way in a process, and is settled once. It waits
 * again, before the others of its product, when it asks for values, when its process is lost for another's fault, and as
 * a suspect when that may have been its own; a suspect goes with the barred, whatever its product.
 */
export interface PoolJob {
  readonly id: number;
  readonly product: PoolProduct;
  readonly source: PoolSource;
  readonly job: DecoderJob | null;
  readonly serials: SerialsText | null;
  /** null: the source cannot ask for anything. */
  readonly lookedUp: LookedUp | null;
  readonly inputBytes: number;
  readonly admitted: Admitted;
  readonly acceptedAt: number;
  /** Since when it waits, as far as its patience goes: behind the begin of it, but never long after `acceptedAt`. */
  queuedAt: number;
  /** Processor time of the rounds before this one. */
  spentMs: number;
  /** Wall time of its runs so far, with what compiling took: for so long it has kept a process. */
  wallMs: number;
  /** Processor time of the same. */
  usedMs: number;
  /** What the turns have been charged for a run of it that is under way, and those of which lane. */
  chargedMs: number;
  lane: Lane;
  round: number;
  /** It was sent so that results are written around it alone: when it runs is known. */
  isAlone: boolean;
  /** What it has cost beside its time, if its run is long: its process has to end because others stood behind it there. */
  endedMs: number;
  /** It was in a process that died, and may be why: it runs next with nothing else beside it. */
  isSuspect: boolean;
  readonly resolve: (result: DecoderResult) => void;
  readonly reject: (error: unknown) => void;
}
