import { LeakyBucket } from './leaky-bucket.ts';

/** Whoever asked so lately is still there. */
export const PRESENT_MS = 250;
/** What a tenant has at least, and a caller: a hundred of them have much of the time, but everybody still gets on. */
const LEAST = 0.01;
const LEAST_EACH = 0.001;
/** What a tenant may use at once with all its tokens together, and the most that is held against it. */
const BURST_OF_TENANT_MS = 500;
const MAX_DEBT_MS = 2000;

/**
 * How much of the time each of several callers may use who share what all have together. It is added up as time goes by:
 * how many they are now says nothing of what somebody was allowed before.
 */
export class TenantQuota {
  readonly #alone: number;
  readonly #together: number;
  #ms = 0;
  #at = 0;
  #each: number;
  #ofTenant: number;
  /** What all of them together have used. */
  readonly #debt = new LeakyBucket(0);
  /** How many of them are there. */
  #there = 0;
  /** When one of them began something of that weight last. */
  readonly servedAt = new Map<number, number>();

  /** `alone`: the share of one caller, `together`: of all. */
  constructor(alone: number, together: number) {
    this.#alone = alone;
    this.#together = together;
    this.#each = alone;
    this.#ofTenant = together;
  }

  /** Holds time against all of them together; a negative one is forgiven. */
  charge(milliseconds: number, now: number): void {
    this.#debt.add(milliseconds, now, { share: this.#ofTenant, most: MAX_DEBT_MS });
  }

  /** What is held against them together. */
  debt(now: number): number {
    return this.#debt.left(now, this.#ofTenant);
  }

  /** How much of that is forgotten in a millisecond. */
  get rate(): number {
    return this.#ofTenant;
  }

  /** So many of them are there. */
  note(there: number): void {
    this.#there = there;
  }

  /** Whether several of them have used more together than a tenant may at once, however little each of them has. */
  isOver(now: number): boolean {
    return this.#there > 1 && this.debt(now) > BURST_OF_TENANT_MS;
  }

  /** In so many milliseconds they are not any more, unless they go on. */
  overForMs(now: number): number {
    return this.isOver(now) ? (this.debt(now) - BURST_OF_TENANT_MS) / this.#ofTenant : 0;
  }

  /** The share of each as of now. */
  get each(): number {
    return this.#each;
  }

  /** From now on so many callers use it, and so many tenants something like it. */
  share(callers: number, tenants: number, now: number): void {
    this.#ms = this.total(now);
    this.#at = now;
    this.charge(0, now);
    this.#ofTenant = Math.max(LEAST, this.#together / Math.max(1, tenants));
    this.#each = Math.min(this.#alone, Math.max(LEAST_EACH, this.#ofTenant / Math.max(1, callers)));
  }

  /** What each was allowed since the beginning, in milliseconds: who is not counted anew has left. */
  total(now: number): number {
    const passedMs = now - this.#at;
    const sharedMs = Math.min(passedMs, PRESENT_MS);
    return this.#ms + sharedMs * this.#each + (passedMs - sharedMs) * this.#alone;
  }
}

/** Of callers whose tenants have equal parts of what all have together, however many callers each of them has. */
export class TenantQuotas {
  readonly #alone: number;
  readonly #together: number;
  readonly #byTenant = new Map<string, TenantQuota>();

  /** `alone`: the share of one caller, `together`: of all. */
  constructor(alone: number, together: number) {
    this.#alone = alone;
    this.#together = together;
  }

  /** What each caller of the tenant has. */
  of(tenant: string): TenantQuota {
    let allowance = this.#byTenant.get(tenant);
    if (allowance === undefined) this.#byTenant.set(tenant, (allowance = new TenantQuota(this.#alone, this.#together)));
    return allowance;
  }

  /** From now on they are used by these, one for each caller. */
  share(used: readonly TenantQuota[], now: number): void {
    const callers = callersOf(used);
    const tenants = new Set([...callers.keys(), ...this.over(now)]).size;
    for (const allowance of this.#byTenant.values()) allowance.share(callers.get(allowance) ?? 0, tenants, now);
  }

  /** One for each caller that is there. */
  note(there: readonly TenantQuota[]): void {
    const callers = callersOf(there);
    for (const allowance of this.#byTenant.values()) allowance.note(callers.get(allowance) ?? 0);
  }

  /** Those of tenants that have used too much together. */
  over(now: number): TenantQuota[] {
    return [...this.#byTenant.values()].filter((allowance) => allowance.isOver(now));
  }

  /** Forgets all others. */
  keep(used: ReadonlySet<TenantQuota>): void {
    for (const [tenant, allowance] of this.#byTenant) if (!used.has(allowance)) this.#byTenant.delete(tenant);
  }
}

function callersOf(allowances: readonly TenantQuota[]): Map<TenantQuota, number> {
  const callers = new Map<TenantQuota, number>();
  for (const allowance of allowances) callers.set(allowance, (callers.get(allowance) ?? 0) + 1);
  return callers;
}
