import type { StoredValue } from '../domain/measurements/store.ts';
import { type EncodedBatch, readRows } from './batch-reader.ts';
import { keyOrder } from './key-order.ts';

/** What one device has waiting to be settled, in commit order. */
export interface UnsettledDevice {
  deviceKey: number;
  lastHeardAt: number;
  batches: EncodedBatch[];
  /** How many of the batches are settled: always the first ones. */
  settledBatches: number;
}

/**
 * Some batches of one device as rows sorted by key, each key once with its last value; may be settled bit by bit. A
 * device with very many waiting rows is taken in parts, one after the other, as sorting them all would take long.
 */
export class DeviceRows {
  readonly device: UnsettledDevice;
  /** The batch after the last one in here, and whether there is none. */
  readonly end: number;
  readonly isLast: boolean;
  /** Before keys written more than once were reduced to one. */
  readonly written: number;
  /** How many are settled and committed. */
  settled = 0;
  readonly #fieldKeys: number[] = [];
  readonly #timestamps: number[] = [];
  readonly #values: StoredValue[] = [];
  readonly #order: Uint32Array;

  /** The device's batches from `begin`, until there are `enough` rows or no more batches. */
  constructor(device: UnsettledDevice, begin: number, enough: number) {
    this.device = device;
    let end = begin;
    do {
      const batch = device.batches[end];
      if (batch) readRows(batch, this.#fieldKeys, this.#timestamps, this.#values);
      end++;
    } while (end < device.batches.length && this.#fieldKeys.length < enough);
    this.end = Math.min(end, device.batches.length);
    this.isLast = this.end === device.batches.length;
    this.written = this.#fieldKeys.length;
    this.#order = keyOrder(this.#fieldKeys, this.#timestamps, this.#fieldKeys.length);
  }

  get length(): number {
    return this.#order.length;
  }

  /** Calls back for the rows from `from` to `to` (exclusive) in key order. */
  each(
    from: number,
    to: number,
    visit: (deviceKey: number, fieldKey: number, timestamp: number, value: StoredValue) => void,
  ): void {
    for (let i = from; i < to; i++) {
      const row = this.#order[i]!;
      visit(this.device.deviceKey, this.#fieldKeys[row]!, this.#timestamps[row]!, this.#values[row]!);
    }
  }
}
