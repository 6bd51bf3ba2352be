import { SharedLoads } from './shared-loads.ts';

interface Round<T> {
  keys: string[];
  found: Promise<ReadonlyMap<string, T>>;
}

/** `SharedLoads` of what is asked for one by one: all that is asked for at the same moment is looked up together. */
export class CollectedLoads<T> {
  readonly #lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly #loads = new SharedLoads<T | null>();
  #next: Round<T> | null = null;

  constructor(lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#lookUp = lookUp;
  }

  /** null: it was not found. */
  of(key: string): Promise<T | null> {
    return this.#loads.of(key, async () => {
      this.#next ??= this.#begin();
      this.#next.keys.push(key);
      return (await this.#next.found).get(key) ?? null;
    });
  }

  #begin(): Round<T> {
    const keys: string[] = [];
    const lookUp = (): Promise<ReadonlyMap<string, T>> => {
      this.#next = null;
      return this.#lookUp(keys);
    };
    return { keys, found: Promise.resolve().then(lookUp) };
  }
}
