import type { CallRow } from '../ports/store.ts';

/** Event of a call: it was logged, or (`again`) its outcome was rewritten. */
export interface CallEvent {
  productId: string;
  row: CallRow;
  again: boolean;
  /** Number of the event among all of this node. */
  at: number;
}

/** Maximum time between the commit of a call and what another node says of it. */
const LATE_MS = 10_000;

/** Calls that a subscriber has read in the log, whose events may come a moment later. */
export class JustRead {
  /** By id, the number of the last event before it was read. */
  readonly #readAt = new Map<string, number>();
  readonly #isBehind: () => boolean;
  #forgetting: NodeJS.Timeout | undefined;

  /** `isBehind`: events of this node wait to be handed out. */
  constructor(isBehind: () => boolean) {
    this.#isBehind = isBehind;
  }

  /** `readAt`: the number of the last event before they were read. */
  add(rows: readonly CallRow[], readAt: number): void {
    for (const { id } of rows) this.#readAt.set(id, readAt);
    this.#forgetLater();
  }

  /** Whether what was read says it already: the call, and what was rewritten by then; later it may have been read as it was. */
  hasEvent({ row: { id }, again, at }: CallEvent): boolean {
    const readAt = this.#readAt.get(id);
    return readAt !== undefined && (!again || at <= readAt);
  }

  end(): void {
    clearTimeout(this.#forgetting);
    this.#readAt.clear();
  }

  #forgetLater(): void {
    clearTimeout(this.#forgetting);
    const forget = (): void => (this.#isBehind() ? this.#forgetLater() : this.#readAt.clear());
    this.#forgetting = setTimeout(forget, LATE_MS).unref();
  }
}
