import type { Caller } from './caller.ts';

/** Maximum pages in memory per tenant, of up to 4 MB each. */
const MAX_PER_TENANT = 24;
/** Maximum pages in memory per token, so that one token cannot take all credits of its tenant. */
const MAX_PER_TOKEN = 20;
/** Maximum time to send a page while another reader waits for its credit. */
const SLOW_MS = 30_000;

/** A subscriber that reads ahead. */
interface Reader {
  readonly caller: Caller;
  /** Ends the reader. */
  tooSlow: () => void;
}

class TenantCredits {
  /** Readers with a credit and when they got it, oldest first. */
  readonly holders = new Map<Reader, number>();
  /** Waiting readers by token, each with the function that admits it. */
  readonly waiting = new Map<string, Map<Reader, () => void>>();
  timer: { timeout: NodeJS.Timeout; at: number } | null = null;

  heldBy(tokenId: string): number {
    let count = 0;
    for (const { caller } of this.holders.keys()) if (caller.tokenId === tokenId) count += 1;
    return count;
  }

  /** Grants free credits, first to the token that holds fewest. */
  grant(): void {
    while (this.holders.size < MAX_PER_TENANT) {
      let queue: Map<Reader, () => void> | null = null;
      let fewest = MAX_PER_TOKEN;
      for (const [tokenId, waiting] of this.waiting) {
        const count = this.heldBy(tokenId);
        if (count < fewest) [queue, fewest] = [waiting, count];
      }
      if (queue === null) break;
      const [reader, resolve] = queue.entries().next().value!;
      this.holders.set(reader, performance.now());
      this.#dequeue(reader);
      resolve();
    }
    this.#watch();
  }

  release(reader: Reader): void {
    this.waiting.get(reader.caller.tokenId)?.get(reader)?.();
    this.#dequeue(reader);
    if (this.holders.delete(reader)) this.grant();
  }

  #dequeue(reader: Reader): void {
    const queue = this.waiting.get(reader.caller.tokenId);
    queue?.delete(reader);
    if (queue?.size === 0) this.waiting.delete(reader.caller.tokenId);
  }

  #watch(): void {
    const first = this.#oldestBlocking();
    if (first === null || (this.timer !== null && this.timer.at <= first.until)) return;
    clearTimeout(this.timer?.timeout);
    const check = (): void => {
      this.timer = null;
      for (
        let next = this.#oldestBlocking();
        next !== null && performance.now() >= next.until;
        next = this.#oldestBlocking()
      )
        next.reader.tooSlow();
      this.#watch();
    };
    const timeout = setTimeout(check, Math.max(0, first.until - performance.now()) + 1).unref();
    this.timer = { timeout, at: first.until };
  }

  /** The reader that has held a credit longest among those that block a waiting one, and its deadline. */
  #oldestBlocking(): { reader: Reader; until: number } | null {
    const waiting = [...this.waiting.keys()];
    const hasRoom = (tokenId: string): boolean => this.heldBy(tokenId) < MAX_PER_TOKEN;
    for (const [reader, since] of this.holders)
      if (waiting.some((tokenId) => tokenId === reader.caller.tokenId || hasRoom(tokenId)))
        return { reader, until: since + SLOW_MS };
    return null;
  }
}

/**
 * Bounds the pages that a tenant's subscribers have read and not yet sent; a subscriber waits only for its own tenant.
 */
export class PrefetchCredits {
  readonly #tenants = new Map<string, TenantCredits>();

  /** Resolves when the reader has a credit, or was released. */
  acquire(reader: Reader): Promise<void> {
    const { tenant, tokenId } = reader.caller;
    const credits = this.#tenants.get(tenant) ?? new TenantCredits();
    this.#tenants.set(tenant, credits);
    return new Promise((resolve) => {
      const queue = credits.waiting.get(tokenId) ?? new Map<Reader, () => void>();
      credits.waiting.set(tokenId, queue.set(reader, resolve));
      credits.grant();
    });
  }

  /** Gives back the reader's credit, or stops waiting for one. */
  release(reader: Reader): void {
    const { tenant } = reader.caller;
    const credits = this.#tenants.get(tenant);
    if (credits === undefined) return;
    credits.release(reader);
    if (credits.holders.size === 0) this.#tenants.delete(tenant);
  }
}

interface PrefetchDeps {
  credits: PrefetchCredits;
  caller: Caller;
  /** Called when the reader was ended because others waited too long for its credit. */
  onSlow: () => void;
}

/**
 * Reads what is older than a subscription, page by page: the next page when the last one was taken. A page holds its
 * credit until all of it is sent.
 */
export class Prefetch<Item> {
  readonly #deps: PrefetchDeps;
  readonly caller: Caller;
  #items: Item[] = [];
  #isOver = false;

  constructor(deps: PrefetchDeps) {
    this.#deps = deps;
    this.caller = deps.caller;
  }

  /** No item is left to take. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Reads the next page once it has a credit. Rejects with what `read` rejects with. */
  async fill(read: () => Promise<Item[]>): Promise<void> {
    this.release();
    if (this.#isOver) return;
    await this.#deps.credits.acquire(this);
    // It was ended, and got no credit.
    if (this.#isOver) return;
    try {
      const items = await read();
      if (!this.#isOver) this.#items = items;
    } finally {
      if (this.isEmpty) this.release();
    }
  }

  take(max: number): Item[] {
    return this.#items.splice(0, max);
  }

  /** Frees the credit once all taken items are sent. */
  release(): void {
    if (this.isEmpty) this.#deps.credits.release(this);
  }

  /** Ends the reader: it takes no more items. */
  end(): void {
    this.#isOver = true;
    this.#items = [];
    this.release();
  }

  tooSlow(): void {
    this.end();
    this.#deps.onSlow();
  }
}
