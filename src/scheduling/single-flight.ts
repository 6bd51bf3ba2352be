/**
 * Shares a load between all callers that ask for the same key while it runs. If what it reads changes meanwhile, the
 * load must read again or be forgotten, as late callers rely on it.
 */
export class SingleFlight<T> {
  readonly #loading = new Map<string, Promise<T>>();

  /** Returns the running load of the key, or starts `load`. */
  of(key: string, load: () => Promise<T>): Promise<T> {
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = load().finally(() => {
        if (this.#loading.get(key) === loading) this.#loading.delete(key);
      });
      this.#loading.set(key, loading);
    }
    return loading;
  }

  /** Lets no later caller join the running load of the key, or any without a key. */
  forget(key?: string): void {
    if (key === undefined) this.#loading.clear();
    else this.#loading.delete(key);
  }
}
