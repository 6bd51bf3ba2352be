/** What is looked at of a caller. */
interface Counted {
  running: number;
  at: number;
  cheapAt: number;
  tenant: string;
}

/** The callers that are there at one moment, found in one look at all: thousands may wait and ask for it. */
export class ActiveCallers<C extends Counted> {
  /** Those who have asked for something that is not dear, and who keep within their burst: at most two of each. */
  readonly #cheap: C[] = [];
  readonly #within: C[] = [];
  readonly #running = new Map<string, number>();

  /** `since`: who has asked for nothing since then, and has nothing running, is not there. */
  constructor(callers: Iterable<C>, since: number, isWithinBurst: (caller: C) => boolean) {
    for (const caller of callers) {
      const { running, at, cheapAt, tenant } = caller;
      if (running > 0) this.#running.set(tenant, this.runningOf(caller) + running);
      if (this.#cheap.length < 2 && cheapAt > since) this.#cheap.push(caller);
      if (this.#within.length < 2 && (running > 0 || at > since) && isWithinBurst(caller)) this.#within.push(caller);
    }
  }

  /** What its tenant has running. */
  runningOf({ tenant }: C): number {
    return this.#running.get(tenant) ?? 0;
  }

  /** Whether anybody else keeps within its share; for dear work also whoever asks for anything that is not. */
  othersAreThere(self: C | null, dear: boolean): boolean {
    const isOther = (caller: C): boolean => caller !== self;
    return this.#within.some(isOther) || (dear && this.#cheap.some(isOther));
  }
}
