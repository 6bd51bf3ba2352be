const MOST = 10_000;

/**
 * When something changed last, counted in changes, by the ids of what: whoever reads slowly learns whether what it has read
 * has changed meanwhile, and does not have to look again for changes of everybody else's, which may never end.
 */
export class VersionCounter {
  #now = 0;
  /** Of all that is not in `#byId` any more. */
  #ofOthers = 0;
  readonly #byId = new Map<string, number>();

  /** Moves with each change. */
  get now(): number {
    return this.#now;
  }

  changed(id: string): void {
    this.#now += 1;
    this.#byId.delete(id);
    this.#byId.set(id, this.#now);
    if (this.#byId.size <= MOST) return;
    const [oldest, revision] = this.#byId.entries().next().value!;
    this.#byId.delete(oldest);
    this.#ofOthers = revision;
  }

  /** Anything may have changed. */
  changedAll(): void {
    this.#now += 1;
    this.#ofOthers = this.#now;
    this.#byId.clear();
  }

  /** Whether one of these has changed since then. */
  hasChanged(ids: Iterable<string>, since: number): boolean {
    if (since === this.#now) return false;
    for (const id of ids) if ((this.#byId.get(id) ?? this.#ofOthers) > since) return true;
    return false;
  }
}
