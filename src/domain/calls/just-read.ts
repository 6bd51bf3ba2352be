import type { ToldCall } from './listeners.ts';

/** What other nodes say of a call comes that much later than its commit, at most. */
const LATE_MS = 10_000;

/** The calls that a subscriber has read in the log, and that may be told of a moment later as logged just now. */
export class JustRead {
  /** By id, the number of what was told last before it was read. */
  readonly #ids = new Map<string, number>();
  readonly #isBehind: () => boolean;
  #forgetting: NodeJS.Timeout | undefined;

  /** `isBehind`: calls of this node wait to be told. */
  constructor(isBehind: () => boolean) {
    this.#isBehind = isBehind;
  }

  /** They were read after what was told by that number. */
  add(ids: Iterable<string>, after: number): void {
    for (const id of ids) this.#ids.set(id, after);
    this.#forgetLater();
  }

  /** Whether it was read: that it was logged, or rewritten by then. What is rewritten later may have been read as it was. */
  isTold({ row: { id }, again, at }: ToldCall): boolean {
    const after = this.#ids.get(id);
    return after !== undefined && (!again || at <= after);
  }

  /** Nobody reads any more. */
  end(): void {
    clearTimeout(this.#forgetting);
    this.#ids.clear();
  }

  #forgetLater(): void {
    clearTimeout(this.#forgetting);
    const forget = (): void => (this.#isBehind() ? this.#forgetLater() : this.#ids.clear());
    this.#forgetting = setTimeout(forget, LATE_MS).unref();
  }
}
