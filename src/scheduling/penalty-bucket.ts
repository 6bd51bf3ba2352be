import { AppError } from '../errors.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import { LruMap } from './lru-map.ts';
import type { ActiveTenants } from './active-tenants.ts';

/** The most that is held against a tenant. */
const MAX_DEBT_MS = 600;
/** How much of the time what is held against it gets while others are there. */
const SHARE = 0.2;
/** A source that uses more of the time in vain than this is one that does. */
const SHARE_OF_SOURCE = 0.05;
const LOOK_AGAIN_MS = 50;
/** Of one source while much is held against its tenant; what waits is kept in memory meanwhile. */
const MAX_WAITING = 50;
const MAX_LINES = 2_000;
const MAX_SOURCES = 10_000;

/** Whose work it is: the tenant, and its token or product. */
interface Held {
  tenant: string;
  source: string;
  /** What it costs at most, as far as that is known before. */
  ms: number;
  /**
   * It is a further piece of what has begun: it is not refused, and goes before what comes newly, so that there is little of
   * it. Of hundreds that go on beside each other none would come to its end.
   */
  goesOn?: boolean;
  /** Whether nobody waits for what it gives any more: it does not begin then. */
  isGone?: () => boolean;
}

interface Waiting extends Pick<Held, 'ms' | 'goesOn' | 'isGone'> {
  begin: () => void;
  refuse: (error: AppError) => void;
}

interface Line {
  tenant: string;
  debt: LeakyBucket;
  running: number;
  /** What is being worked on would count so much, if all of it were held against the tenant. */
  underWayMs: number;
  /** By source; the next one first. */
  waiting: Map<string, Waiting[]>;
  timer: NodeJS.Timeout | null;
}

interface PenaltyBucketOptions {
  /** What may be held against a tenant, or under way, before it has to wait for others. */
  burstMs: number;
  /** More than that of a tenant is never under way, nobody else being there or not. */
  mostUnderWayMs?: number;
  /** What a source is told of which too much waits. */
  tooMuch: string;
}

/**
 * Work that is held against the tenant for which it is done: who has much of it waits while others send (CONTRACT 7,
 * shares). Sources of a tenant take turns, and those against which something is held stand in a line of their own: a
 * tenant's devices do not wait for what somebody sends to a webhook whose address he knows.
 */
export class PenaltyBucket {
  readonly #senders: ActiveTenants;
  readonly #burstMs: number;
  readonly #mostUnderWayMs: number;
  readonly #tooMuch: string;
  /** Of tenants: of their sources against which something is held, and of the others. */
  readonly #held = new LruMap<string, Line>({ most: MAX_LINES });
  readonly #free = new LruMap<string, Line>({ most: MAX_LINES });
  readonly #sources = new LruMap<string, LeakyBucket>({ most: MAX_SOURCES });

  constructor(senders: ActiveTenants, { burstMs, mostUnderWayMs = Infinity, tooMuch }: PenaltyBucketOptions) {
    this.#senders = senders;
    this.#burstMs = burstMs;
    this.#mostUnderWayMs = mostUnderWayMs;
    this.#tooMuch = tooMuch;
  }

  /**
   * What `work` gives, begun when it may be; what `costOf` says in ms is held against the tenant, all when it fails.
   * Throws what `work` throws, and OVERLOADED when too many of a source wait.
   */
  async run<T>(
    { tenant, source, ms, goesOn, isGone }: Held,
    work: () => Promise<T>,
    costOf: (result: T) => number,
  ): Promise<T> {
    const name = `${tenant} ${source}`;
    const line = this.#lineOf(tenant, this.#isHeld(name) ? this.#held : this.#free);
    if (line.waiting.size > 0 || !this.#mayBegin(line, ms)) await this.#turn(line, source, { ms, goesOn, isGone });
    else this.#start(line, ms);
    let cost = 0;
    try {
      const result = await work();
      cost = costOf(result);
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code !== 'OVERLOADED' && error.code !== 'UNAVAILABLE') cost = ms;
      throw error;
    } finally {
      line.running -= 1;
      // Of fractions something would be left over, and hold the next one up for ever.
      line.underWayMs = line.running === 0 ? 0 : line.underWayMs - ms;
      this.#charge(name, line, cost);
      this.#beginNext(line);
    }
  }

  /** So many ms more are held against the tenant and the source, which what goes on for them has cost by now. */
  hold({ tenant, source }: Pick<Held, 'tenant' | 'source'>, ms: number): void {
    const name = `${tenant} ${source}`;
    this.#charge(name, this.#lineOf(tenant, this.#isHeld(name) ? this.#held : this.#free), ms);
  }

