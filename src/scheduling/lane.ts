import { AppError } from '../errors.ts';
import { countsOf, type LaneCounts } from './lane-counts.ts';
import type { LaneLimits } from './lanes.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';
import { Tally } from './tally.ts';
import type { Caller } from './caller.ts';

/** Ends the work, once; `failed`: it achieved nothing, so it is no sign of progress. */
export type End = (outcome?: { failed: boolean }) => void;

interface Running {
  caller: Caller;
  isSlow: boolean;
}

interface Waiting {
  start: () => void;
  /** It has started or was refused. */
  isSettled: boolean;
}

interface LaneOptions {
  /** Error that refuses stalled work instead of starting it. */
  stalledError?: () => Error;
  /** Takes the place of the row's. */
  stalledMs?: number;
}

/**
 * Limits work that runs at once, slow work not counted. The next to start belongs to the tenant with fewest running,
 * within it to the token with fewest; equals take turns. Its row of `LANES` has its limits.
 */
export class Lane {
  readonly #limits: LaneLimits;
  readonly #options: LaneOptions;
  readonly #counts: LaneCounts;
  readonly #running = new Set<Running>();
  readonly #ofTenants = new Tally();
  readonly #ofTokens = new Tally();
  /** Running and waiting, by token. */
  readonly #unfinished = new Tally();
  readonly #waiting: RoundRobinQueue<Waiting>;
  /** Running work that counts against the capacity. */
  #counted = 0;
  /** When work last ended. */
  #progressAt = 0;

  constructor(limits: LaneLimits, options: LaneOptions = {}) {
    this.#limits = limits;
    this.#options = options;
    this.#counts = countsOf(limits.name);
    this.#waiting = new RoundRobinQueue(this.#counts);
  }

  /** Runs `work` when there is capacity and returns its result. Throws what `take` throws. */
  async use<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const taken = this.take(caller);
    const end = taken instanceof Promise ? await taken : taken;
    try {
      return await work();
    } finally {
      end();
    }
  }

  /**
   * Returns the function that ends the work, once there is capacity. Throws OVERLOADED when too much of the token is
   * unfinished, and rejects with `stalledError`.
   */
  take(caller: Caller): End | Promise<End> {
    const { maxUnfinished = Infinity, refusal = 'Too much of this token is waiting; send less at once.' } =
      this.#limits;
    if (this.#unfinished.of(caller.tokenId) >= maxUnfinished) {
      this.#counts.refused += 1;
      throw new AppError('OVERLOADED', refusal);
    }
    this.#unfinished.add(caller.tokenId, 1);
    const running = { caller, isSlow: false };
    if (!this.#mayStart(caller)) return this.#enqueue(running).then(() => this.#end(running));
    this.#start(running);
    return this.#end(running);
  }

  #start(running: Running): void {
    this.#running.add(running);
    this.#counted += 1;
    this.#count(running, 1);
  }

  #count({ caller }: Running, change: 1 | -1): void {
    this.#ofTenants.add(caller.tenant, change);
    this.#ofTokens.add(caller.tokenId, change);
  }

  #end(running: Running): End {
    const { slowAfterMs } = this.#limits;
    const timer = slowAfterMs === undefined ? undefined : setTimeout(() => this.#markSlow(running), slowAfterMs);
    return ({ failed } = { failed: false }) => {
      clearTimeout(timer);
      if (!this.#running.delete(running)) return;
      if (!running.isSlow) this.#counted -= 1;
      if (!(running.isSlow && this.#limits.slowIsFree)) this.#count(running, -1);
      this.#unfinished.add(running.caller.tokenId, -1);
      if (!failed) this.#progressAt = performance.now();
      this.#startNext();
    };
  }

  #enqueue(running: Running): Promise<void> {
    const { stalledError, stalledMs = this.#limits.stalledMs } = this.#options;
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting = {
        isSettled: false,
        start: (): void => {
          waiting.isSettled = true;
          clearTimeout(timer);
          // Counts at once, or a later caller would take the place.
          this.#start(running);
          resolve();
        },
      };
      this.#waiting.add(running.caller, waiting);
      if (stalledMs === undefined) return;
      const check = (): void => {
        const leftMs = Math.max(since, this.#progressAt) + stalledMs - performance.now();
        if (leftMs > 0) timer = setTimeout(check, Math.ceil(leftMs));
        else if (stalledError === undefined) waiting.start();
        else {
          waiting.isSettled = true;
          this.#counts.refused += 1;
          this.#unfinished.add(running.caller.tokenId, -1);
          reject(stalledError());
        }
      };
      check();
    });
  }

  /** Stops counting the work against the capacity. */
  #markSlow(running: Running): void {
    running.isSlow = true;
    this.#counted -= 1;
    if (this.#limits.slowIsFree) this.#count(running, -1);
    this.#startNext();
  }

  #mayStart({ tokenId, tenant }: Caller): boolean {
    return this.#hasCapacity() && this.#tenantRunning(tenant) < Infinity && this.#tokenRunning(tokenId) < Infinity;
  }

  #startNext(): void {
    while (this.#hasCapacity()) {
      const next = this.#waiting.takeLeast(this.#tenantRunning, this.#tokenRunning);
      if (next === undefined) return;
      if (!next.isSettled) next.start();
    }
  }

  #hasCapacity(): boolean {
    return this.#counted < (this.#limits.atOnce ?? Infinity);
  }

  /** Number running; Infinity if it may start no more. */
  readonly #tenantRunning = (name: string): number => {
    const count = this.#ofTenants.of(name);
    return count < (this.#limits.perTenant ?? Infinity) ? count : Infinity;
  };

  readonly #tokenRunning = (id: string): number => {
    const count = this.#ofTokens.of(id);
    return count < (this.#limits.perToken ?? Infinity) ? count : Infinity;
  };
}
