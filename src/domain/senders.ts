import { LastTenants } from './last-tenants.ts';

/** The tenants to whom devices and platforms send: who is there now. */
export class Senders {
  readonly now: () => number;
  /** Calls of each tenant that are being worked on, or wait. */
  readonly #present = new Map<string, number>();
  readonly #last: LastTenants;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
    this.#last = new LastTenants(now);
  }

  /** What `work` on a call of the tenant gives: meanwhile it is there. */
  async meanwhile<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.#last.saw(tenant);
    this.#present.set(tenant, (this.#present.get(tenant) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const left = this.#present.get(tenant)! - 1;
      if (left > 0) this.#present.set(tenant, left);
      else this.#present.delete(tenant);
    }
  }

  /** Whether somebody sends to another tenant. */
  othersAreThere(tenant: string): boolean {
    return this.#present.size > 1 || this.#last.othersAreThere(tenant);
  }
}
