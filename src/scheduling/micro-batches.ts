import { AppError } from '../errors.ts';
import { yieldToEventLoop } from './yield-to-event-loop.ts';
import { pause } from './pause.ts';
import { runAs } from './current-caller.ts';

/** Between two rounds of one tenant. */
const EVERY_MS = 200;
/** In one round: so many small ones take the event loop a few milliseconds, and so many bytes. */
const MAX_ITEMS = 100;
const MAX_BYTES = 262_144;
const ANSWERED_AT_ONCE = 10;
/** Of one tenant. */
const MAX_WAITING = 1_000;
const MAX_WAITING_BYTES = 4_194_304;

interface Gathered<Item, Result> {
  item: Item;
  bytes: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
  written: Promise<Result>;
}

interface Tenant<Item, Result> {
  /** In order; those of the round that is being written are the first of them. */
  waiting: Gathered<Item, Result>[];
  bytes: number;
}

/**
 * What is written for each tenant now and then, all that has come meanwhile in one go: the first one at once, and what
 * comes within a fifth of a second of a round in the next. Whoever sends much waits for its own rounds only.
 */
export class MicroBatches<Item, Result> {
  readonly #write: (tenant: string, items: Item[]) => Promise<Result[]>;
  readonly #tenants = new Map<string, Tenant<Item, Result>>();

  /** `write` gives a result for each item. */
  constructor(write: (tenant: string, items: Item[]) => Promise<Result[]>) {
    this.#write = write;
  }

  /** Its result once it is written, rejects with what keeps its round from that; OVERLOADED: too much of the tenant waits. */
  add(name: string, item: Item, bytes: number): Promise<Result> {
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) {
      this.#tenants.set(name, (tenant = { waiting: [], bytes: 0 }));
      const begun = tenant;
      void runAs({ tenant: name, tokenId: name }, () => this.#rounds(name, begun));
    }
    if (tenant.waiting.length >= MAX_WAITING || (tenant.bytes > 0 && tenant.bytes + bytes > MAX_WAITING_BYTES))
      throw new AppError('OVERLOADED', 'Too many calls of unknown devices wait in this workspace; send less at once.', {
        details: { retryAfterSeconds: 5 },
      });
    const { promise: written, resolve, reject } = Promise.withResolvers<Result>();
    tenant.waiting.push({ item, bytes, resolve, reject, written });
    tenant.bytes += bytes;
    return written;
  }

  /** Resolves when whatever waits now, of these tenants or of all, is written or has failed. */
  async settled(names: Iterable<string> = this.#tenants.keys()): Promise<void> {
    await Promise.allSettled(
      [...names].flatMap((name) => this.#tenants.get(name)?.waiting.map(({ written }) => written) ?? []),
    );
  }

  async #rounds(name: string, tenant: Tenant<Item, Result>): Promise<void> {
    // Of many tenants one round in each turn of the event loop.
    await yieldToEventLoop();
    while (tenant.waiting.length > 0) {
      await this.#round(name, tenant);
      await pause(EVERY_MS);
      await yieldToEventLoop();
    }
    this.#tenants.delete(name);
  }

  async #round(name: string, tenant: Tenant<Item, Result>): Promise<void> {
    const round = nextOf(tenant.waiting);
    const items = round.map(({ item }) => item);
    let end: (gathered: Gathered<Item, Result>, at: number) => void;
    try {
      const results = await this.#write(name, items);
      end = ({ resolve }, at) => resolve(results[at]!);
    } catch (error) {
      end = ({ reject }) => reject(error);
    }
    for (const [at, gathered] of round.entries()) {
      // Whoever is answered sends the next one.
      if (at > 0 && at % ANSWERED_AT_ONCE === 0) await yieldToEventLoop();
      tenant.bytes -= gathered.bytes;
      end(gathered, at);
    }
    tenant.waiting.splice(0, round.length);
  }
}

/** At least one. */
function nextOf<T extends { bytes: number }>(waiting: readonly T[]): T[] {
  let [items, bytes] = [1, waiting[0]!.bytes];
  while (items < Math.min(waiting.length, MAX_ITEMS) && bytes + waiting[items]!.bytes <= MAX_BYTES)
    bytes += waiting[items++]!.bytes;
  return waiting.slice(0, items);
}