  /**
   * Beside others as much as would be its burst, if all of it were held against it, and always one. Alone everything;
   * but what has waited goes on a burst at a time: others may come back, and would stand behind all of it.
   */
  #mayBegin(line: Line, ms: number, hasWaited = false): boolean {
    const { tenant, underWayMs } = line;
    const debtMs = this.#debtOf(line);
    const mostMs = hasWaited ? Math.min(this.#burstMs, this.#mostUnderWayMs) : this.#mostUnderWayMs;
    if (underWayMs > 0 && underWayMs + ms > mostMs) return false;
    if (debtMs <= this.#burstMs && (underWayMs === 0 || debtMs + underWayMs + ms <= this.#burstMs)) return true;
    return !this.#senders.othersAreThere(tenant);
  }

  #turn(line: Line, source: string, asked: Omit<Held, 'tenant' | 'source'>): Promise<void> {
    const ofSource = line.waiting.get(source) ?? [];
    const { goesOn = false } = asked;
    if (!goesOn && ofSource.length >= MAX_WAITING && this.#debtOf(line) > this.#burstMs)
      throw new AppError('OVERLOADED', this.#tooMuch, { details: { retryAfterSeconds: 5 } });
    return new Promise((begin, refuse) => {
      const firstNew = goesOn ? ofSource.findIndex((one) => one.goesOn !== true) : -1;
      ofSource.splice(firstNew < 0 ? ofSource.length : firstNew, 0, { ...asked, begin, refuse });
      line.waiting.set(source, ofSource);
      this.#beginNext(line);
    });
  }

  #beginNext(line: Line): void {
    const { waiting } = line;
    for (const [source, ofSource] of waiting) {
      const { ms, begin } = ofSource[0]!;
      if (!this.#mayBegin(line, ms, true)) break;
      ofSource.shift();
      // Behind all others, and looked at again in this loop.
      waiting.delete(source);
      if (ofSource.length > 0) waiting.set(source, ofSource);
      this.#start(line, ms);
      begin();
    }
    if (waiting.size > 0)
      line.timer ??= setTimeout(() => {
        line.timer = null;
        this.#dismissGone(line);
        this.#beginNext(line);
      }, LOOK_AGAIN_MS).unref();
  }

  /** What they sent would be kept, and nobody counts it any more. */
  #dismissGone({ waiting }: Line): void {
    for (const [source, ofSource] of waiting) {
      const [gone, left] = [ofSource.filter(isGone), ofSource.filter((one) => !isGone(one))];
      for (const { refuse } of gone) refuse(new AppError('OVERLOADED', this.#tooMuch));
      if (left.length === 0) waiting.delete(source);
      else if (gone.length > 0) waiting.set(source, left);
    }
  }

  #start(line: Line, ms: number): void {
    line.running += 1;
    line.underWayMs += ms;
  }

  #hold(debt: LeakyBucket, cost: number, share: number): void {
    debt.add(cost, this.#senders.now(), { share, most: MAX_DEBT_MS });
  }

  /** Its source stands in the other line from now on, and has no burst of its own there. */
  #charge(name: string, line: Line, cost: number): void {
    if (cost === 0) return;
    const { tenant } = line;
    this.#hold(line.debt, cost, SHARE);
    const held = this.#lineOf(tenant, this.#held);
    if (held !== line) this.#hold(held.debt, cost, SHARE);
    const source = this.#sources.get(name) ?? new LeakyBucket(this.#senders.now());
    this.#hold(source, cost, SHARE_OF_SOURCE);
    this.#sources.set(name, source);
  }

  #debtOf({ debt }: Line): number {
    return debt.left(this.#senders.now(), SHARE);
  }

  /** Whether something is still held against the source. */
  #isHeld(name: string): boolean {
    return (this.#sources.get(name)?.left(this.#senders.now(), SHARE_OF_SOURCE) ?? 0) > 0;
  }

  #lineOf(tenant: string, lines: LruMap<string, Line>): Line {
    let line = lines.get(tenant);
    if (line === undefined) {
      const debt = new LeakyBucket(this.#senders.now());
      line = { tenant, debt, running: 0, underWayMs: 0, waiting: new Map(), timer: null };
      lines.set(tenant, line);
    }
    return line;
  }
}

function isGone(waiting: Waiting): boolean {
  return waiting.isGone?.() === true;
}
