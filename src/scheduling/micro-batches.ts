import { AppError } from '../errors.ts';
import { countsOf } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';
import { pause } from './pause.ts';
import { runAs } from './current-caller.ts';

const LIMITS = LANES.unknownDevices;
const SETTLED_AT_ONCE = 10;

interface Pending<Item, Result> {
  item: Item;
  bytes: number;
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
  written: Promise<Result>;
}

interface Tenant<Item, Result> {
  /** In order; the batch being written is at the front. */
  waiting: Pending<Item, Result>[];
  bytes: number;
}

/**
 * Writes what comes for a tenant in batches: the first item at once, later ones with the next batch. Tenants do not
 * wait for each other.
 */
export class MicroBatches<Item, Result> {
  readonly #counts = countsOf(LIMITS.name);
  readonly #write: (tenant: string, items: Item[]) => Promise<Result[]>;
  readonly #tenants = new Map<string, Tenant<Item, Result>>();

  /** `write` resolves with a result for each item. */
  constructor(write: (tenant: string, items: Item[]) => Promise<Result[]>) {
    this.#write = write;
  }

  /**
   * Resolves with the item's result once its batch is written; rejects with the batch's error. Throws OVERLOADED when
   * too much of the tenant waits.
   */
  add(name: string, item: Item, bytes: number): Promise<Result> {
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) {
      this.#tenants.set(name, (tenant = { waiting: [], bytes: 0 }));
      const added = tenant;
      void runAs({ tenant: name, tokenId: name }, () => this.#run(name, added));
    }
    if (
      tenant.waiting.length >= LIMITS.maxWaiting ||
      (tenant.bytes > 0 && tenant.bytes + bytes > LIMITS.maxWaitingBytes)
    ) {
      this.#counts.refused += 1;
      throw new AppError('OVERLOADED', 'Too many calls of unknown devices wait in this workspace; send less at once.', {
        details: { retryAfterSeconds: 5 },
      });
    }
    const { promise: written, resolve, reject } = Promise.withResolvers<Result>();
    tenant.waiting.push({ item, bytes, since: this.#counts.begin(), resolve, reject, written });
    tenant.bytes += bytes;
    return written;
  }

  /** Resolves when all that waits now, of these tenants or of all, is written or has failed. */
  async settled(names: Iterable<string> = this.#tenants.keys()): Promise<void> {
    await Promise.allSettled(
      [...names].flatMap((name) => this.#tenants.get(name)?.waiting.map(({ written }) => written) ?? []),
    );
  }

  async #run(name: string, tenant: Tenant<Item, Result>): Promise<void> {
    // One batch per turn of the event loop, over all tenants.
    await yieldToEventLoop();
    while (tenant.waiting.length > 0) {
      await this.#writeBatch(name, tenant);
      await pause(LIMITS.intervalMs);
      await yieldToEventLoop();
    }
    this.#tenants.delete(name);
  }

  async #writeBatch(name: string, tenant: Tenant<Item, Result>): Promise<void> {
    const batch = nextOf(tenant.waiting);
    const items = batch.map(({ item }) => item);
    let settle: (pending: Pending<Item, Result>, at: number) => void;
    try {
      const results = await this.#write(name, items);
      settle = ({ resolve }, at) => resolve(results[at]!);
    } catch (error) {
      settle = ({ reject }) => reject(error);
    }
    for (const [at, pending] of batch.entries()) {
      // Each answered sender sends its next one.
      if (at > 0 && at % SETTLED_AT_ONCE === 0) await yieldToEventLoop();
      tenant.bytes -= pending.bytes;
      this.#counts.end(pending.since);
      settle(pending, at);
    }
    tenant.waiting.splice(0, batch.length);
  }
}

/** The next batch, of at least one item. */
function nextOf<T extends { bytes: number }>(waiting: readonly T[]): T[] {
  let [items, bytes] = [1, waiting[0]!.bytes];
  while (items < Math.min(waiting.length, LIMITS.maxBatch) && bytes + waiting[items]!.bytes <= LIMITS.maxBatchBytes)
    bytes += waiting[items++]!.bytes;
  return waiting.slice(0, items);
}
