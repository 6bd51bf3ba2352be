import { lruCache } from '../../scheduling/lru-cache.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { Batch, MeasurementStore } from '../ports/store.ts';
import { must } from '../../must.ts';

/** Of so many devices it is remembered how new what is stored of them is. */
const MAX_DEVICES = 100_000;
/** Reads for one request, and values of others that are read between its own: what is not found by then counts as new. */
const MOST_READS = 20;
const BESIDE = 1_000;
const MOST_CHARACTERS = 1_000_000;

/** Entries of one field that may be stored already: where they stand in their batch, in order of time. */
interface Asked {
  fieldKey: number;
  places: number[];
}

/**
 * Finds out which entries of a batch are stored already with the same value: they count for nothing at the write limit, so
 * that a retry goes on where it stopped (CONTRACT 3). What is newer than all that is stored of its device is not looked for.
 */
export class StoredAlready {
  readonly #store: Pick<MeasurementStore, 'latest' | 'range'>;
  /** Device key → the latest moment of what is stored of it, in ms UTC. */
  readonly #newest = lruCache<number, number>(MAX_DEVICES);

  constructor(store: Pick<MeasurementStore, 'latest' | 'range'>) {
    this.#store = store;
  }

  /** For each place of the batch; null, without waiting: none is. `receiptTime`: the moment of entries that say none. */
  find(device: DeviceInfo, batch: Batch, receiptTime: number): Promise<boolean[]> | null {
    const newest = this.#newest.get(device.key) ?? Infinity;
    return batch.timestamps.some((time) => time !== receiptTime && time <= newest)
      ? this.#lookFor(device, batch, receiptTime)
      : null;
  }

  /** The batch is stored by now. */
  note({ deviceKey, timestamps }: Batch): void {
    const before = this.#newest.get(deviceKey);
    if (before === undefined) return;
    let newest = before;
    for (const time of timestamps) if (time > newest) newest = time;
    if (newest > before) this.#newest.set(deviceKey, newest);
  }

  async #lookFor(device: DeviceInfo, batch: Batch, receiptTime: number): Promise<boolean[]> {
    const newest = this.#newest.get(device.key) ?? (await this.#newestOf(device));
    const found = batch.timestamps.map(() => false);
    const byField = new Map<number, Asked>();
    for (const [at, time] of batch.timestamps.entries()) {
      if (time === receiptTime || time > newest) continue;
      const fieldKey = must(batch.fieldKeys[at]);
      const asked = byField.get(fieldKey);
      if (asked === undefined) byField.set(fieldKey, { fieldKey, places: [at] });
      else asked.places.push(at);
    }
    let [reads, room] = [MOST_READS, 2 * found.length + BESIDE];
    for (const { fieldKey, places } of byField.values()) {
      const timeOf = (place: number): number => must(batch.timestamps[place]);
      places.sort((a, b) => timeOf(a) - timeOf(b));
      const times = places.map(timeOf);
      for (let next = 0; next < places.length && reads > 0 && room > 0; reads -= 1) {
        const from = must(times[next]);
        const to = must(times.at(-1)) + 1;
        const limit = Math.min(room, 2 * (places.length - next) + BESIDE / MOST_READS);
        const query = { deviceKey: device.key, fieldKey, from, to, newestFirst: false, limit };
        const stored = await this.#store.range({ ...query, maxCharacters: MOST_CHARACTERS });
        room -= stored.timestamps.length;
        const valueAt = new Map(stored.timestamps.map((time, nth) => [time, must(stored.values[nth])]));
        const isWhole = stored.timestamps.length < limit && !stored.values.some((value) => typeof value === 'string');
        const readTo = isWhole ? Infinity : (stored.timestamps.at(-1) ?? Infinity);
        for (; next < places.length && must(times[next]) <= readTo; next += 1) {
          const at = must(places[next]);
          found[at] = valueAt.get(timeOf(at)) === batch.values[at];
        }
      }
    }
    return found;
  }

  async #newestOf({ key, product, workspaceId }: DeviceInfo): Promise<number> {
    // Kept for every token that records, so of all fields.
    const { fieldsByKey } = product.whole ?? product;
    const query = { deviceKey: key, fieldKeys: [...fieldsByKey.keys()], tenant: workspaceId };
    let newest = -Infinity;
    for (const { timestamp } of await this.#store.latest([query])) newest = Math.max(newest, timestamp);
    newest = Math.max(newest, this.#newest.get(key) ?? -Infinity);
    this.#newest.set(key, newest);
    return newest;
  }
}
