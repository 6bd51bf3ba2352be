import { AppError } from '../errors.ts';
import { countsOf } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import { ActiveTenants } from './active-tenants.ts';

/** Cost of values, in the database's thread and before it. */
const VALUES_PER_MS = 150;
/** Characters of a log row that are free; longer texts are written more than once. */
const USUAL_CHARACTERS = 8_192;
const CHARACTERS_PER_MS = 40_000;
/** Maximum charge as a multiple of the expected cost: a slow disk is not the tenant's fault. */
const MAX_TIMES_CHARGED = 5;
const RETRY_MS = 20;
const RECOUNT_MS = 10;
const LIMITS = LANES.writes;
const MAX_TENANTS = 2_000;

/** Size of a write: values, and characters of the call log. */
export interface Amount {
  values: number;
  characters?: number;
}

interface Waiting {
  ms: number;
  since: number;
  start: () => void;
}

interface Writer {
  /** Cost of what was stored. */
  used: LeakyBucket;
  waiting: Waiting[];
  waitingMs: number;
}

/**
 * Shares the time of the database writer between tenants (CONTRACT 7, shares), because flushes follow each other. A
 * tenant over its burst waits while other tenants write; alone, it has everything.
 */
export class WriteShares {
  readonly #now: () => number;
  readonly #writers = new Map<string, Writer>();
  readonly #active: ActiveTenants;
  readonly #counts = countsOf(LIMITS.name);
  #waitingTenants = 0;
  /** Share of each tenant over its burst. */
  #share = LIMITS.share;
  #recountAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#active = new ActiveTenants(now);
  }

  /**
   * Resolves when the tenant may write; null: at once. Throws OVERLOADED when too much of it waits. Check its rights
   * again after the wait.
   */
  turn(tenant: string, amount: Amount): Promise<void> | null {
    const ms = usualMs(amount);
    if (ms === 0) return null;
    this.#active.note(tenant);
    this.#recount();
    const writer = this.#writerOf(tenant);
    if (ms <= LIMITS.freeMs || (writer.waiting.length === 0 && this.#mayStart(tenant, writer))) {
      this.#charge(writer, ms);
      return null;
    }
    if (writer.waiting.length > 0 && this.#isFull(writer, ms)) {
      this.#counts.refused += 1;
      throw new AppError(
        'OVERLOADED',
        'This workspace is over its share of the write capacity while others write too: send the rest more slowly.',
        {
          details: { retryAfterSeconds: 2 },
        },
      );
    }
    return new Promise((start) => {
      if (writer.waiting.length === 0) this.#waitingTenants += 1;
      writer.waiting.push({ ms, since: this.#counts.begin(), start });
      writer.waitingMs += ms;
      this.#drainSoon();
    });
  }

  /**
   * Writes an amount whose `turn` was charged; the tenant counts as active meanwhile. `store` resolves with the milliseconds
   * that the database took: more than usual where it writes over keys.
   */
  async storing(tenant: string, amount: Amount, store: () => Promise<number>): Promise<void> {
    const charged = usualMs(amount);
    const tookMs = await this.#active.during(tenant, store);
    if (charged <= LIMITS.freeMs) return;
    const extraMs = Math.min(tookMs, charged * MAX_TIMES_CHARGED) - charged;
    if (extraMs > 0) this.#charge(this.#writerOf(tenant), extraMs);
  }

  #isFull(writer: Writer, ms: number): boolean {
    const waitingMs = writer.waitingMs + ms;
    if (waitingMs > LIMITS.maxWaitingMs || writer.waiting.length >= LIMITS.maxWaiting) return true;
    return waitingMs + this.#used(writer) > LIMITS.maxWaitMs * this.#share;
  }

  #mayStart(tenant: string, writer: Writer): boolean {
    return this.#used(writer) <= LIMITS.burstMs || !this.#hasOthers(tenant);
  }

  #hasOthers(tenant: string): boolean {
    const waitsItself = (this.#writers.get(tenant)?.waiting.length ?? 0) > 0;
    return this.#waitingTenants > (waitsItself ? 1 : 0) || this.#active.hasOthers(tenant);
  }

  #charge(writer: Writer, ms: number): void {
    this.#counts.chargedMs += ms;
    writer.used.add(ms, this.#now(), { share: this.#share, max: LIMITS.burstMs + LIMITS.maxWaitMs * this.#share });
  }

  #used({ used }: Writer): number {
    return used.level(this.#now(), this.#share);
  }

  #drainSoon(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#drain();
    }, RETRY_MS).unref();
  }

  #drain(): void {
    this.#recount();
    for (const [tenant, writer] of this.#writers) {
      let startedMs = 0;
      while (writer.waiting.length > 0 && startedMs < LIMITS.maxStartedMs && this.#mayStart(tenant, writer))
        startedMs += this.#startNext(writer);
    }
    if (this.#waitingTenants > 0) this.#drainSoon();
  }

  #startNext(writer: Writer): number {
    const { ms, since, start } = writer.waiting.shift()!;
    this.#counts.end(since);
    writer.waitingMs -= ms;
    if (writer.waiting.length === 0) this.#waitingTenants -= 1;
    this.#charge(writer, ms);
    start();
    return ms;
  }

  /** Recounts the tenants over their burst and divides the share between them. */
  #recount(): void {
    const now = this.#now();
    if (now < this.#recountAt) return;
    this.#recountAt = now + RECOUNT_MS;
    let overBurst = 0;
    for (const writer of this.#writers.values())
      if (writer.waiting.length > 0 || this.#used(writer) > LIMITS.burstMs) overBurst += 1;
    const share = Math.min(LIMITS.share, LIMITS.shareOfAll / Math.max(1, overBurst));
    if (share === this.#share) return;
    // Drain at the old share up to now.
    for (const writer of this.#writers.values()) this.#charge(writer, 0);
    this.#share = share;
    // Cap at the new share: nobody's wait grows beyond the maximum.
    for (const writer of this.#writers.values()) this.#charge(writer, 0);
  }

  #writerOf(tenant: string): Writer {
    let writer = this.#writers.get(tenant);
    if (writer === undefined) {
      if (this.#writers.size >= MAX_TENANTS) this.#sweep();
      writer = { used: new LeakyBucket(this.#now()), waiting: [], waitingMs: 0 };
      this.#writers.set(tenant, writer);
    }
    return writer;
  }

  #sweep(): void {
    for (const [tenant, writer] of this.#writers)
      if (writer.waiting.length === 0 && this.#used(writer) === 0) this.#writers.delete(tenant);
  }
}

/** Expected cost of an amount, charged at its turn. */
function usualMs({ values, characters = 0 }: Amount): number {
  return values / VALUES_PER_MS + Math.max(0, characters - USUAL_CHARACTERS) / CHARACTERS_PER_MS;
}
