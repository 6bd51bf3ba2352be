/**
 * One write per device and field in each interval, by time of receipt (CONTRACT 3). Asked once for a request, so that
 * a limiter that spans nodes needs one trip.
 */
export interface WriteLimiter {
  /** For each field key in order: true if a write is allowed now, and thereby used up. */
  reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): boolean[] | Promise<boolean[]>;
  /** The writes were not stored after all: the sender's retry must not be refused for them. */
  giveBack(deviceKey: number, fieldKeys: number[]): void;
}

const SWEEP_EVERY_MS = 30_000;

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

  constructor(clock: () => number = () => performance.now()) {
    this.#clock = clock;
    this.#nextSweep = clock() + SWEEP_EVERY_MS;
  }

  reserve(deviceKey: number, fieldKeys: number[], intervalMs: number): boolean[] {
    const now = this.#clock();
    if (now > this.#nextSweep) this.#sweep(now);
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
    this.#nextSweep = now + SWEEP_EVERY_MS;
    for (const [deviceKey, writes] of this.#devices) if (writes.expires < now) this.#devices.delete(deviceKey);
  }
}
