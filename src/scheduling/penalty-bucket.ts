import type { LRUCache } from 'lru-cache';
import { lruCache } from './lru-cache.ts';
import { AppError } from '../errors.ts';
import { LeakyBucket } from './leaky-bucket.ts';
import { countsOf, type LaneCounts } from './lane-counts.ts';
import type { PenaltyLimits } from './lanes.ts';
import type { ActiveTenants } from './active-tenants.ts';

/** Maximum time charged to a tenant. */
const MAX_USED_MS = 600;
/** Share of the time of a tenant over its burst while others are active. */
const SHARE = 0.2;
/** Share of the time that a source may waste before it counts as penalized. */
const SOURCE_SHARE = 0.05;
const RETRY_MS = 50;
/** Maximum waiting pieces per source of a tenant over its burst; they are in memory. */
const MAX_WAITING = 50;
const MAX_QUEUES = 2_000;
const MAX_SOURCES = 10_000;

/** Work of a source, which is a token or a product of the tenant. */
interface Work {
  tenant: string;
  source: string;
  /** Maximum cost, as far as it is known beforehand. */
  ms: number;
  /** Continues earlier work: it is never refused and goes before new work, so that what has begun comes to its end. */
  isContinuation?: boolean;
  /** Whether nobody waits for the result; such work does not start. */
  isAbandoned?: () => boolean;
}

interface Waiting extends Pick<Work, 'ms' | 'isContinuation' | 'isAbandoned'> {
  since: number;
  resolve: () => void;
  reject: (error: AppError) => void;
}

interface TenantQueue {
  tenant: string;
  used: LeakyBucket;
  running: number;
  /** Maximum cost of what runs, if all of it were charged. */
  runningMs: number;
  /** By source, the next one first. */
  waiting: Map<string, Waiting[]>;
  timer: NodeJS.Timeout | null;
}

/**
 * Charges work to the tenant it is done for: a tenant that causes much of it waits while others send (CONTRACT 7,
 * shares). Sources take turns, and penalized ones have a queue of their own, so that the calls of somebody who knows a
 * webhook's address do not delay the tenant's devices.
 */
export class PenaltyBucket {
  readonly #active: ActiveTenants;
  readonly #limits: Required<PenaltyLimits>;
  readonly #counts: LaneCounts;
  /** Queues by tenant: of its penalized sources, and of the others. */
  readonly #penalized = lruCache<string, TenantQueue>(MAX_QUEUES);
  readonly #unpenalized = lruCache<string, TenantQueue>(MAX_QUEUES);
  readonly #sources = lruCache<string, LeakyBucket>(MAX_SOURCES);

  constructor(active: ActiveTenants, limits: PenaltyLimits) {
    this.#active = active;
    this.#limits = { maxRunningMs: Infinity, ...limits };
    this.#counts = countsOf(limits.name);
  }

  /**
   * Runs `work` when it may start and charges `costMsOf` its result, or its whole cost if it fails. Throws what `work`
   * throws, and OVERLOADED when too much of the source waits.
   */
  async run<T>(
    { tenant, source, ms, isContinuation, isAbandoned }: Work,
    work: () => Promise<T>,
    costMsOf: (result: T) => number,
  ): Promise<T> {
    const sourceKey = `${tenant} ${source}`;
    const queue = this.#queueOf(tenant, this.#isPenalized(sourceKey) ? this.#penalized : this.#unpenalized);
    if (queue.waiting.size > 0 || !this.#mayStart(queue, ms))
      await this.#enqueue(queue, source, { ms, isContinuation, isAbandoned });
    else this.#start(queue, ms);
    let costMs = 0;
    try {
      const result = await work();
      costMs = costMsOf(result);
      return result;
    } catch (error) {
      if (error instanceof AppError && error.code !== 'OVERLOADED' && error.code !== 'UNAVAILABLE') costMs = ms;
      throw error;
    } finally {
      queue.running -= 1;
      // Sums of fractions leave a rest, which would block the next work for ever.
      queue.runningMs = queue.running === 0 ? 0 : queue.runningMs - ms;
      this.#charge(sourceKey, queue, costMs);
      this.#startNext(queue);
    }
  }

  /** Charges time that running work of the source has used so far. */
  charge({ tenant, source }: Pick<Work, 'tenant' | 'source'>, ms: number): void {
    const sourceKey = `${tenant} ${source}`;
    this.#charge(
      sourceKey,
      this.#queueOf(tenant, this.#isPenalized(sourceKey) ? this.#penalized : this.#unpenalized),
      ms,
    );
  }

