import type { Follower } from './live-follower.ts';

/** From so many on it is quicker to read what all devices record. */
const MOST_NAMED = 1_000;

/** Those who follow, found by the device that sent: what a thousand wait for each of a device of its own concerns one. */
export class Followers {
  readonly #all = new Set<Follower>();
  /** Who named no devices. */
  readonly #ofAny = new Set<Follower>();
  readonly #byDevice = new Map<number, Set<Follower>>();

  get size(): number {
    return this.#all.size;
  }

  /** Whose recordings anybody wants; null: those of any. */
  get deviceKeys(): number[] | null {
    return this.#ofAny.size > 0 || this.#byDevice.size > MOST_NAMED ? null : [...this.#byDevice.keys()];
  }

  add(follower: Follower): void {
    this.#all.add(follower);
    if (follower.deviceKeys === null) this.#ofAny.add(follower);
    for (const key of follower.deviceKeys ?? []) {
      const same = this.#byDevice.get(key);
      if (same === undefined) this.#byDevice.set(key, new Set([follower]));
      else same.add(follower);
    }
  }

  delete(follower: Follower): void {
    this.#all.delete(follower);
    this.#ofAny.delete(follower);
    for (const key of follower.deviceKeys ?? []) {
      const same = this.#byDevice.get(key);
      same?.delete(follower);
      if (same?.size === 0) this.#byDevice.delete(key);
    }
  }

  /** Who may want what the device sends. */
  ofDevice(key: number): Follower[] {
    return [...this.#ofAny, ...(this.#byDevice.get(key) ?? [])];
  }

  [Symbol.iterator](): IterableIterator<Follower> {
    return this.#all.values();
  }
}
