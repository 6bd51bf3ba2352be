import { type Batch, heardAtOf } from '../../domain/ports/store.ts';

/** A device's key and the time of its last receipt. */
export type Heard = [deviceKey: number, at: number];

/** Maximum wait of a receipt time, in ms: a device that sends more often is written down twice a second. */
export const HEARD_EVERY_MS = 500;

/**
 * Receipt times on their way to `device_state`. A device's first one of each half second is written with its readings,
 * the later ones together when that is over: for devices that send often the row would be half of the work of a commit.
 */
export class HeardDevices {
  #written = new Set<number>();
  #waiting = new Map<number, number>();
  #ends = 0;

  /** Whether something was acknowledged that is still to be written. */
  get isWaiting(): boolean {
    return this.#waiting.size > 0;
  }

  /** Takes the times to write with these batches, in order of the keys, each once. */
  take(batches: readonly Batch[], now: number): Heard[] {
    const due = now >= this.#ends || now < this.#ends - HEARD_EVERY_MS ? this.takeAll(now) : [];
    const first = new Map(due);
    for (const { deviceKey, receivedAt } of batches) {
      const isLater = this.#written.has(deviceKey) && !first.has(deviceKey);
      note(isLater ? this.#waiting : first, deviceKey, heardAtOf(receivedAt));
      this.#written.add(deviceKey);
    }
    return inOrder(first);
  }

  /** Everything that waits. */
  takeAll(now: number): Heard[] {
    const due = inOrder(this.#waiting);
    this.#waiting = new Map();
    this.#written = new Set(due.map(([deviceKey]) => deviceKey));
    this.#ends = now + HEARD_EVERY_MS;
    return due;
  }

  /** Takes back times that could not be written; they come along with the next. */
  giveBack(heard: readonly Heard[]): void {
    for (const [deviceKey, at] of heard) note(this.#waiting, deviceKey, at);
  }
}

function note(heard: Map<number, number>, deviceKey: number, at: number): void {
  heard.set(deviceKey, Math.max(at, heard.get(deviceKey) ?? at));
}

function inOrder(heard: Map<number, number>): Heard[] {
  return [...heard].sort(([a], [b]) => a - b);
}
