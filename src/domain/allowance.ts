/** Whoever asked so lately is still there. */
export const PRESENT_MS = 250;
/** What a tenant has at least, and a caller: a hundred of them have much of the time, but everybody still gets on. */
const LEAST = 0.01;
const LEAST_EACH = 0.001;

/**
 * How much of the time each of several callers may use who share what all have together. It is added up as time goes by:
 * how many they are now says nothing of what somebody was allowed before.
 */
export class Allowance {
  readonly #alone: number;
  readonly #together: number;
  #ms = 0;
  #at = 0;
  #each: number;

  /** `alone`: the share of one caller, `together`: of all. */
  constructor(alone: number, together: number) {
    this.#alone = alone;
    this.#together = together;
    this.#each = alone;
  }

  /** The share of each as of now. */
  get each(): number {
    return this.#each;
  }

  /** From now on so many callers use it, and so many tenants something like it. */
  share(callers: number, tenants: number, now: number): void {
    this.#ms = this.total(now);
    this.#at = now;
    const ofTenant = Math.max(LEAST, this.#together / Math.max(1, tenants));
    this.#each = Math.min(this.#alone, Math.max(LEAST_EACH, ofTenant / Math.max(1, callers)));
  }

  /** What each was allowed since the beginning, in milliseconds: who is not counted anew has left. */
  total(now: number): number {
    const passedMs = now - this.#at;
    const sharedMs = Math.min(passedMs, PRESENT_MS);
    return this.#ms + sharedMs * this.#each + (passedMs - sharedMs) * this.#alone;
  }
}

/** Of callers whose tenants have equal parts of what all have together, however many callers each of them has. */
export class Allowances {
  readonly #alone: number;
  readonly #together: number;
  readonly #byTenant = new Map<string, Allowance>();

  /** `alone`: the share of one caller, `together`: of all. */
  constructor(alone: number, together: number) {
    this.#alone = alone;
    this.#together = together;
  }

  /** What each caller of the tenant has. */
  of(tenant: string): Allowance {
    let allowance = this.#byTenant.get(tenant);
    if (allowance === undefined) this.#byTenant.set(tenant, (allowance = new Allowance(this.#alone, this.#together)));
    return allowance;
  }

  /** From now on they are used by these, one for each caller. */
  share(used: readonly Allowance[], now: number): void {
    const callers = new Map<Allowance, number>();
    for (const allowance of used) callers.set(allowance, (callers.get(allowance) ?? 0) + 1);
    for (const allowance of this.#byTenant.values()) allowance.share(callers.get(allowance) ?? 0, callers.size, now);
  }

  /** Forgets all others. */
  keep(used: ReadonlySet<Allowance>): void {
    for (const [tenant, allowance] of this.#byTenant) if (!used.has(allowance)) this.#byTenant.delete(tenant);
  }
}
