import { type TenantQuota, PRESENT_MS } from './tenant-quota.ts';

/** What a caller may use at once before it has to wait for others, and the most that is held against it. */
export const BURST_MS = 50;
const MAX_DEBT_MS = 2000;
/** How much of the time somebody gets who uses more, while others are there … */
export const SHARE = 0.15;
/** … and who has asked for one thing after the other for a while, and for nothing in the background. */
export const SHARE_ONE_BY_ONE = 0.3;
const ONE_BY_ONE_MS = 250;
/**
 * In the background nobody waits longer than so for what it has used: its reader would give up. Unless its tenant works
 * there with very many.
 */
const LONGEST_WAIT_MS = 10_000;
const VERY_MANY_EACH = 0.01;

/** One that has to wait for its turn. */
export interface Waiting {
  weight: number;
  since: number;
  patient: boolean;
  start: () => void;
  refuse: (error: Error) => void;
}

/** Who shares the time of the event loop with others (`FairScheduler`): what it does, and what it has used. */
export class CallerQuota {
  readonly isBackground: boolean;
  tenant: string;
  running = 0;
  waiting: Waiting[] = [];
  /** Of its turns in the background. */
  waitingAside = 0;
  /** When it last asked for something that is not dear. */
  cheapAt = Number.NEGATIVE_INFINITY;
  /** When it last had more than one thing under way, or something in the background. */
  crowdAt = Number.NEGATIVE_INFINITY;
  /** What it may use, as all of its kind and tenant. */
  #allowance: TenantQuota;
  /** Time used and not yet forgotten, as of `#at`, when so much had been allowed to each of its kind. */
  #debtMs = 0;
  #at: number;
  #allowedMs = 0;

  constructor(tenant: string, allowance: TenantQuota, { isBackground, now }: { isBackground: boolean; now: number }) {
    this.tenant = tenant;
    this.#allowance = allowance;
    this.isBackground = isBackground;
    this.#at = now;
  }

  get allowance(): TenantQuota {
    return this.#allowance;
  }

  /** When something was held against it last. */
  get at(): number {
    return this.#at;
  }

  get isIdle(): boolean {
    return this.running + this.waiting.length + this.waitingAside === 0;
  }

  /** Something of that weight begins to run. */
  begin(weight: number, now: number): void {
    this.running += weight;
    this.#allowance.servedAt.set(weight, now);
  }

  /**
   * Of two that wait and have used as much, below 0: it goes before the other. First whose tenant has begun nothing of
   * that weight for longer, or many that wait for each of many tenants would all go before another's one; then who has
   * waited longer.
   */
  order(other: CallerQuota): number {
    const [mine, its] = [this.waiting[0]!, other.waiting[0]!];
    return this.#servedAt(mine.weight) - other.#servedAt(its.weight) || mine.since - its.since;
  }

  /** What is held against it. */
  debt(now: number): number {
    const passedMs = now - this.#at;
    const allowedMs = this.#allowance.total(now) - this.#allowedMs;
    const debt = this.#debtMs - Math.min(passedMs * this.#share(now), allowedMs);
    const isLong = this.isBackground && passedMs >= LONGEST_WAIT_MS && this.#allowance.each > VERY_MANY_EACH;
    return Math.max(0, isLong ? Math.min(debt, BURST_MS) : debt);
  }

  /** How much of it is forgotten in a millisecond, as of now. */
  rate(now: number): number {
    return Math.min(this.#share(now), this.#allowance.each);
  }

  /** Holds time against it; whether it has used more than its burst by that, and had not before. */
  charge(milliseconds: number, now: number): boolean {
    const before = this.debt(now);
    // What is no number would be held against it for ever.
    this.#debtMs = Math.min(before + (Number.isNaN(milliseconds) ? 0 : milliseconds), MAX_DEBT_MS);
    this.#at = now;
    this.#allowedMs = this.#allowance.total(now);
    return before <= BURST_MS && this.#debtMs > BURST_MS;
  }

  /** Holds so much less against it. */
  forgive(milliseconds: number, now: number): void {
    this.charge(0, now);
    this.#debtMs = Math.max(0, this.#debtMs - milliseconds);
  }

  /** A user may come into a second workspace, or leave it. */
  move(tenant: string, allowance: TenantQuota, now: number): void {
    this.charge(0, now);
    this.tenant = tenant;
    this.#allowance = allowance;
    this.#allowedMs = allowance.total(now);
  }

  /** Whether it shares with the others who have used more than their burst and go on. */
  shares(now: number): boolean {
    return this.#debtMs > BURST_MS && this.isThere(now);
  }

  /** Whether it asks, or did so lately. */
  isThere(now: number): boolean {
    return this.running > 0 || this.waiting.length > 0 || this.#at > now - PRESENT_MS;
  }

  #servedAt(weight: number): number {
    return this.#allowance.servedAt.get(weight) ?? 0;
  }

  /** Of one that has no others of its kind beside it. */
  #share(now: number): number {
    if (this.isBackground) return SHARE;
    const { waiting } = this;
    const isCrowd =
      this.waitingAside > 0 || waiting.length > 1 || (waiting.length > 0 && (this.running > 0 || waiting[0]!.patient));
    return isCrowd || now - this.crowdAt <= ONE_BY_ONE_MS ? SHARE : SHARE_ONE_BY_ONE;
  }
}
