import type { StoredValue } from '../domain/measurements/store.ts';
import { type EncodedBatch, readRows } from './batch-reader.ts';
import { keyOrder } from './key-order.ts';

/** What one device has waiting to be settled, in commit order. */
export interface UnsettledDevice {
  deviceKey: number;
  lastHeardAt: number;
  rows: number;
  batches: EncodedBatch[];
}

/** The rows of one device, sorted by key, each key once with its last value; may be settled bit by bit. */
export class DeviceRows {
  readonly deviceKey: number;
  readonly lastHeardAt: number;
  /** Before keys written more than once were reduced to one. */
  readonly written: number;
  /** How many are settled and committed. */
  settled = 0;
  readonly #fieldKeys: number[] = [];
  readonly #timestamps: number[] = [];
  readonly #values: StoredValue[] = [];
  readonly #order: Uint32Array;

  constructor(device: UnsettledDevice) {
    this.deviceKey = device.deviceKey;
    this.lastHeardAt = device.lastHeardAt;
    this.written = device.rows;
    for (const batch of device.batches) readRows(batch, this.#fieldKeys, this.#timestamps, this.#values);
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
      visit(this.deviceKey, this.#fieldKeys[row]!, this.#timestamps[row]!, this.#values[row]!);
    }
  }
}
