import { AppError } from '../errors.ts';
import { type TenantQuota, TenantQuotas, ACTIVE_MS } from './tenant-quota.ts';
import type { Caller } from './caller.ts';
import { BackgroundLane } from './background-lane.ts';
import { ActiveCallers } from './active-callers.ts';
import type { BackgroundTurns, Turns } from './turns.ts';
import { runAs } from './current-caller.ts';
import { type Waiting, CallerQuota } from './caller-quota.ts';
import { countsOf, type LaneCounts } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import { SpareTime } from './spare-time.ts';

const LIMITS = LANES.operations;
const BACKGROUND_LIMITS = LANES.background;
/** Maximum time until the queue is looked at again: others may have left. */
const RETRY_MS = 50;
const RECOUNT_MS = 5;
/** Rest between two passes over the queue, as a multiple of the last pass: thousands may wait. */
const PUMP_REST_FACTOR = 5;

interface Kind {
  /** Nothing else of the caller runs beside it. */
  expensive?: boolean;
  /** Never refused; its number is bounded elsewhere. */
  patient?: boolean;
}

const BACKGROUND = 'background of ';

/**
 * Shares the time of the event loop between callers of GraphQL and files (CONTRACT 7, shares). A caller is a token, or
 * an address without one. A caller over its burst, or whose tenant is over its own, waits while others are active, the
 * ingest endpoints included; alone, it has everything. Tenants share equally the time of those over their burst, and each
 * divides its part among its tokens; time that nobody wants is divided among the callers over their burst.
 */
export class FairScheduler {
  readonly #now: () => number;
  readonly #spare: SpareTime;
  readonly #quotas = new Map<string, CallerQuota>();
  /** Those with waiting work. */
  readonly #queued = new Set<CallerQuota>();
  readonly #pieces = new BackgroundLane(LANES.filePages);
  readonly #backgroundQuotas = new TenantQuotas(LIMITS.share, LANES.background.shareOfAll);
  readonly #foregroundQuotas = new TenantQuotas(LIMITS.sequentialShare, LANES.overBurst.shareOfAll);
  #recountAt = Number.NEGATIVE_INFINITY;
  #running = 0;
  #waiting = 0;
  #sweepFrom = LIMITS.maxWaiting;
  #pumpFrom = Number.NEGATIVE_INFINITY;
  #isPumpDue = false;
  #otherTrafficAt = Number.NEGATIVE_INFINITY;
  #timer: { timeout: NodeJS.Timeout; at: number } | null = null;

  /** `now`: milliseconds that never go back; `spare`: time that nobody wants. */
  constructor(now: () => number = () => performance.now(), spare = new SpareTime()) {
    this.#now = now;
    this.#spare = spare;
  }

  /** Notes a request that is not scheduled here, such as recording. */
  noteOtherTraffic(): void {
    this.#otherTrafficAt = this.#now();
    this.#spare.noteRequest();
  }

