import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import type { Follower } from './live-follower.ts';

/** From so many on it is quicker to read what all devices record. */
const MOST_NAMED = 1_000;

/** By `Follower.audience`. */
type Audiences = Map<unknown, Set<Follower>>;

/** Those who follow, found by the device that sent: what a thousand wait for each of a device of its own concerns one. */
export class Subscribers {
  readonly #all = new Set<Follower>();
  /** Who named no devices. */
  readonly #ofAny: Audiences = new Map();
  readonly #byDevice = new Map<number, Audiences>();
  /** Who is gone, and is still found by device; it takes nothing that it is offered. */
  #gone: Follower[] = [];
  #isForgetting = false;

  get size(): number {
    return this.#all.size;
  }

  /** Whose recordings anybody wants; null: those of any. */
  get deviceKeys(): number[] | null {
    return this.#ofAny.size > 0 || this.#byDevice.size > MOST_NAMED ? null : [...this.#byDevice.keys()];
  }

  add(follower: Follower): void {
    this.#all.add(follower);
    if (follower.deviceKeys === null) addTo(this.#ofAny, follower);
    for (const key of follower.deviceKeys ?? []) {
      const audiences = this.#byDevice.get(key) ?? new Map();
      this.#byDevice.set(key, audiences);
      addTo(audiences, follower);
    }
  }

  /** It has ended. */
  delete(follower: Follower): void {
    if (!this.#all.delete(follower)) return;
    deleteFrom(this.#ofAny, follower);
    if (follower.deviceKeys === null) return;
    this.#gone.push(follower);
    if (!this.#isForgetting) void this.#forget();
  }

  /** In slices: thousands may be gone at the same moment, each with a thousand devices. */
  async #forget(): Promise<void> {
    this.#isForgetting = true;
    const slices = new Slices(NOBODY);
    while (this.#gone.length > 0) {
      const gone = this.#gone;
      this.#gone = [];
      for (const follower of gone)
        for (const key of follower.deviceKeys ?? []) {
          if (slices.isOver) await slices.next();
          this.#forgetOf(key, follower);
        }
    }
    this.#isForgetting = false;
  }

  #forgetOf(key: number, follower: Follower): void {
    const audiences = this.#byDevice.get(key);
    if (audiences === undefined) return;
    deleteFrom(audiences, follower);
    if (audiences.size === 0) this.#byDevice.delete(key);
  }

  /** Who may want what the device sends: of each audience all or none. */
  *ofDevice(key: number): Generator<ReadonlySet<Follower>, void> {
    yield* this.#ofAny.values();
    yield* this.#byDevice.get(key)?.values() ?? [];
  }

  [Symbol.iterator](): IterableIterator<Follower> {
    return this.#all.values();
  }
}

function addTo(audiences: Audiences, follower: Follower): void {
  const same = audiences.get(follower.audience);
  if (same === undefined) audiences.set(follower.audience, new Set([follower]));
  else same.add(follower);
}

function deleteFrom(audiences: Audiences, follower: Follower): void {
  const same = audiences.get(follower.audience);
  same?.delete(follower);
  if (same?.size === 0) audiences.delete(follower.audience);
}
