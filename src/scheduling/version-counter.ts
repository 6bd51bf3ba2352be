const MAX_IDS = 10_000;

/**
 * Counts changes by id, so that a slow reader learns whether what it read has changed meanwhile, whatever else changed.
 */
export class VersionCounter {
  #now = 0;
  /** Latest version of the ids no longer in `#byId`. */
  #newestForgotten = 0;
  readonly #byId = new Map<string, number>();

  /** Current version; grows with each change. */
  get now(): number {
    return this.#now;
  }

  changed(id: string): void {
    this.#now += 1;
    this.#byId.delete(id);
    this.#byId.set(id, this.#now);
    if (this.#byId.size <= MAX_IDS) return;
    const [oldest, revision] = this.#byId.entries().next().value!;
    this.#byId.delete(oldest);
    this.#newestForgotten = revision;
  }

  /** Counts a change of every id. */
  changedAll(): void {
    this.#now += 1;
    this.#newestForgotten = this.#now;
    this.#byId.clear();
  }

  /** Whether one of the ids has changed since that version. */
  hasChanged(ids: Iterable<string>, since: number): boolean {
    if (since === this.#now) return false;
    for (const id of ids) if ((this.#byId.get(id) ?? this.#newestForgotten) > since) return true;
    return false;
  }
}
