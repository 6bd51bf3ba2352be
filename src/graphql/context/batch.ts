import type { Promised } from './promised.ts';

/** How a `Batch` looks up. */
interface BatchOptions<Key, Name> {
  /** What tells one key from another; left out: the key itself. */
  nameOf?: (key: Key) => Name;
  /** How many keys one look-up takes; left out: all. */
  atMost?: number;
}

interface Round<Key, Name, Value> {
  keys: Key[];
  answers: Promise<ReadonlyMap<Name, Value | Error>>;
}

/**
 * What the children of a list are looked up by: all keys that one level of an operation asks for go into one look-up,
 * and what is known by then is given at once, not promised. The look-up answers in the order of the keys, an Error in
 * the place of what cannot be.
 */
export class Batch<Key, Value, Name = Key> {
  readonly #lookUp: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>;
  readonly #nameOf: (key: Key) => Name;
  readonly #atMost: number;
  readonly #known = new Map<Name, Promised<Value>>();
  #next: Round<Key, Name, Value> | null = null;

  constructor(
    lookUp: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
    { nameOf = (key) => key as unknown as Name, atMost = Infinity }: BatchOptions<Key, Name> = {},
  ) {
    this.#lookUp = lookUp;
    this.#nameOf = nameOf;
    this.#atMost = atMost;
  }

  load(key: Key): Promised<Value> {
    const name = this.#nameOf(key);
    const known = this.#known.get(name);
    if (known !== undefined || this.#known.has(name)) return known as Promised<Value>;
    this.#next ??= this.#begin();
    this.#next.keys.push(key);
    const value = this.#next.answers.then((answers) => {
      const answer = answers.get(name);
      if (answer instanceof Error) throw answer;
      this.#known.set(name, answer as Value);
      return answer as Value;
    });
    this.#known.set(name, value);
    return value;
  }

  /** Read by somebody else, in the same operation. */
  know(key: Key, value: Value): void {
    this.#known.set(this.#nameOf(key), value);
  }

  #begin(): Round<Key, Name, Value> {
    const keys: Key[] = [];
    return { keys, answers: endOfLevel().then(() => this.#answer(keys)) };
  }

  async #answer(keys: readonly Key[]): Promise<ReadonlyMap<Name, Value | Error>> {
    this.#next = null;
    const found = new Map<Name, Value | Error>();
    for (let at = 0; at < keys.length; at += this.#atMost) {
      const some = keys.slice(at, at + this.#atMost);
      const values = await this.#lookUp(some);
      some.forEach((key, index) => found.set(this.#nameOf(key), values[index]!));
    }
    return found;
  }
}

/** When everything that what is settled now leads to has asked. */
function endOfLevel(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}
