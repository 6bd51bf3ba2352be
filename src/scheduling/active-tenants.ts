import { PRESENT_MS } from './tenant-quota.ts';
import { Tally } from './tally.ts';

/**
 * The tenants to whom devices and platforms send: which came last, which last of all others, and for whom something is
 * under way. That is enough to say whether anybody but a tenant is there.
 */
export class ActiveTenants {
  readonly now: () => number;
  /** What is under way for each tenant. */
  readonly #present = new Tally();
  #last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  #other = { tenant: '', at: Number.NEGATIVE_INFINITY };

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** It comes now. */
  saw(tenant: string): void {
    if (this.#last.tenant !== tenant) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.tenant = tenant;
    this.#last.at = this.now();
  }

  /** What `work` for the tenant gives, which begins now: until its end the tenant is there. */
  async meanwhile<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.saw(tenant);
    this.#present.add(tenant, 1);
    try {
      return await work();
    } finally {
      // It was there until now, however long that took.
      this.saw(tenant);
      this.#present.add(tenant, -1);
    }
  }

  /** Whether something is under way for another one, or it came so lately that it is still there. */
  othersAreThere(tenant: string): boolean {
    if (this.#present.size > (this.#present.of(tenant) > 0 ? 1 : 0)) return true;
    const other = this.#last.tenant === tenant ? this.#other : this.#last;
    return other.at > this.now() - PRESENT_MS;
  }
}