  /** Runs the work at the caller's turn. Throws OVERLOADED when too much waits, and the error given to `refuse`. */
  async run<T>(caller: Caller, work: () => Promise<T>, { expensive = false, patient = false }: Kind = {}): Promise<T> {
    const quota = this.#quotaOf(caller);
    const weight = expensive ? LIMITS.expensiveWeight : 1;
    if (!expensive) quota.inexpensiveAt = this.#now();
    if (patient || quota.running > 0 || quota.waiting.length > 0) quota.concurrentAt = this.#now();
    if (!this.#isPumpDue && quota.waiting.length === 0 && this.#mayRun(quota, weight)) this.#start(quota, weight);
    else await this.#enqueue(quota, weight, patient);
    try {
      return await work();
    } finally {
      quota.running -= weight;
      this.#running -= weight;
      this.#pumpSoon();
    }
  }

  /** Resolves at the caller's turn, which then is over; throws what `run` throws. */
  begin(caller: Caller, kind: Kind = {}): Promise<void> {
    return this.run(caller, async () => {}, kind);
  }

  /** Turns of a caller; `next` is `begin`. */
  turnsOf(caller: Caller, kind: Kind): Turns {
    return { next: () => this.begin(caller, kind), spend: (milliseconds) => this.spend(caller, milliseconds) };
  }

  /**
   * Turns of a caller's background work, its files and replays, which share a quota of their own: its requests do not
   * wait for them, but both at once get no double share. Look-ups within a piece are the caller's.
   */
  backgroundOf(caller: Caller): BackgroundTurns {
    const { tokenId, tenant } = caller;
    const background = { tokenId: BACKGROUND + tokenId, tenant };
    const turns = this.turnsOf(background, { expensive: true, patient: true });
    const next = async (): Promise<void> => {
      const quota = this.#quotaOf(caller);
      quota.waitingInBackground += 1;
      try {
        await turns.next();
      } finally {
        quota.waitingInBackground -= 1;
        quota.concurrentAt = this.#now();
      }
    };
    const factor = (): number =>
      this.#used(this.#quotaOf(caller)) > LIMITS.burstMs ? BACKGROUND_LIMITS.overBurstFactor : 1;
    const spend = (milliseconds: number): void => turns.spend(milliseconds * factor());
    const timed = async <T>(work: () => Promise<T>): Promise<T> => {
      const from = this.#now();
      try {
        return await runAs(caller, work);
      } finally {
        spend((this.#now() - from) * BACKGROUND_LIMITS.pieceFactor);
      }
    };
    const piece = <T>(work: () => Promise<T>): Promise<T> =>
      this.#hasOthers(this.#quotaOf(background), true)
        ? this.#pieces.run(caller, () => timed(work), next)
        : timed(work);
    return { next, spend, piece };
  }

  /** Refuses work that has waited at least this long, except patient work. */
  refuse(waitedMs: number, error: Error): void {
    const before = this.#now() - waitedMs;
    const isRefused = ({ since, patient }: Waiting): boolean => !patient && since <= before;
    for (const quota of this.#queued) {
      const refused = quota.waiting.filter(isRefused);
      if (refused.length === 0) continue;
      quota.waiting = quota.waiting.filter((waiting) => !isRefused(waiting));
      if (quota.waiting.length === 0) this.#queued.delete(quota);
      this.#waiting -= refused.length;
      for (const waiting of refused) waiting.refuse(error);
    }
  }

  /** Charges used time to the caller. */
  spend(caller: Caller, milliseconds: number): void {
    this.#charge(this.#quotaOf(caller), milliseconds);
  }

  /** Whether the caller uses much while others are active. */
  usesMuch(caller: Caller): boolean {
    const quota = this.#quotaOf(caller);
    return this.#used(quota) > LIMITS.heavyFromMs && this.#hasOthers(quota, true);
  }

  #charge(quota: CallerQuota, milliseconds: number): void {
    this.#recount();
    if (milliseconds > 0) this.#countsFor(quota).chargedMs += milliseconds;
    const before = this.#usedOfBurst(quota);
    // One more caller is over its burst.
    if (quota.charge(milliseconds, this.#now())) this.#recountAt = Number.NEGATIVE_INFINITY;
    // Time beyond its burst is charged to the caller alone, not to the tenant's other tokens.
    quota.tenantQuota.charge(this.#usedOfBurst(quota) - before, this.#now());
    if (!quota.isBackground) this.#spare.noteUse(quota, milliseconds);
  }

  #quotaOf({ tokenId, tenant }: Caller): CallerQuota {
    const known = this.#quotas.get(tokenId);
    if (known !== undefined && known.tenant === tenant) return known;
    const isBackground = tokenId.startsWith(BACKGROUND);
    const tenantQuota = (isBackground ? this.#backgroundQuotas : this.#foregroundQuotas).of(tenant);
    const now = this.#now();
    if (known !== undefined) {
      known.move(tenant, tenantQuota, now);
      return known;
    }
    if (this.#quotas.size >= this.#sweepFrom) this.#sweep();
    const quota = new CallerQuota(tenant, tenantQuota, { isBackground, now });
    this.#quotas.set(tokenId, quota);
    return quota;
  }

  #sweep(): void {
    for (const [name, quota] of this.#quotas) if (quota.isIdle && this.#used(quota) === 0) this.#quotas.delete(name);
    const used = new Set([...this.#quotas.values()].map(({ tenantQuota }) => tenantQuota));
    for (const quotasOfTenants of [this.#backgroundQuotas, this.#foregroundQuotas]) quotasOfTenants.keep(used);
    // With thousands of callers, do not sweep for each new one.
    this.#sweepFrom = Math.max(LIMITS.maxWaiting, this.#quotas.size * 2);
  }

  #enqueue(quota: CallerQuota, weight: number, patient: boolean): Promise<void> {
    const counts = this.#countsFor(quota);
    if (!patient && (this.#waiting >= LIMITS.maxWaiting || quota.waiting.length >= LIMITS.maxWaitingPerToken)) {
      counts.refused += 1;
      throw new AppError('OVERLOADED', 'Too many operations of this token are waiting; send fewer at once.');
    }
    this.#waiting += 1;
    return new Promise((start, refuse) => {
      quota.waiting.push({ weight, since: this.#now(), patient, ...counts.wait(start, refuse) });
      this.#queued.add(quota);
      this.#pumpSoon();
    });
  }

  /** The lane that the caller's work counts for. */
  #countsFor(quota: CallerQuota): LaneCounts {
    if (quota.isBackground) return countsOf(BACKGROUND_LIMITS.name);
    return countsOf((this.#isWithinBurst(quota) ? LIMITS : LANES.overBurst).name);
  }

  #start(quota: CallerQuota, weight: number): void {
    quota.begin(weight, this.#now());
    this.#running += weight;
  }

  /** `active`: looks at every caller, so it is called only if it matters. */
  #mayRun(quota: CallerQuota, weight: number, active = () => this.#activeCallers()): boolean {
    if (quota.running + weight > LIMITS.perToken) return false;
    const isWithinBurst = this.#isWithinBurst(quota);
    if (this.#running + weight > LIMITS.atOnce) {
      // A tenant takes at most what it leaves. Expensive work also needs one place only, as several may never be free.
      const free = LIMITS.atOnce + LIMITS.reservedWithinBurst - this.#running;
      if (!isWithinBurst || free + (weight === 1 ? LIMITS.reservedForFirst : 0) <= 0) return false;
      if (active().runningOf(quota) >= Math.max(1, free)) return false;
    }
    return isWithinBurst || !this.#hasOthers(quota, weight === LIMITS.expensiveWeight, active);
  }

  /** Whether the caller, and its tenant over all tokens, is within its burst. */
  #isWithinBurst(quota: CallerQuota): boolean {
    if (this.#used(quota) > LIMITS.burstMs) return false;
    return quota.isBackground || !quota.tenantQuota.exceedsBurst(this.#now());
  }

  /** Part of the caller's burst that is used. */
  #usedOfBurst(quota: CallerQuota): number {
    return Math.min(LIMITS.burstMs, quota.used(this.#now()));
  }

  #used(quota: CallerQuota): number {
    this.#recount();
    return quota.used(this.#now());
  }

  /** Recounts the tenants and callers over their burst from time to time. */
  #recount(): void {
    const now = this.#now();
    if (now < this.#recountAt) return;
    this.#recountAt = now + RECOUNT_MS;
    const background: CallerQuota[] = [];
    const foreground: CallerQuota[] = [];
    const active: CallerQuota[] = [];
    for (const quota of this.#quotas.values()) {
      if (!quota.isActive(now)) continue;
      if (!quota.isBackground) active.push(quota);
      if (quota.exceedsBurst(now)) (quota.isBackground ? background : foreground).push(quota);
    }
    const tenantQuotaOf = ({ tenantQuota }: CallerQuota): TenantQuota => tenantQuota;
    this.#backgroundQuotas.divide(background.map(tenantQuotaOf), now);
    this.#foregroundQuotas.setActive(active.map(tenantQuotaOf));
    this.#foregroundQuotas.divide(foreground.map(tenantQuotaOf), now);
    this.#giveIdleTime(foreground, now);
    for (const [quota, spareMs] of this.#spare.divide([...foreground, ...background], now)) {
      quota.forgive(spareMs);
      if (!quota.isBackground && quota.tenantQuota.exceedsBurst(now)) quota.tenantQuota.charge(-spareMs, now);
    }
  }

  /**
   * Gives idle time to the callers over their burst, by their shares, until the first is within its burst again.
   * Callers of only expensive work get none while others are among them.
   */
  #giveIdleTime(all: readonly CallerQuota[], now: number): void {
    const tenants = this.#foregroundQuotas.overBurst(now);
    if (all.length + tenants.length === 0 || this.#hasOthers(null, false)) return;
    const inexpensive = all.filter(({ inexpensiveAt }) => inexpensiveAt > now - ACTIVE_MS);
    const quotas = inexpensive.length > 0 ? inexpensive : all;
    const leastMs = Math.min(
      ...quotas.map((quota) => quota.used(now) / quota.drainRate(now)),
      ...tenants.map((tenant) => tenant.used(now) / tenant.drainRate),
    );
    for (const quota of quotas) quota.forgive(leastMs * quota.drainRate(now));
    for (const tenant of tenants) tenant.charge(-leastMs * tenant.drainRate, now);
  }

  #activeCallers(): ActiveCallers<CallerQuota> {
    return new ActiveCallers(this.#quotas.values(), this.#now() - ACTIVE_MS, (quota) => this.#isWithinBurst(quota));
  }

  /** Whether there is other traffic, a caller within its burst, or for expensive work one of inexpensive work. */
  #hasOthers(self: CallerQuota | null, expensive: boolean, active = () => this.#activeCallers()): boolean {
    return this.#otherTrafficAt > this.#now() - ACTIVE_MS || active().hasOthers(self, expensive);
  }

  /** While work runs, waits for the rest between passes; until then new work is queued. */
  #pumpSoon(): void {
    if (this.#waiting === 0) return;
    const restMs = this.#pumpFrom - this.#now();
    this.#isPumpDue = this.#running > 0 && restMs > 0;
    if (this.#isPumpDue) this.#pumpIn(restMs);
    else this.#pump();
  }

  /** Starts waiting work in the order of used time, then of `CallerQuota.order`, looking at each caller once. */
  #pump(): void {
    this.#isPumpDue = false;
    const began = this.#now();
    const queued = [...this.#queued];
    const used = new Map(queued.map((quota) => [quota, this.#used(quota)]));
    let active: ActiveCallers<CallerQuota> | null = null;
    for (const quota of queued.toSorted((a, b) => used.get(a)! - used.get(b)! || a.order(b))) {
      for (let next = quota.waiting[0]; next !== undefined; next = quota.waiting[0]) {
        if (!this.#mayRun(quota, next.weight, () => (active ??= this.#activeCallers()))) break;
        // Drains by the share that it had while it waited.
        this.#charge(quota, 0);
        quota.waiting.shift();
        this.#waiting -= 1;
        this.#start(quota, next.weight);
        active = null;
        next.start();
      }
      if (quota.waiting.length === 0) this.#queued.delete(quota);
    }
    this.#pumpFrom = began + (this.#now() - began) * PUMP_REST_FACTOR;
    if (this.#waiting > 0) this.#pumpIn(Math.min(RETRY_MS, Math.max(1, this.#nextStartMs(queued))));
  }

  #pumpIn(ms: number): void {
    const at = this.#now() + ms;
    if (this.#timer !== null && this.#timer.at <= at) return;
    clearTimeout(this.#timer?.timeout);
    const timeout = setTimeout(() => {
      this.#timer = null;
      this.#pump();
    }, ms);
    this.#timer = { timeout, at };
  }

  /** Milliseconds until the first waiting caller has drained enough. */
  #nextStartMs(queued: readonly CallerQuota[]): number {
    let soonest = RETRY_MS;
    const now = this.#now();
    for (const quota of queued) {
      if (quota.waiting.length === 0 || quota.running > 0) continue;
      const own = (this.#used(quota) - LIMITS.burstMs) / quota.drainRate(now);
      soonest = Math.min(soonest, quota.isBackground ? own : Math.max(own, quota.tenantQuota.msUntilWithinBurst(now)));
    }
    return Math.ceil(soonest);
  }
}
