/** Pages of one tenant that lie in memory: at four megabytes each, a tenth of a gigabyte. */
const MOST_OF_TENANT = 24;

/** Gives back a place. */
type Leave = () => void;

/** Places for the pages that the subscribers of a tenant have read and not yet sent: who comes late waits for its tenant. */
export class PagePlaces {
  readonly #tenants = new Map<string, { taken: number; waiting: (() => void)[] }>();

  /** Resolves when there is a place, with what gives it back. */
  async enter(tenant: string): Promise<Leave> {
    const places = this.#tenants.get(tenant) ?? { taken: 0, waiting: [] };
    this.#tenants.set(tenant, places);
    if (places.taken < MOST_OF_TENANT) places.taken += 1;
    else await new Promise<void>((resolve) => places.waiting.push(resolve));
    return () => {
      const next = places.waiting.shift();
      if (next !== undefined) return next();
      places.taken -= 1;
      if (places.taken === 0) this.#tenants.delete(tenant);
    };
  }
}

/**
 * What one subscriber reads by itself of what was there before it came: a page whenever the one before was taken, which
 * has its place until all of it is sent.
 */
export class ReadAhead<Item> {
  readonly #enter: () => Promise<Leave>;
  #items: Item[] = [];
  #leave: Leave | null = null;
  #isOver = false;

  /** `enter`: as of `PagePlaces`. */
  constructor(enter: () => Promise<Leave>) {
    this.#enter = enter;
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
    const leave = await this.#enter();
    if (this.#isOver) return leave();
    this.#leave = leave;
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
    if (!this.isEmpty) return;
    this.#leave?.();
    this.#leave = null;
  }

  /** Nobody wants any more of it. */
  end(): void {
    this.#isOver = true;
    this.#items = [];
    this.release();
  }
}
