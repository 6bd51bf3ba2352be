import type { Caller } from './caller.ts';

/** Pages of one tenant that lie in memory: at four megabytes each, a tenth of a gigabyte (and of calls as much) … */
const MOST_OF_TENANT = 24;
/** … and of one token, so that none of them has all places of its tenant. */
const MOST_OF_TOKEN = 20;
/** Whoever takes longer to be sent a page, while another waits for a place, is too slow. */
const SLOW_MS = 30_000;

/** Who reads ahead. */
interface Guest {
  readonly party: Caller;
  /** Leaves. */
  tooSlow: () => void;
}

class Places {
  /** Since when, the one that has been there longest first. */
  readonly inside = new Map<Guest, number>();
  /** By token, with what lets them in. */
  readonly waiting = new Map<string, Map<Guest, () => void>>();
  timer: { timeout: NodeJS.Timeout; at: number } | null = null;

  insideOf(tokenId: string): number {
    let count = 0;
    for (const { party } of this.inside.keys()) if (party.tokenId === tokenId) count += 1;
    return count;
  }

  /** Lets in who waits, of the token that has fewest inside. */
  letIn(): void {
    while (this.inside.size < MOST_OF_TENANT) {
      let line: Map<Guest, () => void> | null = null;
      let fewest = MOST_OF_TOKEN;
      for (const [tokenId, waiting] of this.waiting) {
        const count = this.insideOf(tokenId);
        if (count < fewest) [line, fewest] = [waiting, count];
      }
      if (line === null) break;
      const [guest, enter] = line.entries().next().value!;
      this.inside.set(guest, performance.now());
      this.#waitsNoLonger(guest);
      enter();
    }
    this.#watch();
  }

  leave(guest: Guest): void {
    this.waiting.get(guest.party.tokenId)?.get(guest)?.();
    this.#waitsNoLonger(guest);
    if (this.inside.delete(guest)) this.letIn();
  }

  #waitsNoLonger(guest: Guest): void {
    const line = this.waiting.get(guest.party.tokenId);
    line?.delete(guest);
    if (line?.size === 0) this.waiting.delete(guest.party.tokenId);
  }

  #watch(): void {
    const first = this.#slowest();
    if (first === null || (this.timer !== null && this.timer.at <= first.until)) return;
    clearTimeout(this.timer?.timeout);
    const lookAgain = (): void => {
      this.timer = null;
      for (let next = this.#slowest(); next !== null && performance.now() >= next.until; next = this.#slowest())
        next.guest.tooSlow();
      this.#watch();
    };
    const timeout = setTimeout(lookAgain, Math.max(0, first.until - performance.now()) + 1).unref();
    this.timer = { timeout, at: first.until };
  }

  /** Of those whose leaving lets somebody in the one that has been there longest, and when that is too long. */
  #slowest(): { guest: Guest; until: number } | null {
    const waiting = [...this.waiting.keys()];
    const isRoomBut = (tokenId: string): boolean => this.insideOf(tokenId) < MOST_OF_TOKEN;
    for (const [guest, since] of this.inside)
      if (waiting.some((tokenId) => tokenId === guest.party.tokenId || isRoomBut(tokenId)))
        return { guest, until: since + SLOW_MS };
    return null;
  }
}

/** Places for the pages that the subscribers of a tenant have read and not yet sent: who comes late waits for its tenant. */
export class PrefetchCredits {
  readonly #tenants = new Map<string, Places>();

  /** Resolves when the guest has a place, or has left. */
  enter(guest: Guest): Promise<void> {
    const { tenant, tokenId } = guest.party;
    const places = this.#tenants.get(tenant) ?? new Places();
    this.#tenants.set(tenant, places);
    return new Promise((resolve) => {
      const line = places.waiting.get(tokenId) ?? new Map<Guest, () => void>();
      places.waiting.set(tokenId, line.set(guest, resolve));
      places.letIn();
    });
  }

  /** Gives back its place, or waits for none any more. */
  leave(guest: Guest): void {
    const { tenant } = guest.party;
    const places = this.#tenants.get(tenant);
    if (places === undefined) return;
    places.leave(guest);
    if (places.inside.size === 0) this.#tenants.delete(tenant);
  }
}

interface PrefetchDeps {
  places: PrefetchCredits;
  party: Caller;
  /** It was ended, as others have waited long for its place. */
  onSlow: () => void;
}

/**
 * What one subscriber reads by itself of what was there before it came: a page whenever the one before was taken, which
 * has its place until all of it is sent.
 */
export class Prefetch<Item> {
  readonly #deps: PrefetchDeps;
  readonly party: Caller;
  #items: Item[] = [];
  #isOver = false;

  constructor(deps: PrefetchDeps) {
    this.#deps = deps;
    this.party = deps.party;
  }

  /** Nothing of it is left. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  /** Begins with a few that are there already, and need no place. */
  begin(items: Item[]): void {
    if (!this.#isOver) this.#items = items;
  }

  /** Reads the next page, when there is a place for it. What it rejects with is `read`'s. */
  async fill(read: () => Promise<Item[]>): Promise<void> {
    this.release();
    if (this.#isOver) return;
    await this.#deps.places.enter(this);
    // Without a place then.
    if (this.#isOver) return;
    try {
      const items = await read();
      if (!this.#isOver) this.#items = items;
    } finally {
      if (this.isEmpty) this.release();
    }
  }

  take(most: number): Item[] {
    return this.#items.splice(0, most);
  }

  /** What was taken is sent: its place is free once nothing is left. */
  release(): void {
    if (this.isEmpty) this.#deps.places.leave(this);
  }

  /** Nobody wants any more of it. */
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
