interface Round<T> {
  keys: string[];
  found: Promise<ReadonlyMap<string, T>>;
}

/**
 * Loads of what is asked for one by one: all that is asked for at the same moment is looked up together, and what is under
 * way is not asked for again. A look-up must look again when what it read changes meanwhile: who joins it late relies on
 * it.
 */
export class CollectedLoads<T> {
  readonly #lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly #loading = new Map<string, Promise<T | null>>();
  #next: Round<T> | null = null;

  constructor(lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#lookUp = lookUp;
  }

  /** null: it was not found. */
  of(key: string): Promise<T | null> {
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      this.#next ??= this.#begin();
      this.#next.keys.push(key);
      loading = this.#next.found.then((found) => found.get(key) ?? null).finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
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
