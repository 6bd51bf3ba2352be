import type { Promised } from './promised.ts';

/** Options of a `Batch`. */
interface BatchOptions<Key, Name> {
  /** Tells one key from another; left out: the key itself. */
  nameOf?: (key: Key) => Name;
  /** Weight of each key; left out: one each. */
  sizesOf?: (keys: readonly Key[]) => Promise<readonly number[]>;
  /** Maximum weight per look-up, unless it has a single key; left out: all keys go into one. */
  atMost?: number;
}

/** A key that was asked for, and the promise of its value. */
interface Asked<Key, Value> {
  key: Key;
  resolve: (value: Value) => void;
  reject: (error: unknown) => void;
}

/**
 * Looks up what the children of a list need: all keys that one level of an operation asks for go into one look-up; a
 * known value is returned at once, not promised. The look-up answers in the order of the keys, with an Error for a key
 * that it cannot resolve. Several look-ups run one after the other.
 */
export class Batch<Key, Value, Name = Key> {
  readonly #lookUp: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>;
  readonly #nameOf: (key: Key) => Name;
  readonly #sizesOf: ((keys: readonly Key[]) => Promise<readonly number[]>) | undefined;
  readonly #atMost: number;
  readonly #known = new Map<Name, Promised<Value>>();
  #next: Asked<Key, Value>[] | null = null;

  constructor(
    lookUp: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
    { nameOf = (key) => key as unknown as Name, sizesOf, atMost = Infinity }: BatchOptions<Key, Name> = {},
  ) {
    this.#lookUp = lookUp;
    this.#nameOf = nameOf;
    this.#sizesOf = sizesOf;
    this.#atMost = atMost;
  }

  load(key: Key): Promised<Value> {
    const name = this.#nameOf(key);
    const known = this.#known.get(name);
    if (known !== undefined || this.#known.has(name)) return known as Promised<Value>;
    this.#next ??= this.#begin();
    const { promise, resolve, reject } = Promise.withResolvers<Value>();
    this.#next.push({ key, resolve, reject });
    this.#known.set(name, promise);
    return promise;
  }

  /** Takes a value that was read elsewhere in the same operation. */
  know(key: Key, value: Value): void {
    this.#known.set(this.#nameOf(key), value);
  }

  #begin(): Asked<Key, Value>[] {
    const asked: Asked<Key, Value>[] = [];
    void endOfLevel().then(() => this.#answer(asked));
    return asked;
  }

  async #answer(asked: readonly Asked<Key, Value>[]): Promise<void> {
    this.#next = null;
    try {
      for (const some of await this.#pieces(asked)) {
        const values = await this.#lookUp(some.map(({ key }) => key));
        some.forEach((one, index) => this.#settle(one, values[index]!));
      }
    } catch (error) {
      // Keys that were answered keep their values.
      for (const { reject } of asked) reject(error);
    }
  }

  async #pieces(asked: readonly Asked<Key, Value>[]): Promise<Asked<Key, Value>[][]> {
    const sizes = asked.length === 1 ? undefined : await this.#sizesOf?.(asked.map(({ key }) => key));
    const pieces: Asked<Key, Value>[][] = [];
    let room = 0;
    for (const [index, one] of asked.entries()) {
      const size = sizes?.[index] ?? 1;
      if (pieces.length === 0 || size > room) {
        pieces.push([]);
        room = this.#atMost;
      }
      pieces.at(-1)!.push(one);
      room -= size;
    }
    return pieces;
  }

  #settle({ key, resolve, reject }: Asked<Key, Value>, value: Value | Error): void {
    if (value instanceof Error) {
      reject(value);
      return;
    }
    this.#known.set(this.#nameOf(key), value);
    resolve(value);
  }
}

/** Resolves when everything that follows from the promises settled now has asked. */
function endOfLevel(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
