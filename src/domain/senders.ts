import { LastTenants } from './last-tenants.ts';

/** The tenants to whom devices and platforms send: who is there now. */
export class Senders {
  readonly now: () => number;
  readonly #last: LastTenants;

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
    this.#last = new LastTenants(now);
  }

  /** What `work` on a call of the tenant gives: meanwhile it is there. */
  meanwhile<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    return this.#last.meanwhile(tenant, work);
  }

  /** Whether somebody sends to another tenant. */
  othersAreThere(tenant: string): boolean {
    return this.#last.othersAreThere(tenant);
  }
}
