import type { LeakyBucket } from '../scheduling/leaky-bucket.ts';
import type { DecoderJob, DecoderResult } from '../domain/decoders/decoder-engine.ts';
import type { LookedUp } from './looked-up.ts';
import type { SerialsText } from './serials-cache.ts';
import type { SourceTraits } from './source-traits.ts';
import type { Turn } from './turns.ts';

/**
 * `fast`: many jobs at a time; one at a time: `slow` for long runs, `barred` for runs that are expected to be ended,
 * and for suspects.
 */
export type Lane = 'fast' | 'slow' | 'barred';

/** Number of jobs and the memory they hold. */
export interface Amount {
  jobs: number;
  bytes: number;
}

/** Offences: runs that had to be ended. Times are those of `performance.now`. */
export interface Conduct {
  /** End of its quarantine, longer with each offence. */
  quarantinedUntil: number;
  offences: number;
}

/** State of a workspace in the pool; the offences of its products count for new ones. */
export interface PoolWorkspace extends Conduct {
  readonly no: number;
  /** Its unsettled jobs. */
  readonly open: Amount;
  /** Its products with waiting jobs, in the order of their turns. */
  products: PoolProduct[];
  readonly waiting: WaitingLanes;
  /** Its credit in each lane. */
  readonly turns: Readonly<Record<Lane, Turn>>;
  /** Moving average of its products' first runs, in ms of wall time. */
  youngMs: number;
  /** When the last of those ended; the average is valid for five minutes. */
  youngAt: number;
  /** Processor time of its long runs in the fast lane. */
  readonly long: LeakyBucket;
  /** When its last job came. */
  cameAt: number;
}

/** Lanes in which the products of a workspace wait, as of the last look (`waiting-lanes.ts`). */
export interface WaitingLanes {
  readonly counts: Record<Lane, number>;
  /** Number of suspects in the barred lane. */
  suspects: number;
  /** Products that may have changed their lane since. */
  readonly doubted: PoolProduct[];
  /** Standing of the workspace at the last look. */
  standing: number;
  /** When time alone changes a product's lane. */
  until: number;
}

/**
 * State of a product in the pool. Its jobs go to the fast lane; to the slow lane while its runs are slow on average; to
 * the barred lane in quarantine; to none while it is held for a run aside or rests after an offence. Times are those of
 * `performance.now`.
 */
export interface PoolProduct extends Conduct {
  readonly id: string;
  readonly no: number;
  readonly workspace: PoolWorkspace;
  /** Its unsettled jobs. */
  readonly open: Amount;
  /** Its waiting jobs. */
  readonly line: Line;
  /** Moving average of the wall time that a run keeps a process, in ms. */
  averageMs: number;
  runs: number;
  /** Start of its next job at the earliest; Infinity while a run aside is waited for. */
  heldUntil: number;
}

/**
 * Waiting jobs of a product (`fair-queue.ts`). The line stays when it is empty: new arrays and maps for each job would
 * keep finished calls alive until the next full collection.
 */
export interface Line extends Turn {
  /** Jobs before `head` are taken; shifting a long array is slow. */
  readonly jobs: (PoolJob | undefined)[];
  head: number;
  /** Lane of its first job, and whether that is a suspect; null: none now. */
  lane: Lane | null;
  isSuspect: boolean;
}

/** A job that was admitted. */
export interface Admitted {
  readonly product: PoolProduct;
  readonly inputBytes: number;
  /** Memory it holds until it is settled: its input, the original call, and looked-up values. */
  bytes: number;
}

/** A source text as the pool and its processes know it. */
export interface PoolSource {
  readonly no: number;
  readonly text: string;
  readonly lines: number;
  readonly traits: SourceTraits;
  /**
   * Consecutive quick runs. Until there are some, results are written around each run so that blame is exact; trust
   * given too long costs innocent runs only a second try.
   */
  trust: number;
}

/**
 * A run, or a syntax check if `job` is null. It waits, is under way in a process, and is settled once. It waits again,
 * before the others of its product, when it asks for values, when its process ended for another's fault, and as a
 * suspect when it may have been its own; suspects go to the barred lane.
 */
export interface PoolJob {
  readonly id: number;
  readonly product: PoolProduct;
  readonly source: PoolSource;
  readonly job: DecoderJob | null;
  readonly serials: SerialsText | null;
  /** null: the source cannot ask for values. */
  readonly lookedUp: LookedUp | null;
  readonly inputBytes: number;
  readonly admitted: Admitted;
  readonly acceptedAt: number;
  /** Start of its wait; reset when it waits again, but never long after `acceptedAt`. */
  queuedAt: number;
  /** Processor time of its earlier rounds. */
  spentMs: number;
  /** Wall time of its runs so far, with compiling. */
  wallMs: number;
  /** Processor time of its runs so far, with compiling. */
  usedMs: number;
  /** Time charged in advance for the run under way, and the lane it was charged in. */
  chargedMs: number;
  lane: Lane;
  round: number;
  /** Results are written around it alone, so it is known when it runs. */
  isAlone: boolean;
  /** Extra cost of a long run whose process must end because others waited behind it. */
  endedMs: number;
  /** It may be why a process died; it runs next, alone. */
  isSuspect: boolean;
  readonly resolve: (result: DecoderResult) => void;
  readonly reject: (error: unknown) => void;
}
