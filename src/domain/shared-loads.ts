/**
 * Loads under way, so that the database is asked once by all who want the same at that moment: when a cache was emptied,
 * its callers come at once. A load must look again when what it read changes meanwhile: who joins it late relies on it.
 */
export class SharedLoads<T> {
  readonly #loading = new Map<string, Promise<T>>();

  /** What `load` finds, or the load for the key that is under way. */
  of(key: string, load: () => Promise<T>): Promise<T> {
    let loading = this.#loading.get(key);
    if (loading === undefined) {
      loading = load().finally(() => this.#loading.delete(key));
      this.#loading.set(key, loading);
    }
    return loading;
  }
}
