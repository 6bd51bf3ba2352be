import { ACTIVE_MS } from './tenant-quota.ts';
import { Tally } from './tally.ts';

/**
 * Tenants that devices and platforms send to: the last two, and those with running requests. Tells whether any tenant
 * but one is active.
 */
export class ActiveTenants {
  readonly now: () => number;
  /** Running requests by tenant. */
  readonly #running = new Tally();
  #last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  #other = { tenant: '', at: Number.NEGATIVE_INFINITY };

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Notes a request of the tenant. */
  note(tenant: string): void {
    if (this.#last.tenant !== tenant) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.tenant = tenant;
    this.#last.at = this.now();
  }

  /** Runs `work` for the tenant, which is active until its end. */
  async during<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.note(tenant);
    this.#running.add(tenant, 1);
    try {
      return await work();
    } finally {
      // Active until now, however long it took.
      this.note(tenant);
      this.#running.add(tenant, -1);
    }
  }

  /** Whether another tenant has something running or sent something within `ACTIVE_MS`. */
  hasOthers(tenant: string): boolean {
    if (this.#running.size > (this.#running.of(tenant) > 0 ? 1 : 0)) return true;
    const other = this.#last.tenant === tenant ? this.#other : this.#last;
    return other.at > this.now() - ACTIVE_MS;
  }
}
