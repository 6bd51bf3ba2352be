import { randomUUID } from 'node:crypto';
import { Tally } from '../../scheduling/tally.ts';
import { must } from '../../must.ts';

/** No reading newer than `upTo` had a value of the field when the store stood at `position`. */
export interface LookedThrough {
  position: string;
  upTo: number;
}

/** Maximum entries, each a field of a device, of all tenants. */
const MAX_ENTRIES = 10_000;

/**
 * Keeps a thread's results of searches for newest values that went far back, for the next operation. They stay true
 * whatever is deleted or moves into chunks: only values committed behind the position can be newer. The tenant that has
 * most makes room.
 */
export class LatestMemory {
  /** Least recently used first. */
  readonly #entries = new Map<string, LookedThrough & { tenant: string }>();
  readonly #ofTenants = new Tally();
  /** Id of this memory, new with each thread and each `clear`: progress of another era counts for nothing. */
  era: string = randomUUID();

  get(deviceKey: number, fieldKey: number): LookedThrough | undefined {
    const key = `${deviceKey} ${fieldKey}`;
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry;
  }

  /** `tenant`: the owner of the device. */
  set(deviceKey: number, fieldKey: number, { position, upTo }: LookedThrough, tenant = ''): void {
    const key = `${deviceKey} ${fieldKey}`;
    this.#forget(key);
    if (this.#entries.size >= MAX_ENTRIES) this.#makeRoom();
    this.#entries.set(key, { position, upTo, tenant });
    this.#ofTenants.add(tenant, 1);
  }

  /** Forgets everything: the database may be another one, or an older state of it. */
  clear(): void {
    this.#entries.clear();
    this.#ofTenants.clear();
    this.era = randomUUID();
  }

  /** Drops half of the largest tenant's entries: one at a time, all would be gone through each time. */
  #makeRoom(): void {
    const most = this.#ofTenants.largest;
    let surplus = Math.ceil(this.#ofTenants.of(must(most)) / 2);
    for (const [key, { tenant }] of this.#entries) {
      if (tenant !== most) continue;
      this.#forget(key);
      surplus -= 1;
      if (surplus === 0) return;
    }
  }

  #forget(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#ofTenants.add(entry.tenant, -1);
  }
}