  /**
   * Beside others, while within the burst: one piece, or as many as would fit into the burst. Alone: everything, but
   * what has waited starts a burst at a time, as others may come back.
   */
  #mayStart(queue: TenantQueue, ms: number, hasWaited = false): boolean {
    const { tenant, runningMs } = queue;
    const usedMs = this.#usedMs(queue);
    const maxMs = hasWaited ? Math.min(this.#limits.burstMs, this.#limits.maxRunningMs) : this.#limits.maxRunningMs;
    if (runningMs > 0 && runningMs + ms > maxMs) return false;
    if (usedMs <= this.#limits.burstMs && (runningMs === 0 || usedMs + runningMs + ms <= this.#limits.burstMs))
      return true;
    return !this.#active.hasOthers(tenant);
  }

  #enqueue(queue: TenantQueue, source: string, asked: Omit<Work, 'tenant' | 'source'>): Promise<void> {
    const ofSource = queue.waiting.get(source) ?? [];
    const { isContinuation = false } = asked;
    if (!isContinuation && ofSource.length >= MAX_WAITING && this.#usedMs(queue) > this.#limits.burstMs)
      throw this.#refused();
    return new Promise((resolve, reject) => {
      const firstNew = isContinuation ? ofSource.findIndex((one) => one.isContinuation !== true) : -1;
      const since = this.#counts.begin();
      ofSource.splice(firstNew < 0 ? ofSource.length : firstNew, 0, { ...asked, since, resolve, reject });
      queue.waiting.set(source, ofSource);
      this.#startNext(queue);
    });
  }

  #startNext(queue: TenantQueue): void {
    const { waiting } = queue;
    for (const [source, ofSource] of waiting) {
      const { ms, since, resolve } = ofSource[0]!;
      if (!this.#mayStart(queue, ms, true)) break;
      ofSource.shift();
      this.#counts.end(since);
      // Moves behind all others; this loop comes to it again.
      waiting.delete(source);
      if (ofSource.length > 0) waiting.set(source, ofSource);
      this.#start(queue, ms);
      resolve();
    }
    if (waiting.size > 0)
      queue.timer ??= setTimeout(() => {
        queue.timer = null;
        this.#dismissAbandoned(queue);
        this.#startNext(queue);
      }, RETRY_MS).unref();
  }

  /** Refuses abandoned work, to free the memory it holds. */
  #dismissAbandoned({ waiting }: TenantQueue): void {
    for (const [source, ofSource] of waiting) {
      const [abandoned, left] = [ofSource.filter(isAbandoned), ofSource.filter((one) => !isAbandoned(one))];
      for (const { since, reject } of abandoned) {
        this.#counts.end(since);
        reject(this.#refused());
      }
      if (left.length === 0) waiting.delete(source);
      else if (abandoned.length > 0) waiting.set(source, left);
    }
  }

  #refused(): AppError {
    this.#counts.refused += 1;
    return new AppError('OVERLOADED', this.#limits.refusal, { details: { retryAfterSeconds: 5 } });
  }

  #start(queue: TenantQueue, ms: number): void {
    queue.running += 1;
    queue.runningMs += ms;
  }

  #add(used: LeakyBucket, costMs: number, share: number): void {
    used.add(costMs, this.#active.now(), { share, max: MAX_USED_MS });
  }

  /** Also charges the penalized queue, where the source is from now on and has no burst of its own. */
  #charge(sourceKey: string, queue: TenantQueue, costMs: number): void {
    if (costMs === 0) return;
    this.#counts.chargedMs += costMs;
    const { tenant } = queue;
    this.#add(queue.used, costMs, SHARE);
    const penalized = this.#queueOf(tenant, this.#penalized);
    if (penalized !== queue) this.#add(penalized.used, costMs, SHARE);
    const source = this.#sources.get(sourceKey) ?? new LeakyBucket(this.#active.now());
    this.#add(source, costMs, SOURCE_SHARE);
    this.#sources.set(sourceKey, source);
  }

  #usedMs({ used }: TenantQueue): number {
    return used.level(this.#active.now(), SHARE);
  }

  /** Whether a charge to the source has not drained yet. */
  #isPenalized(sourceKey: string): boolean {
    return (this.#sources.get(sourceKey)?.level(this.#active.now(), SOURCE_SHARE) ?? 0) > 0;
  }

  #queueOf(tenant: string, queues: LRUCache<string, TenantQueue>): TenantQueue {
    let queue = queues.get(tenant);
    if (queue === undefined) {
      const used = new LeakyBucket(this.#active.now());
      queue = { tenant, used, running: 0, runningMs: 0, waiting: new Map(), timer: null };
      queues.set(tenant, queue);
    }
    return queue;
  }
}

function isAbandoned(waiting: Waiting): boolean {
  return waiting.isAbandoned?.() === true;
}
