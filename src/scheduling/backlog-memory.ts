import { SharedBytes } from './shared-bytes.ts';

/** In bytes: what a stream that has no more unread has is not counted each by each, as that of a reader who keeps up … */
const MUCH_UNREAD = 262_144;
/** … as long as those of a tenant that are not have no more together, or the stream next to nothing. */
const MUCH_OF_SMALL = 16 * 1_048_576;
const NEXT_TO_NOTHING = 2_048;
/** Of all streams of a tenant that are counted, what several of them have once … */
const MOST_OF_TENANT = 64 * 1_048_576;
/** … and of all tenants: from then on of one that has more than its part. */
const MOST = 192 * 1_048_576;

/** A stream of which much lies unread. */
interface SlowStream {
  readonly unreadBytes: number;
  tooSlow: () => void;
}

/** What all tenants have. */
interface All {
  bytes: number;
  /** That have anything that counts. */
  tenants: number;
}

/** What slow readers of one tenant have in memory together: beyond the bound the slowest of them is ended. */
export class UnreadOfTenant {
  readonly #all: All;
  readonly #streams = new Set<SlowStream>();
  readonly #items = new SharedBytes<unknown>();
  #open = 0;
  /** Of streams that are not counted item by item: what several have once for each. */
  #small = 0;

  constructor(all: All) {
    this.#all = all;
  }

  get isEmpty(): boolean {
    return this.#open === 0;
  }

  /** A stream is there, until it is closed. */
  open(): void {
    this.#open += 1;
  }

  close(): void {
    this.#open -= 1;
  }

  /** One that is not counted has so many bytes, `more` of them now: whether it is from now on. */
  isMuch(bytes: number, more: number): boolean {
    this.#small += more;
    if (bytes <= MUCH_UNREAD && (this.#small <= MUCH_OF_SMALL || bytes <= NEXT_TO_NOTHING)) return false;
    this.#small -= bytes;
    return true;
  }

  /** One that is not counted has so many bytes less. */
  less(bytes: number): void {
    this.#small -= bytes;
  }

  /** From now on the stream counts, with what it is said to have. */
  join(stream: SlowStream): void {
    if (this.#streams.size === 0) this.#all.tenants += 1;
    this.#streams.add(stream);
  }

  /** Nothing of it is left. */
  leave(stream: SlowStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#all.tenants -= 1;
  }

  /** `own`: what is each stream's alone. */
  add(item: unknown, bytes: number, own: number): void {
    const before = this.#items.bytes;
    this.#items.add(item, bytes, own);
    this.#all.bytes += this.#items.bytes - before;
  }

  remove(item: unknown, bytes: number, own: number): void {
    const before = this.#items.bytes;
    this.#items.remove(item, bytes, own);
    this.#all.bytes += this.#items.bytes - before;
  }

  /** Ends the one that has most, while all have more than they may: one a time, as thousands may share what is too much. */
  bound(): void {
    const { bytes, tenants } = this.#all;
    const isTooMuch = this.#items.bytes > MOST_OF_TENANT || (bytes > MOST && this.#items.bytes > MOST / tenants);
    if (!isTooMuch) return;
    let slowest: SlowStream | null = null;
    for (const stream of this.#streams)
      if (slowest === null || stream.unreadBytes > slowest.unreadBytes) slowest = stream;
    slowest?.tooSlow();
  }
}

/** What slow readers of each tenant have in memory. */
export class BacklogMemory {
  readonly #all: All = { bytes: 0, tenants: 0 };
  readonly #tenants = new Map<string, UnreadOfTenant>();

  of(tenant: string): UnreadOfTenant {
    let unread = this.#tenants.get(tenant);
    if (unread === undefined) {
      for (const [name, { isEmpty }] of this.#tenants) if (isEmpty) this.#tenants.delete(name);
      this.#tenants.set(tenant, (unread = new UnreadOfTenant(this.#all)));
    }
    return unread;
  }
}
