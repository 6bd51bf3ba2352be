/** What other nodes say of a call comes that much later than its commit, at most. */
const LATE_MS = 10_000;

/** The calls that a subscriber has read in the log, and that may be told of a moment later as logged just now. */
export class JustRead {
  readonly #ids = new Set<string>();
  #forgetting: NodeJS.Timeout | undefined;

  /** They were read. */
  add(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
    clearTimeout(this.#forgetting);
    this.#forgetting = setTimeout(() => this.#ids.clear(), LATE_MS).unref();
  }

  /** Whether it was among them; it is logged once. */
  isTold(id: string): boolean {
    return this.#ids.delete(id);
  }

  /** Nobody reads any more. */
  end(): void {
    clearTimeout(this.#forgetting);
    this.#ids.clear();
  }
}
