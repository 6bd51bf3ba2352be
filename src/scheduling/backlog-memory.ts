import { poolCountsOf } from './pool-counts.ts';
import { POOLS } from './pools.ts';
import { SharedBytes } from './shared-bytes.ts';

const LIMITS = POOLS.backlogs;

/** Maximum unread bytes of a stream whose items are not counted one by one, as for a reader that keeps up. */
const METERED_FROM = 262_144;
/** Maximum bytes of a stream that is not metered even if the others of its tenant have too much. */
const NEVER_METERED = 2_048;

/** A stream with many unread bytes. */
interface SlowStream {
  readonly unreadBytes: number;
  tooSlow: () => void;
}

/** Sums over all tenants. */
interface Totals {
  bytes: number;
  /** Number of tenants with metered streams. */
  tenants: number;
}

/** Bounds the memory of a tenant's unread streams: beyond it the slowest stream ends. */
export class TenantBacklog {
  readonly #totals: Totals;
  readonly #counts = poolCountsOf(LIMITS.name);
  readonly #streams = new Set<SlowStream>();
  readonly #items = new SharedBytes<unknown>();
  #open = 0;
  /** Bytes of unmetered streams; shared items count for each. */
  #unmetered = 0;

  constructor(totals: Totals) {
    this.#totals = totals;
  }

  get isEmpty(): boolean {
    return this.#open === 0;
  }

  /** Registers a stream until `close`. */
  open(): void {
    this.#open += 1;
  }

  close(): void {
    this.#open -= 1;
  }

  /** An unmetered stream has `bytes`, `more` of them new; returns whether it must be metered now. */
  outgrows(bytes: number, more: number): boolean {
    this.#unmetered += more;
    if (bytes <= METERED_FROM && (this.#unmetered <= LIMITS.maxBytesUnmetered || bytes <= NEVER_METERED)) return false;
    this.#unmetered -= bytes;
    return true;
  }

  /** An unmetered stream has this many bytes less. */
  shrink(bytes: number): void {
    this.#unmetered -= bytes;
  }

  /** Meters the stream from now on. */
  join(stream: SlowStream): void {
    if (this.#streams.size === 0) this.#totals.tenants += 1;
    this.#streams.add(stream);
  }

  /** Stops metering the stream; it is empty. */
  leave(stream: SlowStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#totals.tenants -= 1;
  }

  /** `own`: bytes that the stream does not share. */
  add(item: unknown, bytes: number, own: number): void {
    const before = this.#items.bytes;
    this.#items.add(item, bytes, own);
    this.#count(this.#items.bytes - before);
  }

  remove(item: unknown, bytes: number, own: number): void {
    const before = this.#items.bytes;
    this.#items.remove(item, bytes, own);
    this.#count(this.#items.bytes - before);
  }

  /**
   * Ends the largest stream if the tenant is over its bound; one at a time, as thousands may share what is too much.
   */
  enforce(): void {
    const { maxBytes, maxBytesPerTenant } = LIMITS;
    const { bytes, tenants } = this.#totals;
    const isOver =
      this.#items.bytes > maxBytesPerTenant || (bytes > maxBytes && this.#items.bytes > maxBytes / tenants);
    if (!isOver) return;
    let slowest: SlowStream | null = null;
    for (const stream of this.#streams)
      if (slowest === null || stream.unreadBytes > slowest.unreadBytes) slowest = stream;
    if (slowest === null) return;
    this.#counts.evicted += 1;
    slowest.tooSlow();
  }

  #count(more: number): void {
    this.#totals.bytes += more;
    this.#counts.bytes += more;
  }
}

/** Memory of the unread streams of every tenant. */
export class BacklogMemory {
  readonly #totals: Totals = { bytes: 0, tenants: 0 };
  readonly #tenants = new Map<string, TenantBacklog>();

  of(tenant: string): TenantBacklog {
    let unread = this.#tenants.get(tenant);
    if (unread === undefined) {
      for (const [name, { isEmpty }] of this.#tenants) if (isEmpty) this.#tenants.delete(name);
      this.#tenants.set(tenant, (unread = new TenantBacklog(this.#totals)));
    }
    return unread;
  }
}
