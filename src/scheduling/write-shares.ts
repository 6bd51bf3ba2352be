import { AppError } from '../errors.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import { ActiveTenants } from './active-tenants.ts';

/** What a value costs those who write: in the database's thread, and before it. */
const VALUES_PER_MS = 150;
/** What the log keeps of a call, beyond what is usual: texts, which are written more than once. */
const USUAL_CHARACTERS = 8_192;
const CHARACTERS_PER_MS = 40_000;
/** Of readings that a value is written into. */
const REWRITTEN_PER_MS = 40_000;
/** What took the database longer counts for as long as it took, up to so many times: a disk may be slow for all. */
const AT_MOST_TIMES = 5;
/** What a tenant may store at once before it has to wait for others. */
const BURST_MS = 50;
/** Some values of one device: they are counted, but do not stand behind the bulk of their tenant. */
const LITTLE_MS = 0.1;
/** Nobody waits longer for what it has stored; what would is refused. */
const LONGEST_WAIT_MS = 10_000;
/** How much of the time a tenant gets that stores more while others store anything, and all such tenants together. */
const SHARE = 0.3;
const SHARE_OF_ALL = 0.5;
const LOOK_AGAIN_MS = 20;
const COUNT_AGAIN_MS = 10;
/** Of a tenant: they are in memory meanwhile. */
const MAX_WAITING_MS = 1_000;
const MAX_WAITING = 1_000;
/** What goes on at one look of who is alone by then: others may come back, and would stand behind all of it. */
const AT_ONCE_MS = 20;
const MAX_TENANTS = 2_000;

/** What is to be stored: values, characters of the call log, and bytes that are written again (`LongReadings`). */
export interface Amount {
  values: number;
  characters?: number;
  rewritten?: number;
}

interface Storing {
  /** What was known of it when it had its turn. */
  asked: Amount;
  /** What is known now. */
  amount: () => Amount;
  store: () => Promise<number>;
}

interface Waiting {
  ms: number;
  begin: () => void;
}

interface Writer {
  /** For what was stored. */
  debt: LeakyBucket;
  waiting: Waiting[];
  waitingMs: number;
}

/**
 * The time of who writes to the database, shared between tenants (CONTRACT 7, shares): flushes follow each other, so a
 * request with one value stands behind the ten thousand of another. Who has stored more than a burst waits while other
 * tenants store anything; alone, everybody has everything. A stream of single values never comes near its share.
 */
