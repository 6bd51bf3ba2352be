import type { DecoderJob, DecoderResult } from '../domain/decoders/decoder-engine.ts';
import type { LookedUp } from './looked-up.ts';
import type { SerialsText } from './serials-cache.ts';
import type { SourceTraits } from './source-traits.ts';

/** A source text as the pool and its processes know it. */
export interface PoolSource {
  no: number;
  text: string;
  traits: SourceTraits;
  /** Quick runs in a row: until there are some, results are written around each run, so that blame is exact. */
  trust: number;
}

/** A product as the pool knows it. */
export interface PoolProduct {
  id: string;
  no: number;
  /** Moving average of the execution time in ms. */
  averageMs: number;
  /** Kept apart from the others until then (ms since the epoch of `performance.now`). */
  apartUntil: number;
  strikes: number;
  waiting: number;
  /** One of its runs is being waited for aside; the next ones wait for how it ends. */
  onTrial: boolean;
  /** After a run that had to be ended: the next one not before then. */
  restsUntil: number;
}

/** A run, or a check of the syntax when `job` is null, on its way through the pool. */
export interface PoolJob {
  id: number;
  product: PoolProduct;
  source: PoolSource;
  job: DecoderJob | null;
  serials: SerialsText | null;
  inputBytes: number;
  queuedAt: number;
  /** Execution time of the rounds before this one. */
  spentMs: number;
  round: number;
  lookedUp: LookedUp;
  /** It was in a process that died, and may be why: it runs next with nothing else beside it. */
  suspect: boolean;
  resolve: (result: DecoderResult) => void;
  reject: (error: unknown) => void;
}
