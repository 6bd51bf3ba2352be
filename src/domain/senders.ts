/** Whoever sent so lately is still there. */
const PRESENT_MS = 250;

/** The tenants to whom devices and platforms send: who is there now. */
export class Senders {
  readonly now: () => number;
  /** Calls of each tenant that are being worked on, or wait. */
  readonly #present = new Map<string, number>();
  /** Who sent last, and who last of all others. */
  #last = { tenant: '', at: Number.NEGATIVE_INFINITY };
  #other = { tenant: '', at: Number.NEGATIVE_INFINITY };

  /** `now`: milliseconds that never go back. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** What `work` on a call of the tenant gives: meanwhile it is there. */
  async meanwhile<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    this.#saw(tenant);
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
    const other = this.#last.tenant === tenant ? this.#other : this.#last;
    return this.#present.size > 1 || other.at > this.now() - PRESENT_MS;
  }

  #saw(tenant: string): void {
    if (this.#last.tenant !== tenant) [this.#last, this.#other] = [this.#other, this.#last];
    this.#last.tenant = tenant;
    this.#last.at = this.now();
  }
}
