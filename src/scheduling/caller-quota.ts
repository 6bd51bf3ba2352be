import { LANES } from './lanes.ts';
import { type TenantQuota, ACTIVE_MS } from './tenant-quota.ts';

const LIMITS = LANES.operations;

/** Work that waits for its turn. */
export interface Waiting {
  weight: number;
  since: number;
  patient: boolean;
  start: () => void;
  refuse: (error: Error) => void;
}

/** State of a caller in the `FairScheduler`: its running and waiting work, and the time it used. */
export class CallerQuota {
  readonly isBackground: boolean;
  tenant: string;
  running = 0;
  waiting: Waiting[] = [];
  /** Number of its turns waiting in the background. */
  waitingInBackground = 0;
  /** When it last asked for inexpensive work. */
  inexpensiveAt = Number.NEGATIVE_INFINITY;
  /** When it last had several things under way, or one in the background. */
  concurrentAt = Number.NEGATIVE_INFINITY;
  /** Quota of its tenant, for background work or for the rest. */
  #tenantQuota: TenantQuota;
  /** Used time not yet drained at `#chargedAt`, and the time allowed to each caller by then. */
  #usedMs = 0;
  #chargedAt: number;
  #allowedMs = 0;

  constructor(tenant: string, tenantQuota: TenantQuota, { isBackground, now }: { isBackground: boolean; now: number }) {
    this.tenant = tenant;
    this.#tenantQuota = tenantQuota;
    this.isBackground = isBackground;
    this.#chargedAt = now;
  }

  get tenantQuota(): TenantQuota {
    return this.#tenantQuota;
  }

  /** When it was last charged. */
  get chargedAt(): number {
    return this.#chargedAt;
  }

  get isIdle(): boolean {
    return this.running + this.waiting.length + this.waitingInBackground === 0;
  }

  /** Starts work of that weight. */
  begin(weight: number, now: number): void {
    this.running += weight;
    this.#tenantQuota.servedAt.set(weight, now);
  }

  /**
   * Compares two waiting callers that used as much; below 0: this one is first. Tenants that started nothing of that
   * weight for longer go first, so that one waiting caller is not behind the many of other tenants; then the longer
   * wait.
   */
  order(other: CallerQuota): number {
    const [own, theirs] = [this.waiting[0]!, other.waiting[0]!];
    return this.#servedAt(own.weight) - other.#servedAt(theirs.weight) || own.since - theirs.since;
  }

  /** Used time not yet drained. */
  used(now: number): number {
    const passedMs = now - this.#chargedAt;
    const allowedMs = this.#tenantQuota.allowedMs(now) - this.#allowedMs;
    const used = this.#usedMs - Math.min(passedMs * this.#share(now), allowedMs);
    const isCapped =
      this.isBackground &&
      passedMs >= LANES.background.maxWaitMs &&
      this.#tenantQuota.callerShare > LANES.background.crowdedShare;
    return Math.max(0, isCapped ? Math.min(used, LIMITS.burstMs) : used);
  }

  /** Used time drained per millisecond, as of now. */
  drainRate(now: number): number {
    return Math.min(this.#share(now), this.#tenantQuota.callerShare);
  }

  /** Charges time to it; returns whether that brought it over its burst. */
  charge(milliseconds: number, now: number): boolean {
    const before = this.used(now);
    // NaN would never drain.
    this.#usedMs = Math.min(before + (Number.isNaN(milliseconds) ? 0 : milliseconds), LIMITS.maxUsedMs);
    this.#chargedAt = now;
    this.#allowedMs = this.#tenantQuota.allowedMs(now);
    return before <= LIMITS.burstMs && this.#usedMs > LIMITS.burstMs;
  }

  /** Refunds time; it counts as no use. */
  forgive(milliseconds: number): void {
    this.#usedMs -= milliseconds;
  }

  /** Moves it to another tenant: a user joined a second workspace, or left it. */
  move(tenant: string, tenantQuota: TenantQuota, now: number): void {
    this.charge(0, now);
    this.tenant = tenant;
    this.#tenantQuota = tenantQuota;
    this.#allowedMs = tenantQuota.allowedMs(now);
  }

  /** Whether it is over its burst and active. */
  exceedsBurst(now: number): boolean {
    return this.#usedMs > LIMITS.burstMs && this.isActive(now);
  }

  /** Whether it has running or waiting work, or had recently. */
  isActive(now: number): boolean {
    return this.running > 0 || this.waiting.length > 0 || this.#chargedAt > now - ACTIVE_MS;
  }

  #servedAt(weight: number): number {
    return this.#tenantQuota.servedAt.get(weight) ?? 0;
  }

  /** Share of a caller that is alone. */
  #share(now: number): number {
    if (this.isBackground) return LIMITS.share;
    const { waiting } = this;
    const isConcurrent =
      this.waitingInBackground > 0 ||
      waiting.length > 1 ||
      (waiting.length > 0 && (this.running > 0 || waiting[0]!.patient));
    return isConcurrent || now - this.concurrentAt <= LIMITS.sequentialAfterMs ? LIMITS.share : LIMITS.sequentialShare;
  }
}
