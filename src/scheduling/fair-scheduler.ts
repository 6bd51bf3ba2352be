import { AppError } from '../errors.ts';
import { type TenantQuota, TenantQuotas, PRESENT_MS } from './tenant-quota.ts';
import type { Caller } from './caller.ts';
import { BackgroundLane } from './background-lane.ts';
import { ActiveCallers } from './active-callers.ts';
import type { BackgroundTurns, Turns } from './turns.ts';
import { runAs } from './current-caller.ts';
import { BURST_MS, SHARE, SHARE_ONE_BY_ONE, type Waiting, CallerQuota } from './caller-quota.ts';

/** Running at once, dear work counted as `DEAR_WEIGHT`: of all callers, and of one … */
const MAX_RUNNING = 16;
const MAX_RUNNING_EACH = 4;
/** … and so much more for those who keep within their burst: they do not wait for what takes other tenants long … */
const KEPT_FREE = 8;
/** … and then for what is not dear, of tenants that have nothing else running. */
const KEPT_FOR_FIRST = 8;
const DEAR_WEIGHT = 4;
/** Waiting for their turn: of all callers, and of one. */
const MAX_WAITING = 2000;
const MAX_WAITING_EACH = 200;
/** … and of one in the background. */
const MAX_PIECES_WAITING = 200;
/** A page of fifty devices, before it is there, is held against who asks with half as much. */
const LITTLE_MS = 40;
/** How much of the time those get together who use more, as many as they are: a tenant has many tokens … */
const SHARE_OF_ALL = 0.6;
/** … and those who work in the background. */
const SHARE_OF_BACKGROUND = 0.3;
/** What is worked in the background counts so much more while its caller has used up its share otherwise. */
const BESIDE_ITSELF = 2;
/** What the database works for it, on other threads and processors, counts so much. */
const PIECE_COUNTS = 0.25;
/** Others may have left meanwhile. */
const LOOK_AGAIN_MS = 50;
const COUNT_AGAIN_MS = 5;
/** Thousands may wait: looking for who is next takes one part in so many of the time. */
const LOOKS_ONE_IN = 5;

interface Kind {
  /** So much that nothing else of the caller runs beside it. */
  dear?: boolean;
  /** Its number is bounded elsewhere: it always waits. */
  patient?: boolean;
}

const BACKGROUND = 'background of ';

/**
 * The time of the event loop, shared fairly between those who ask by GraphQL or move files (CONTRACT 7, shares): each
 * token, or each address without one, is a caller. Tenants share equally what those get who have used more than their
 * burst, and each divides its part among its tokens. Who has used more than its burst waits while anybody else is there,
 * the ingest endpoints included; alone, everybody has everything. A tenant has a burst, too, however many tokens it has.
 */
export class FairScheduler {
  readonly #now: () => number;
  readonly #callers = new Map<string, CallerQuota>();
  /** Those of them that wait. */
  readonly #queues = new Set<CallerQuota>();
  readonly #pieces = new BackgroundLane({ atOnce: 1, maxWaiting: MAX_PIECES_WAITING });
  readonly #atBackground = new TenantQuotas(SHARE, SHARE_OF_BACKGROUND);
  readonly #others = new TenantQuotas(SHARE_ONE_BY_ONE, SHARE_OF_ALL);
  #countedUntil = Number.NEGATIVE_INFINITY;
  #running = 0;
  #waiting = 0;
  #sweepFrom = MAX_WAITING;
  #pumpFrom = Number.NEGATIVE_INFINITY;
  #isBehind = false;
  #othersAt = Number.NEGATIVE_INFINITY;
  #timer: { timeout: NodeJS.Timeout; at: number } | null = null;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Something else was asked of this process. */
  noteOthers(): void {
    this.#othersAt = this.#now();
  }

