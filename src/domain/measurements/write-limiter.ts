/**
 * One write per device and field in each interval, by time of receipt (CONTRACT 3). Asked once for a request, so that
 * a limiter that spans nodes needs one trip.
 */
export interface WriteLimiter {
  /** For each field key in order, each there once: true if a write is allowed now, and thereby used up. */
  reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): boolean[] | Promise<boolean[]>;
  /** The writes were not stored after all: the sender's retry must not be refused for them. */
  giveBack(deviceKey: number, fieldKeys: number[]): void;
}

const SWEEP_EVERY_MS = 30_000;
/** Devices that are looked at in one piece: there may be hundreds of thousands. */
const SWEPT_AT_ONCE = 100;

interface DeviceWrites {
  lastByField: Map<number, number>;
  /** From then on nothing here can refuse a write. */
  expires: number;
}

/** The limiter of one node. Uses a monotonic clock: setting the system's clock neither blocks nor frees anybody. */
export class LocalWriteLimiter implements WriteLimiter {
  readonly #devices = new Map<number, DeviceWrites>();
  readonly #clock: () => number;
  #nextSweep: number;
  /** Goes on with whoever reserves next. */
  #sweeping: Iterator<[number, DeviceWrites]> | null = null;

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#nextSweep = clock() + SWEEP_EVERY_MS;
  }

  /** How many devices are remembered. */
  get size(): number {
    return this.#devices.size;
  }

  reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): boolean[] {
    const now = this.#clock();
    this.#sweep(now);
    let writes = this.#devices.get(deviceKey);
    if (writes === undefined) {
      writes = { lastByField: new Map(), expires: 0 };
      this.#devices.set(deviceKey, writes);
    }
    writes.expires = Math.max(writes.expires, now + intervalMs);
    const { lastByField } = writes;
    return fieldKeys.map((fieldKey) => {
      const last = lastByField.get(fieldKey);
      if (last !== undefined && now - last < intervalMs) return false;
      lastByField.set(fieldKey, now);
      return true;
    });
  }

  giveBack(deviceKey: number, fieldKeys: number[]): void {
    const writes = this.#devices.get(deviceKey);
    for (const fieldKey of fieldKeys) writes?.lastByField.delete(fieldKey);
  }

  #sweep(now: number): void {
    if (this.#sweeping === null) {
      if (now <= this.#nextSweep) return;
      this.#nextSweep = now + SWEEP_EVERY_MS;
      this.#sweeping = this.#devices.entries();
    }
    for (let left = SWEPT_AT_ONCE; left > 0; left -= 1) {
      const next = this.#sweeping.next();
      if (next.done === true) return void (this.#sweeping = null);
      const [deviceKey, { expires }] = next.value;
      if (expires < now) this.#devices.delete(deviceKey);
    }
  }
}