export class WriteShares {
  readonly #now: () => number;
  readonly #writers = new Map<string, Writer>();
  readonly #senders: ActiveTenants;
  #waitingTenants = 0;
  /** Of each tenant that stores more. */
  #share = SHARE;
  #countedUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#senders = new ActiveTenants(now);
  }

  /**
   * When the tenant may store so much; null: at once. Throws OVERLOADED when too many of it wait. What was true of
   * its rights has to be looked at again after the waiting.
   */
  turn(tenant: string, amount: Amount): Promise<void> | null {
    const ms = usualMs(amount);
    if (ms === 0) return null;
    this.#senders.saw(tenant);
    this.#count();
    const writer = this.#writerOf(tenant);
    if (ms <= LITTLE_MS || (writer.waiting.length === 0 && this.#mayBegin(tenant, writer))) {
      this.#charge(writer, ms);
      return null;
    }
    if (writer.waiting.length > 0 && this.#isTooMuch(writer, ms))
      throw new AppError(
        'OVERLOADED',
        'This workspace is over its share of the write capacity while others write too: send the rest more slowly.',
        {
          details: { retryAfterSeconds: 2 },
        },
      );
    return new Promise((begin) => {
      if (writer.waiting.length === 0) this.#waitingTenants += 1;
      writer.waiting.push({ ms, begin });
      writer.waitingMs += ms;
      this.#lookSoon();
    });
  }

  /**
   * Stores so much of the tenant, whose `turn` it was with what was `asked`; meanwhile it is there. `store` resolves with
   * how long that took the database, in ms: keys that are written again take longer than new ones. What the amount turned
   * out to be is seen afterwards: that readings are long is known when they have been written again.
   */
  async storing(tenant: string, { asked, amount, store }: Storing): Promise<void> {
    const charged = usualMs(asked);
    const tookMs = await this.#senders.meanwhile(tenant, store);
    const ms = usualMs(amount());
    if (Math.max(charged, ms) <= LITTLE_MS) return;
    const more = Math.max(ms, Math.min(tookMs, charged * AT_MOST_TIMES)) - charged;
    if (more > 0) this.#charge(this.#writerOf(tenant), more);
  }

  #isTooMuch(writer: Writer, ms: number): boolean {
    const waitingMs = writer.waitingMs + ms;
    if (waitingMs > MAX_WAITING_MS || writer.waiting.length >= MAX_WAITING) return true;
    return waitingMs + this.#debt(writer) > LONGEST_WAIT_MS * this.#share;
  }

  #mayBegin(tenant: string, writer: Writer): boolean {
    return this.#debt(writer) <= BURST_MS || !this.#othersAreThere(tenant);
  }

  #othersAreThere(tenant: string): boolean {
    const waitsItself = (this.#writers.get(tenant)?.waiting.length ?? 0) > 0;
    return this.#waitingTenants > (waitsItself ? 1 : 0) || this.#senders.othersAreThere(tenant);
  }

  #charge(writer: Writer, ms: number): void {
    writer.debt.add(ms, this.#now(), { share: this.#share, most: BURST_MS + LONGEST_WAIT_MS * this.#share });
  }

  #debt({ debt }: Writer): number {
    return debt.left(this.#now(), this.#share);
  }

  #lookSoon(): void {
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#look();
    }, LOOK_AGAIN_MS).unref();
  }

  #look(): void {
    this.#count();
    for (const [tenant, writer] of this.#writers) {
      let begunMs = 0;
      while (writer.waiting.length > 0 && begunMs < AT_ONCE_MS && this.#mayBegin(tenant, writer))
        begunMs += this.#beginNext(writer);
    }
    if (this.#waitingTenants > 0) this.#lookSoon();
  }

  #beginNext(writer: Writer): number {
    const { ms, begin } = writer.waiting.shift()!;
    writer.waitingMs -= ms;
    if (writer.waiting.length === 0) this.#waitingTenants -= 1;
    this.#charge(writer, ms);
    begin();
    return ms;
  }

  /** Now and then: how many have stored more than their burst, and share what such tenants have. */
  #count(): void {
    const now = this.#now();
    if (now < this.#countedUntil) return;
    this.#countedUntil = now + COUNT_AGAIN_MS;
    let heavy = 0;
    for (const writer of this.#writers.values())
      if (writer.waiting.length > 0 || this.#debt(writer) > BURST_MS) heavy += 1;
    const share = Math.min(SHARE, SHARE_OF_ALL / Math.max(1, heavy));
    if (share === this.#share) return;
    // What was forgotten until now was so by the share until now.
    for (const writer of this.#writers.values()) this.#charge(writer, 0);
    this.#share = share;
    // Nor does anybody wait longer than the longest because others have come.
    for (const writer of this.#writers.values()) this.#charge(writer, 0);
  }

  #writerOf(tenant: string): Writer {
    let writer = this.#writers.get(tenant);
    if (writer === undefined) {
      if (this.#writers.size >= MAX_TENANTS) this.#sweep();
      writer = { debt: new LeakyBucket(this.#now()), waiting: [], waitingMs: 0 };
      this.#writers.set(tenant, writer);
    }
    return writer;
  }

  #sweep(): void {
    for (const [tenant, writer] of this.#writers)
      if (writer.waiting.length === 0 && this.#debt(writer) === 0) this.#writers.delete(tenant);
  }
}

/** Charged at its turn. */
function usualMs({ values, characters = 0, rewritten = 0 }: Amount): number {
  const charactersMs = Math.max(0, characters - USUAL_CHARACTERS) / CHARACTERS_PER_MS;
  return values / VALUES_PER_MS + charactersMs + rewritten / REWRITTEN_PER_MS;
}
