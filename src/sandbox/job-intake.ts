import type { DecoderFailure, DecoderJob } from '../domain/decoders/decoder-engine.ts';
import { LruMap } from '../domain/lru-map.ts';
import { AppError } from '../errors.ts';
import { waitingOf } from './fair-queue.ts';
import { LookedUp } from './looked-up.ts';
import { Penalties } from './penalties.ts';
import type { PoolJob, PoolSource } from './pool-job.ts';
import { SerialsCache, type SerialsText } from './serials-cache.ts';
import { countLines, readTraits } from './source-traits.ts';

/** How a job ends. */
export type Settle = Pick<PoolJob, 'resolve' | 'reject'>;

interface Prepared {
  serials: SerialsText;
  lookedUp: LookedUp;
}

const MAX_SOURCE_BYTES = 262_144;
/** In characters. */
const KEPT_SOURCES = 32_000_000;
const CHECKS = '\0checks';

/** Makes the pool's jobs of what the domain asks for, and says which may not wait. */
export class JobIntake {
  readonly #maxWaiting: number;
  readonly #penalties = new Penalties();
  readonly #sources = new LruMap<string, PoolSource>({ most: KEPT_SOURCES, sizeOf: ({ text }) => text.length + 500 });
  readonly #serials = new SerialsCache();
  #numbers = 0;

  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /** CONTRACT 5: 256 KiB. */
  sizeFailure(source: string): DecoderFailure | null {
    const bytes = Buffer.byteLength(source);
    if (bytes <= MAX_SOURCE_BYTES) return null;
    const message = `The source has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES} (256 KiB).`;
    return { kind: 'SYNTAX', message, line: null, column: null };
  }

  needsLookUps({ source }: DecoderJob): boolean {
    return this.#sourceOf(source).traits.usesLookups;
  }

  /** What a run needs that can touch look-ups, or which limit it would pass. Rejects with UNAVAILABLE. */
  async prepare(job: DecoderJob): Promise<Prepared | DecoderFailure> {
    const serials = await this.#reading(this.#serials.of(job.productId, job.serials));
    const lookedUp = new LookedUp(job.senderId);
    let tooMuch = job.source.includes('deviceSerialToId') ? serials.tooLarge : null;
    if (job.senderId !== null) tooMuch ??= await this.#reading(lookedUp.add([job.senderId], job.lookUp));
    if (tooMuch === null) return { serials, lookedUp };
    return { kind: 'OUT_OF_MEMORY', message: tooMuch, line: null, column: null };
  }

  /** Looks up what a run asked for, for its next round; what is wrong when that is too much. Rejects with UNAVAILABLE. */
  lookUp(poolJob: PoolJob, asked: string[]): Promise<string | null> {
    poolJob.round += 1;
    return this.#reading(poolJob.lookedUp!.add(asked, poolJob.job!.lookUp));
  }

  runOf(job: DecoderJob, prepared: Prepared | null, settle: Settle): PoolJob {
    return this.#jobOf(job.productId, job.source, job, prepared, settle);
  }

  /** Compiles only. */
  checkOf(source: string, settle: Settle): PoolJob {
    return this.#jobOf(CHECKS, source, null, null, settle);
  }

  /** OVERLOADED when too many wait already, of all products or of this one. */
  refusalOf({ product }: PoolJob, waiting: number): AppError | null {
    if (waiting >= this.#maxWaiting) return overloaded('Too many calls are waiting for a decoder');
    if (waitingOf(product) < Math.max(1, this.#maxWaiting / 4)) return null;
    return overloaded("Too many calls are waiting for this product's decoder");
  }

  async #reading<T>(found: Promise<T>): Promise<T> {
    try {
      return await found;
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('UNAVAILABLE', 'The data that the decoder asked for is not available now.', { cause: error });
    }
  }

  #jobOf(productId: string, text: string, job: DecoderJob | null, prepared: Prepared | null, settle: Settle): PoolJob {
    const now = performance.now();
    return {
      id: this.#nextNumber(),
      product: this.#penalties.of(productId),
      source: this.#sourceOf(text),
      job,
      serials: prepared?.serials ?? null,
      lookedUp: prepared?.lookedUp ?? null,
      inputBytes: Buffer.byteLength(job?.input ?? text),
      acceptedAt: now,
      queuedAt: now,
      spentMs: 0,
      wallMs: 0,
      round: 0,
      isSuspect: false,
      ...settle,
    };
  }

  #sourceOf(text: string): PoolSource {
    let source = this.#sources.get(text);
    if (source === undefined) {
      source = { no: this.#nextNumber(), text, lines: countLines(text), traits: readTraits(text), trust: 0 };
      this.#sources.set(text, source);
    }
    return source;
  }

  /** Fits 32 bits for as long as any job can wait. */
  #nextNumber(): number {
    this.#numbers = (this.#numbers + 1) >>> 0;
    return this.#numbers;
  }
}

/** OVERLOADED, with the advice to try again. */
export const overloaded = (what: string): AppError => new AppError('OVERLOADED', `${what}; try again later.`);
