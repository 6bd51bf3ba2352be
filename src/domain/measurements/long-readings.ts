import type { Batch, RewrittenReadings } from '../ports/store.ts';

/** So long nothing long was written again: the device does something else now. */
const FORGOTTEN_MS = 60_000;
/** So soon after many the database tells of fewer because it has only begun with the next ones. */
const BEGINS_MS = 5_000;
const MAX_DEVICES = 10_000;

interface Known {
  readings: number;
  /** When so many were told of. */
  countedAt: number;
  each: number;
  at: number;
}

/**
 * What it costs to write to the devices whose readings are long: a moment may have a megabyte of texts, and every value
 * that comes into it writes all of them again. The database tells of each afterwards; what a device's readings took last
 * is expected of its next ones.
 */
export class LongReadings {
  readonly #now: () => number;
  /** The one that was heard of longest ago is first. */
  readonly #devices = new Map<number, Known>();

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** These were written again. */
  note(rewritten: RewrittenReadings): void {
    const at = this.#now();
    for (const [deviceKey, { readings, bytes }] of rewritten) {
      const before = this.#devices.get(deviceKey);
      this.#devices.delete(deviceKey);
      const isBeginning = before !== undefined && readings < before.readings && before.countedAt > at - BEGINS_MS;
      const counted = isBeginning ? before : { readings, countedAt: at };
      this.#devices.set(deviceKey, { ...counted, each: bytes / readings, at });
    }
    for (const deviceKey of this.#devices.keys()) {
      if (this.#devices.size <= MAX_DEVICES) return;
      this.#devices.delete(deviceKey);
    }
  }

  /** Bytes that are likely to be written again for the batch: of as many moments as last time, as others are new. */
  bytesFor(batch: Batch): number {
    const known = this.#known(batch);
    return known === null ? 0 : known.each * Math.min(known.readings, new Set(batch.timestamps).size);
  }

  /** … if all of its moments were such readings. */
  mostBytesFor(batch: Batch): number {
    const known = this.#known(batch);
    return known === null ? 0 : known.each * new Set(batch.timestamps).size;
  }

  #known({ deviceKey }: Batch): Known | null {
    const known = this.#devices.get(deviceKey);
    if (known === undefined) return null;
    if (known.at > this.#now() - FORGOTTEN_MS) return known;
    this.#devices.delete(deviceKey);
    return null;
  }
}