  /** Runs the work when it is the caller's turn. Throws OVERLOADED when too much waits already, and what `refuse` says. */
  async run<T>(party: Caller, work: () => Promise<T>, { dear = false, patient = false }: Kind = {}): Promise<T> {
    const caller = this.#callerOf(party);
    const weight = dear ? DEAR_WEIGHT : 1;
    if (!dear) caller.cheapAt = this.#now();
    if (patient || caller.running > 0 || caller.waiting.length > 0) caller.crowdAt = this.#now();
    if (!this.#isBehind && caller.waiting.length === 0 && this.#mayRun(caller, weight)) this.#start(caller, weight);
    else await this.#turn(caller, weight, patient);
    try {
      return await work();
    } finally {
      caller.running -= weight;
      this.#running -= weight;
      this.#pumpSoon();
    }
  }

  /** Resolves when it is the caller's turn, which is over at once; throws what `run` throws. */
  begin(party: Caller, kind: Kind = {}): Promise<void> {
    return this.run(party, async () => {}, kind);
  }

  /** Of a caller: for `next` what `begin` promises. */
  turnsOf(party: Caller, kind: Kind): Turns {
    return { next: () => this.begin(party, kind), spend: (milliseconds) => this.spend(party, milliseconds) };
  }

  /**
   * Of what a caller has done in the background, its files and replays: together they are a caller of their own, so that
   * what it asks does not wait for them, but both at once do not get it twice the share. A piece's look-ups are its own.
   */
  backgroundOf(party: Caller): BackgroundTurns {
    const { tokenId, tenant } = party;
    const background = { tokenId: BACKGROUND + tokenId, tenant };
    const turns = this.turnsOf(background, { dear: true, patient: true });
    const next = async (): Promise<void> => {
      const caller = this.#callerOf(party);
      caller.waitingAside += 1;
      try {
        await turns.next();
      } finally {
        caller.waitingAside -= 1;
        caller.crowdAt = this.#now();
      }
    };
    const counts = (): number => (this.#debt(this.#callerOf(party)) > BURST_MS ? BESIDE_ITSELF : 1);
    const spend = (milliseconds: number): void => turns.spend(milliseconds * counts());
    const timed = async <T>(work: () => Promise<T>): Promise<T> => {
      const from = this.#now();
      try {
        return await runAs(party, work);
      } finally {
        spend((this.#now() - from) * PIECE_COUNTS);
      }
    };
    const piece = <T>(work: () => Promise<T>): Promise<T> =>
      this.#othersAreThere(this.#callerOf(background), true)
        ? this.#pieces.one(party, () => timed(work), next)
        : timed(work);
    return { next, spend, piece };
  }

  /** Refuses whoever has waited at least so long for its turn, except the patient. */
  refuse(waitedMs: number, error: Error): void {
    const before = this.#now() - waitedMs;
    const isRefused = ({ since, patient }: Waiting): boolean => !patient && since <= before;
    for (const caller of this.#queues) {
      const refused = caller.waiting.filter(isRefused);
      if (refused.length === 0) continue;
      caller.waiting = caller.waiting.filter((waiting) => !isRefused(waiting));
      if (caller.waiting.length === 0) this.#queues.delete(caller);
      this.#waiting -= refused.length;
      for (const waiting of refused) waiting.refuse(error);
    }
  }

  /** Holds time that was used against the caller. */
  spend(party: Caller, milliseconds: number): void {
    this.#charge(this.#callerOf(party), milliseconds);
  }

  /** Whether it uses much beside others: who uses its whole share is always about to have used its burst. */
  usesMuch(party: Caller): boolean {
    const caller = this.#callerOf(party);
    return this.#debt(caller) > LITTLE_MS && this.#othersAreThere(caller, true);
  }

  #charge(caller: CallerQuota, milliseconds: number): void {
    this.#count();
    const before = this.#burst(caller);
    // One more who shares with the others, from now on.
    if (caller.charge(milliseconds, this.#now())) this.#countedUntil = Number.NEGATIVE_INFINITY;
    // What goes beyond its burst it owes itself, and no other token of its tenant.
    caller.allowance.charge(this.#burst(caller) - before, this.#now());
  }

  #callerOf({ tokenId, tenant }: Caller): CallerQuota {
    const known = this.#callers.get(tokenId);
    if (known !== undefined && known.tenant === tenant) return known;
    const isBackground = tokenId.startsWith(BACKGROUND);
    const allowance = (isBackground ? this.#atBackground : this.#others).of(tenant);
    const now = this.#now();
    if (known !== undefined) {
      known.move(tenant, allowance, now);
      return known;
    }
    if (this.#callers.size >= this.#sweepFrom) this.#sweep();
    const caller = new CallerQuota(tenant, allowance, { isBackground, now });
    this.#callers.set(tokenId, caller);
    return caller;
  }

  #sweep(): void {
    for (const [name, caller] of this.#callers)
      if (caller.isIdle && this.#debt(caller) === 0) this.#callers.delete(name);
    const used = new Set([...this.#callers.values()].map(({ allowance }) => allowance));
    for (const allowances of [this.#atBackground, this.#others]) allowances.keep(used);
    // Where thousands are left, not with each that is new.
    this.#sweepFrom = Math.max(MAX_WAITING, this.#callers.size * 2);
  }

  #turn(caller: CallerQuota, weight: number, patient: boolean): Promise<void> {
    if (!patient && (this.#waiting >= MAX_WAITING || caller.waiting.length >= MAX_WAITING_EACH))
      throw new AppError('OVERLOADED', 'Too many operations of this token are waiting; send fewer at once.');
    this.#waiting += 1;
    return new Promise((start, refuse) => {
      caller.waiting.push({ weight, since: this.#now(), patient, start, refuse });
      this.#queues.add(caller);
      this.#pumpSoon();
    });
  }

  #start(caller: CallerQuota, weight: number): void {
    caller.begin(weight, this.#now());
    this.#running += weight;
  }

  /** `present`: asked for only if it matters, as it looks at every caller. */
  #mayRun(caller: CallerQuota, weight: number, present = () => this.#present()): boolean {
    if (caller.running + weight > MAX_RUNNING_EACH) return false;
    const isWithinBurst = this.#isWithinBurst(caller);
    if (this.#running + weight > MAX_RUNNING) {
      // No tenant takes more than it leaves; what is dear needs one place, too, as it may be that several are never free.
      const free = MAX_RUNNING + KEPT_FREE - this.#running;
      if (!isWithinBurst || free + (weight === 1 ? KEPT_FOR_FIRST : 0) <= 0) return false;
      if (present().runningOf(caller) >= Math.max(1, free)) return false;
    }
    return isWithinBurst || !this.#othersAreThere(caller, weight === DEAR_WEIGHT, present);
  }

  /** Whether it, and its tenant with all its tokens, has used so little that it waits for nobody. */
  #isWithinBurst(caller: CallerQuota): boolean {
    if (this.#debt(caller) > BURST_MS) return false;
    return caller.isBackground || !caller.allowance.isOver(this.#now());
  }

  /** So much of its burst it has used. */
  #burst(caller: CallerQuota): number {
    return Math.min(BURST_MS, caller.debt(this.#now()));
  }

  #debt(caller: CallerQuota): number {
    this.#count();
    return caller.debt(this.#now());
  }

  /** Now and then: how many tenants have used more than their burst and go on, and with how many callers each. */
  #count(): void {
    const now = this.#now();
    if (now < this.#countedUntil) return;
    this.#countedUntil = now + COUNT_AGAIN_MS;
    const atBackground: CallerQuota[] = [];
    const others: CallerQuota[] = [];
    const there: CallerQuota[] = [];
    for (const caller of this.#callers.values()) {
      if (!caller.isThere(now)) continue;
      if (!caller.isBackground) there.push(caller);
      if (caller.shares(now)) (caller.isBackground ? atBackground : others).push(caller);
    }
    const allowanceOf = ({ allowance }: CallerQuota): TenantQuota => allowance;
    this.#atBackground.share(atBackground.map(allowanceOf), now);
    this.#others.note(there.map(allowanceOf));
    this.#others.share(others.map(allowanceOf), now);
    this.#divide(others, now);
  }

  /**
   * What nobody else wants is theirs who have used more than their burst, to each by its share: as if so much time had gone
   * by that the first of them has its burst again. Who has used more than that one waits for it; who has asked for
   * nothing but dear work waits for all others, and has none of it while they are there.
   */
  #divide(all: readonly CallerQuota[], now: number): void {
    const tenants = this.#others.over(now);
    if (all.length + tenants.length === 0 || this.#othersAreThere(null, false)) return;
    const cheap = all.filter(({ cheapAt }) => cheapAt > now - PRESENT_MS);
    const callers = cheap.length > 0 ? cheap : all;
    const leastMs = Math.min(
      ...callers.map((caller) => caller.debt(now) / caller.rate(now)),
      ...tenants.map((tenant) => tenant.debt(now) / tenant.rate),
    );
    for (const caller of callers) caller.forgive(leastMs * caller.rate(now), now);
    for (const tenant of tenants) tenant.charge(-leastMs * tenant.rate, now);
  }

  #present(): ActiveCallers<CallerQuota> {
    return new ActiveCallers(this.#callers.values(), this.#now() - PRESENT_MS, (caller) => this.#isWithinBurst(caller));
  }

  /** Ingest, or a caller (but this one) who keeps within its share; for dear work also whoever asks for anything that is not. */
  #othersAreThere(self: CallerQuota | null, dear: boolean, present = () => this.#present()): boolean {
    return this.#othersAt > this.#now() - PRESENT_MS || present().othersAreThere(self, dear);
  }

  /** While anything runs, not before the looks have rested: until then nobody who comes goes before those who wait. */
  #pumpSoon(): void {
    if (this.#waiting === 0) return;
    const restMs = this.#pumpFrom - this.#now();
    this.#isBehind = this.#running > 0 && restMs > 0;
    if (this.#isBehind) this.#pumpIn(restMs);
    else this.#pump();
  }

  /** Whoever has used least goes first, of several such as `CallerQuota.order` says. Of thousands who wait each is looked at once. */
  #pump(): void {
    this.#isBehind = false;
    const began = this.#now();
    const queues = [...this.#queues];
    const debts = new Map(queues.map((caller) => [caller, this.#debt(caller)]));
    let present: ActiveCallers<CallerQuota> | null = null;
    for (const caller of queues.toSorted((a, b) => debts.get(a)! - debts.get(b)! || a.order(b))) {
      for (let next = caller.waiting[0]; next !== undefined; next = caller.waiting[0]) {
        if (!this.#mayRun(caller, next.weight, () => (present ??= this.#present()))) break;
        // Forgiven by the share that it had while it waited.
        this.#charge(caller, 0);
        caller.waiting.shift();
        this.#waiting -= 1;
        this.#start(caller, next.weight);
        present = null;
        next.start();
      }
      if (caller.waiting.length === 0) this.#queues.delete(caller);
    }
    this.#pumpFrom = began + (this.#now() - began) * LOOKS_ONE_IN;
    if (this.#waiting > 0) this.#pumpIn(Math.min(LOOK_AGAIN_MS, Math.max(1, this.#soonestMs(queues))));
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

  /** When the first of those who wait has been forgiven enough. */
  #soonestMs(queues: readonly CallerQuota[]): number {
    let soonest = LOOK_AGAIN_MS;
    const now = this.#now();
    for (const caller of queues) {
      if (caller.waiting.length === 0 || caller.running > 0) continue;
      const own = (this.#debt(caller) - BURST_MS) / caller.rate(now);
      soonest = Math.min(soonest, caller.isBackground ? own : Math.max(own, caller.allowance.overForMs(now)));
    }
    return Math.ceil(soonest);
  }
}
