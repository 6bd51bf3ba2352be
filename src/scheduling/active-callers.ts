/** Activity of a caller. */
interface CallerActivity {
  running: number;
  chargedAt: number;
  inexpensiveAt: number;
  tenant: string;
}

/** Callers active at one moment, found in one pass because thousands may wait for the answer. */
export class ActiveCallers<C extends CallerActivity> {
  /** At most two callers each: those that recently asked for inexpensive work, and those within their burst. */
  readonly #inexpensive: C[] = [];
  readonly #withinBurst: C[] = [];
  readonly #running = new Map<string, number>();

  /** `since`: callers idle since then are not active. */
  constructor(callers: Iterable<C>, since: number, isWithinBurst: (caller: C) => boolean) {
    for (const caller of callers) {
      const { running, chargedAt, inexpensiveAt, tenant } = caller;
      if (running > 0) this.#running.set(tenant, this.runningOf(caller) + running);
      if (this.#inexpensive.length < 2 && inexpensiveAt > since) this.#inexpensive.push(caller);
      if (this.#withinBurst.length < 2 && (running > 0 || chargedAt > since) && isWithinBurst(caller))
        this.#withinBurst.push(caller);
    }
  }

  /** Weight that the caller's tenant has running. */
  runningOf({ tenant }: C): number {
    return this.#running.get(tenant) ?? 0;
  }

  /** Whether another caller is within its burst; for expensive work also whether another asks for inexpensive work. */
  hasOthers(self: C | null, expensive: boolean): boolean {
    const isOther = (caller: C): boolean => caller !== self;
    return this.#withinBurst.some(isOther) || (expensive && this.#inexpensive.some(isOther));
  }
}
