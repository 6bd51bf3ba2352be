import { LANES } from './lanes.ts';
import { LeakyBucket } from './leaky-bucket.ts';

/** Time after its last request for which a caller counts as active. */
export const ACTIVE_MS = 250;
const LIMITS = LANES.operations;

/**
 * Share of the time of each caller of one tenant. Allowed time is summed up as it passes, because the number of callers
 * changes.
 */
export class TenantQuota {
  readonly #maxOfCaller: number;
  readonly #totalShare: number;
  #allowedMs = 0;
  #at = 0;
  #callerShare: number;
  #tenantShare: number;
  /** Time that all its callers used together. */
  readonly #used = new LeakyBucket(0);
  /** Number of its active callers. */
  #active = 0;
  /** When a caller of the tenant last started work, by weight. */
  readonly servedAt = new Map<number, number>();

  /** `maxCallerShare`: of one caller; `totalShare`: of all callers of all tenants. */
  constructor(maxCallerShare: number, totalShare: number) {
    this.#maxOfCaller = maxCallerShare;
    this.#totalShare = totalShare;
    this.#callerShare = maxCallerShare;
    this.#tenantShare = totalShare;
  }

  /** Charges time to the tenant; negative time is refunded. */
  charge(milliseconds: number, now: number): void {
    this.#used.add(milliseconds, now, { share: this.#tenantShare, max: LIMITS.maxUsedMs });
  }

  /** Time charged to the tenant and not yet drained. */
  used(now: number): number {
    return this.#used.level(now, this.#tenantShare);
  }

  /** Used time drained per millisecond. */
  get drainRate(): number {
    return this.#tenantShare;
  }

  /** Sets the number of active callers. */
  setActive(active: number): void {
    this.#active = active;
  }

  /** Whether several callers together used more than the tenant's burst, however little each of them did. */
  exceedsBurst(now: number): boolean {
    return this.#active > 1 && this.used(now) > LIMITS.tenantBurstMs;
  }

  /** Milliseconds until the tenant is within its burst again, unless it goes on. */
  msUntilWithinBurst(now: number): number {
    return this.exceedsBurst(now) ? (this.used(now) - LIMITS.tenantBurstMs) / this.#tenantShare : 0;
  }

  /** Current share of each caller. */
  get callerShare(): number {
    return this.#callerShare;
  }

  /** Divides the time from now on between this many callers of the tenant, and this many tenants. */
  divide(callers: number, tenants: number, now: number): void {
    this.#allowedMs = this.allowedMs(now);
    this.#at = now;
    this.charge(0, now);
    this.#tenantShare = Math.max(LIMITS.minShareOfTenant, this.#totalShare / Math.max(1, tenants));
    this.#callerShare = Math.min(
      this.#maxOfCaller,
      Math.max(LIMITS.minShareOfCaller, this.#tenantShare / Math.max(1, callers)),
    );
  }

  /** Time in ms allowed to each caller since the beginning. Callers that were not counted again have left. */
  allowedMs(now: number): number {
    const passedMs = now - this.#at;
    const sharedMs = Math.min(passedMs, ACTIVE_MS);
    return this.#allowedMs + sharedMs * this.#callerShare + (passedMs - sharedMs) * this.#maxOfCaller;
  }
}

/** Divides the time equally between tenants, however many callers each of them has. */
export class TenantQuotas {
  readonly #maxOfCaller: number;
  readonly #totalShare: number;
  readonly #byTenant = new Map<string, TenantQuota>();

  /** `maxCallerShare`: of one caller; `totalShare`: of all callers. */
  constructor(maxCallerShare: number, totalShare: number) {
    this.#maxOfCaller = maxCallerShare;
    this.#totalShare = totalShare;
  }

  /** Quota of the tenant, made when it is new. */
  of(tenant: string): TenantQuota {
    let quota = this.#byTenant.get(tenant);
    if (quota === undefined) this.#byTenant.set(tenant, (quota = new TenantQuota(this.#maxOfCaller, this.#totalShare)));
    return quota;
  }

  /** Divides the time from now on between these, one for each caller. */
  divide(used: readonly TenantQuota[], now: number): void {
    const callers = callersOf(used);
    const tenants = new Set([...callers.keys(), ...this.overBurst(now)]).size;
    for (const quota of this.#byTenant.values()) quota.divide(callers.get(quota) ?? 0, tenants, now);
  }

  /** Sets the active callers: a quota for each. */
  setActive(active: readonly TenantQuota[]): void {
    const callers = callersOf(active);
    for (const quota of this.#byTenant.values()) quota.setActive(callers.get(quota) ?? 0);
  }

  /** Quotas of tenants over their burst. */
  overBurst(now: number): TenantQuota[] {
    return [...this.#byTenant.values()].filter((quota) => quota.exceedsBurst(now));
  }

  /** Forgets all other quotas. */
  keep(used: ReadonlySet<TenantQuota>): void {
    for (const [tenant, quota] of this.#byTenant) if (!used.has(quota)) this.#byTenant.delete(tenant);
  }
}

function callersOf(quotas: readonly TenantQuota[]): Map<TenantQuota, number> {
  const callers = new Map<TenantQuota, number>();
  for (const quota of quotas) callers.set(quota, (callers.get(quota) ?? 0) + 1);
  return callers;
}
