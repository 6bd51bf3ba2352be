import { randomUUID } from 'node:crypto';
import { LruMap } from '../../domain/lru-map.ts';

/** No reading newer than `upTo` had a value of the field when the store stood at `position`. */
export interface LookedThrough {
  position: string;
  upTo: number;
}

/** Fields of devices. */
const MAX_ENTRIES = 10_000;

/**
 * What a thread remembers of searches for newest values that went far back, for the next operation. It stays true whatever is deleted or moves
 * into chunks: only what is committed behind the position can be newer.
 */
export class LatestMemory {
  readonly #entries = new LruMap<string, LookedThrough>({ most: MAX_ENTRIES });
  /** Another one in each thread and with each `clear`: what was learned in another one counts for nothing. */
  era: string = randomUUID();

  get(deviceKey: number, fieldKey: number): LookedThrough | undefined {
    return this.#entries.get(`${deviceKey} ${fieldKey}`);
  }

  set(deviceKey: number, fieldKey: number, lookedThrough: LookedThrough): void {
    this.#entries.set(`${deviceKey} ${fieldKey}`, lookedThrough);
  }

  /** The database may be another one, or an older state of it. */
  clear(): void {
    this.#entries.clear();
    this.era = randomUUID();
  }
}
