interface LruMapOptions<K, V> {
  /** The bound, in what `sizeOf` counts. */
  most: number;
  /** What an entry weighs; 1 each when left out. */
  sizeOf?: (value: V, key: K) => number;
}

/**
 * A map that holds about `most` and no more than that and one entry: what was asked for least recently goes. Two
 * generations instead of an order: an entry that is asked for moves into the young one; once that holds half of `most`,
 * the old one is forgotten as a whole. So a hit costs one look-up, and no entry that is in use is ever lost.
 */
export class LruMap<K, V extends string | number | object> {
  readonly #half: number;
  readonly #sizeOf: (value: V, key: K) => number;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #youngSize = 0;

  constructor({ most, sizeOf = () => 1 }: LruMapOptions<K, V>) {
    this.#half = most / 2;
    this.#sizeOf = sizeOf;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: K): V | undefined {
    const value = this.#young.get(key);
    if (value !== undefined) return value;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: K, value: V): void {
    this.delete(key);
    const size = this.#sizeOf(value, key);
    if (this.#youngSize + size > this.#half && this.#young.size > 0) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngSize = 0;
    }
    this.#young.set(key, value);
    this.#youngSize += size;
  }

  delete(key: K): void {
    const young = this.#young.get(key);
    if (young === undefined) this.#old.delete(key);
    else {
      this.#young.delete(key);
      this.#youngSize -= this.#sizeOf(young, key);
    }
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
    this.#youngSize = 0;
  }

  *[Symbol.iterator](): IterableIterator<[K, V]> {
    yield* this.#old;
    yield* this.#young;
  }
}
