import { lruCache } from '../scheduling/lru-cache.ts';
import type { DecoderFailure, DecoderJob } from '../domain/decoders/decoder-engine.ts';
import { AppError } from '../errors.ts';
import { POOLS } from '../scheduling/pools.ts';
import { AdmissionLimit } from './admission-limit.ts';
import { LookedUp } from './looked-up.ts';
import { Penalties } from './penalties.ts';
import type { Admitted, PoolJob, PoolSource } from './pool-job.ts';
import { SerialsCache, type SerialsText } from './serials-cache.ts';
import { countLines, readTraits } from './source-traits.ts';
import { must } from '../must.ts';

/** Functions that settle a job. */
export type Settle = Pick<PoolJob, 'resolve' | 'reject'>;

interface Prepared {
  serials: SerialsText;
  lookedUp: LookedUp;
}

const MAX_SOURCE_BYTES = 262_144;
/** Maximum kept source text, in characters. */
const KEPT_SOURCES = 32_000_000;
/** Prefix of the product id under which syntax checks are queued. */
const CHECKS = '\0checks:';

/** Makes the pool's jobs, and refuses those that would pass a limit. */
export class JobAdmission {
  readonly #room: AdmissionLimit;
  readonly #penalties = new Penalties();
  readonly #sources = lruCache<string, PoolSource>(KEPT_SOURCES, ({ text }) => text.length + 500);
  readonly #serials = new SerialsCache();
  #numbers = 0;

  constructor(maxOpen: number) {
    this.#room = new AdmissionLimit({ jobs: maxOpen, bytes: POOLS.decoderCalls.maxBytes });
  }

  /** Admits a run. Throws OVERLOADED. */
  admit({ productId, workspaceId, input }: DecoderJob): Admitted {
    return this.#room.enter(this.#penalties.of(productId, workspaceId), Buffer.byteLength(input));
  }

  /** Admits a syntax check, which takes turns like a product of its workspace, one per token. Throws OVERLOADED. */
  admitCheck(source: string, workspaceId: string, tokenId: string): Admitted {
    const checks = this.#penalties.of(`${CHECKS}${workspaceId} ${tokenId}`, workspaceId);
    return this.#room.enter(checks, Buffer.byteLength(source));
  }

  /** Releases the room of a settled job. */
  leave(admitted: Admitted): void {
    this.#room.leave(admitted);
  }

  /** Failure of a source over 256 KiB (CONTRACT 5), else null. */
  sizeFailure(source: string): DecoderFailure | null {
    const bytes = Buffer.byteLength(source);
    if (bytes <= MAX_SOURCE_BYTES) return null;
    const message = `The source has ${bytes} bytes; the limit is ${MAX_SOURCE_BYTES} (256 KiB).`;
    return { kind: 'SYNTAX', message, line: null, column: null };
  }

  needsLookUps({ source }: DecoderJob): boolean {
    return this.#sourceOf(source).traits.usesLookups;
  }

  /**
   * Looks up what the run may need at once, or returns the failure of a passed limit. Rejects with UNAVAILABLE or
   * OVERLOADED.
   */
  async prepare(job: DecoderJob, admitted: Admitted): Promise<Prepared | DecoderFailure> {
    const serials = await this.#reading(this.#serials.of(job.productId, job.serials));
    const lookedUp = new LookedUp(job.senderId, (bytes) => this.#room.grow(admitted, bytes));
    let tooMuch = job.source.includes('deviceSerialToId') ? serials.tooLarge : null;
    if (job.senderId !== null) tooMuch ??= await this.#reading(lookedUp.add([job.senderId], job.lookUp));
    if (tooMuch === null) return { serials, lookedUp };
    return { kind: 'OUT_OF_MEMORY', message: tooMuch, line: null, column: null };
  }

  /**
   * Looks up values for the next round of a run; resolves with the message of a passed limit, or null. Rejects as
   * `prepare` does.
   */
  lookUp(poolJob: PoolJob, asked: string[]): Promise<string | null> {
    poolJob.round += 1;
    return this.#reading(must(poolJob.lookedUp).add(asked, must(poolJob.job).lookUp));
  }

  runOf(job: DecoderJob, admitted: Admitted, prepared: Prepared | null, settle: Settle): PoolJob {
    return this.#jobOf(job.source, job, admitted, prepared, settle);
  }

  /** A job that only compiles. */
  checkOf(source: string, admitted: Admitted, settle: Settle): PoolJob {
    return this.#jobOf(source, null, admitted, null, settle);
  }

  async #reading<T>(found: Promise<T>): Promise<T> {
    try {
      return await found;
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError('UNAVAILABLE', 'The data that the decoder asked for is not available now.', { cause: error });
    }
  }

  #jobOf(text: string, job: DecoderJob | null, admitted: Admitted, prepared: Prepared | null, settle: Settle): PoolJob {
    const now = performance.now();
    return {
      id: this.#nextNumber(),
      product: admitted.product,
      source: this.#sourceOf(text),
      job,
      serials: prepared?.serials ?? null,
      lookedUp: prepared?.lookedUp ?? null,
      inputBytes: admitted.inputBytes,
      admitted,
      acceptedAt: now,
      queuedAt: now,
      spentMs: 0,
      wallMs: 0,
      usedMs: 0,
      chargedMs: 0,
      lane: 'fast',
      round: 0,
      isAlone: false,
      endedMs: 0,
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

  /** Next number; unique in 32 bits for as long as any job can wait. */
  #nextNumber(): number {
    this.#numbers = (this.#numbers + 1) >>> 0;
    return this.#numbers;
  }
}
