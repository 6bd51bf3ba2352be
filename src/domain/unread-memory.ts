import { SharedBytes } from './shared-bytes.ts';

/** In bytes: a stream that has no more unread does not count, as that of a reader who keeps up. */
export const MUCH_UNREAD = 262_144;
/** Of all streams of a tenant that have more, what several of them have counted once. */
const MOST_OF_TENANT = 64 * 1_048_576;

/** A stream of which much lies unread. */
interface SlowStream {
  readonly unreadBytes: number;
  tooSlow: () => void;
}

/** What slow readers of one tenant have in memory together: beyond the bound the slowest of them is ended. */
export class UnreadOfTenant {
  readonly #streams = new Set<SlowStream>();
  readonly #items = new SharedBytes<unknown>();

  get isEmpty(): boolean {
    return this.#streams.size === 0;
  }

  /** From now on the stream counts, with what it is said to have. */
  join(stream: SlowStream): void {
    this.#streams.add(stream);
  }

  /** Nothing of it is left. */
  leave(stream: SlowStream): void {
    this.#streams.delete(stream);
  }

  add(item: unknown, bytes: number): void {
    this.#items.add(item, bytes, 0);
  }

  remove(item: unknown, bytes: number): void {
    this.#items.remove(item, bytes, 0);
  }

  /** Ends the one that has most, while all have more than they may: one a time, as thousands may share what is too much. */
  bound(): void {
    if (this.#items.bytes <= MOST_OF_TENANT) return;
    let slowest: SlowStream | null = null;
    for (const stream of this.#streams)
      if (slowest === null || stream.unreadBytes > slowest.unreadBytes) slowest = stream;
    slowest?.tooSlow();
  }
}

/** What slow readers of each tenant have in memory. */
export class UnreadMemory {
  readonly #tenants = new Map<string, UnreadOfTenant>();

  of(tenant: string): UnreadOfTenant {
    let unread = this.#tenants.get(tenant);
    if (unread === undefined) {
      for (const [name, { isEmpty }] of this.#tenants) if (isEmpty) this.#tenants.delete(name);
      this.#tenants.set(tenant, (unread = new UnreadOfTenant()));
    }
    return unread;
  }
}
