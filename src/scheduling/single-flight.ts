/**
 * Loads under way, so that the database is asked once by all who want the same at that moment: when a cache was emptied,
 * its callers come at once. When what it reads changes meanwhile a load must look again, or be forgotten: who joins it
 * late relies on it.
 */
export class SingleFlight<T> {
  readonly #loading = new Map<string, Promise<T>>();

  /** What `load` finds, or the load for the key that is under way. */
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

  /** Nobody joins those that are under way any more; of one key, or of all. */
  forget(key?: string): void {
    if (key === undefined) this.#loading.clear();
    else this.#loading.delete(key);
  }
}
