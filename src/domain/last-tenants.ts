import { PRESENT_MS } from './allowance.ts';

/** Which tenant came last, and which last of all others: enough to say whether anybody but a tenant is there. */
export class LastTenants {
  readonly #now: () => number;
  #last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  #other = { tenant: '', at: Number.NEGATIVE_INFINITY };

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** It comes now. */
  saw(tenant: string): void {
    if (this.#last.tenant !== tenant) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.tenant = tenant;
    this.#last.at = this.#now();
  }

  /** Whether another one came so lately that it is still there. */
  othersAreThere(tenant: string): boolean {
    const other = this.#last.tenant === tenant ? this.#other : this.#last;
    return other.at > this.#now() - PRESENT_MS;
  }
}
