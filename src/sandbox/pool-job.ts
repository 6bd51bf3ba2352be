import type { DecoderJob, DecoderResult } from '../domain/decoders/decoder-engine.ts';
import type { LookedUp } from './looked-up.ts';
import type { PoolProduct } from './penalties.ts';
import type { SerialsText } from './serials-cache.ts';
import type { SourceTraits } from './source-traits.ts';

/** A source text as the pool and its processes know it. */
export interface PoolSource {
  readonly no: number;
  readonly text: string;
  readonly traits: SourceTraits;
  /**
   * Quick runs in a row: until there are some, results are written around each run, so that blame is exact. Trust that is
   * given too long costs innocent runs beside a killed one a second try, and nothing else.
   */
  trust: number;
}

/** A run, or a check of the syntax when `job` is null, on its way through the pool. */
export interface PoolJob {
  readonly id: number;
  readonly product: PoolProduct;
  readonly source: PoolSource;
  readonly job: DecoderJob | null;
  readonly serials: SerialsText | null;
  readonly lookedUp: LookedUp;
  readonly inputBytes: number;
  queuedAt: number;
  /** Processor time of the rounds before this one. */
  spentMs: number;
  /** Wall time of its runs so far: for so long it has kept a process. */
  wallMs: number;
  round: number;
  /** It was in a process that died, and may be why: it runs next with nothing else beside it. */
  isSuspect: boolean;
  /** Its process was killed from outside: once is nobody's fault. */
  wasKilled: boolean;
  readonly resolve: (result: DecoderResult) => void;
  readonly reject: (error: unknown) => void;
}
