import { RoundRobinQueue } from './round-robin-queue.ts';
import type { Caller } from './caller.ts';

interface Running {
  caller: Caller;
  isSlow: boolean;
}

/** Ends the work, once; `failed`: it achieved nothing, so it is no sign of progress. */
export type End = (outcome?: { failed: boolean }) => void;

interface Waiting {
  start: () => void;
  /** It has started or was refused. */
  isSettled: boolean;
}

interface FairSemaphoreOptions {
  /** Time after which work stops counting against the capacity. */
  slowAfterMs?: number;
  /** Work that has waited this long, with none ending meanwhile, starts beyond the capacity. */
  stalledMs?: number;
  /** Error that refuses stalled work instead of starting it. */
  stalledError?: () => Error;
}

/**
 * Limits work that runs at once, slow work not counted; a tenant has one place fewer than all, a token two. The next to
 * start belongs to the tenant with fewest running, within it to the token with fewest; equals take turns.
 */
export class FairSemaphore {
  readonly #max: number;
  readonly #maxPerTenant: number;
  readonly #maxPerToken: number;
  readonly #options: FairSemaphoreOptions;
  readonly #running = new Set<Running>();
  readonly #waiting = new RoundRobinQueue<Waiting>();
  /** When work last ended. */
  #progressAt = 0;

  constructor(max: number, options: FairSemaphoreOptions = {}) {
    this.#max = max;
    this.#options = options;
    this.#maxPerTenant = Math.max(1, max - 1);
    this.#maxPerToken = Math.max(1, max - 2);
  }

  /** Runs `work` when there is capacity and returns its result. */
  async use<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    const taken = this.take(caller);
    const end = taken instanceof Promise ? await taken : taken;
    try {
      return await work();
    } finally {
      end();
    }
  }

  /** Returns the function that ends the work, once there is capacity. */
  take(caller: Caller): End | Promise<End> {
    const running = { caller, isSlow: false };
    if (!this.#mayStart(caller)) return this.#enqueue(running).then(() => this.#end(running));
    this.#running.add(running);
    return this.#end(running);
  }

  #end(running: Running): End {
    const { slowAfterMs } = this.#options;
    const timer = slowAfterMs === undefined ? undefined : setTimeout(() => this.#markSlow(running), slowAfterMs);
    return ({ failed } = { failed: false }) => {
      clearTimeout(timer);
      if (!this.#running.delete(running)) return;
      if (!failed) this.#progressAt = performance.now();
      this.#startNext();
    };
  }

  #enqueue(running: Running): Promise<void> {
    const { stalledMs, stalledError } = this.#options;
    const since = performance.now();
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const waiting = {
        isSettled: false,
        start: (): void => {
          waiting.isSettled = true;
          clearTimeout(timer);
          // Counts at once, or a later caller would take the place.
          this.#running.add(running);
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
          reject(stalledError());
        }
      };
      check();
    });
  }

  /** Stops counting the work against the capacity; it still counts for its tenant and token. */
  #markSlow(running: Running): void {
    running.isSlow = true;
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
    let all = 0;
    for (const { isSlow } of this.#running) if (!isSlow) all += 1;
    return all < this.#max;
  }

  /** Number running; Infinity if it may start no more. */
  readonly #tenantRunning = (name: string): number => {
    let count = 0;
    for (const { caller } of this.#running) if (caller.tenant === name) count += 1;
    return count < this.#maxPerTenant ? count : Infinity;
  };

  readonly #tokenRunning = (id: string): number => {
    let count = 0;
    for (const { caller } of this.#running) if (caller.tokenId === id) count += 1;
    return count < this.#maxPerToken ? count : Infinity;
  };
}
