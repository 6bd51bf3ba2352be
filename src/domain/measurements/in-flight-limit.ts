import { AppError } from '../../errors.ts';
import { textLengthOf, type Receipt } from '../ports/store.ts';
import { must } from '../../must.ts';

/** In values; what the database does in a fifth of a second, so that flushes of it are as good as larger ones. */
const MOST_UNDER_WAY = 30_000;
/** They are in memory meanwhile. */
const MOST_WAITING = 180_000;
/** Some values of one device do not stand behind the bulk of their tenant, and are not worth counting. */
const LITTLE = 15;
/** After a database failure, a receipt that was queued longer than this fails at once. */
const WAITED_IN_VAIN_MS = 4_000;
/** Of the call log, and of texts: they cost as much as one value. */
const CHARACTERS = 256;

interface Tenant {
  underWay: number;
  waiting: { amount: number; begin: () => void }[];
  waitingAmount: number;
}

/** What of a receipt that waited has to be looked at again before it is stored: rejects to refuse it. */
interface Storing {
  requireRight: () => Promise<unknown>;
  store: () => Promise<number>;
}

/**
 * How much of each tenant is on its way into the database at once, also while nobody else is there: flushes follow each
 * other, and a device of another tenant that sends now and then would stand behind all of it, or find no room.
 */
export class InFlightLimit {
  readonly #tenants = new Map<string, Tenant>();
  /** Time of the last database failure. */
  #failedAt = -Infinity;

  /** Stores the receipt when it is its turn within its tenant; OVERLOADED: too much of that waits. */
  async of(name: string, receipt: Receipt, { requireRight, store }: Storing): Promise<number> {
    const amount = amountOf(receipt);
    if (amount <= LITTLE) return store();
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) this.#tenants.set(name, (tenant = { underWay: 0, waiting: [], waitingAmount: 0 }));
    const since = performance.now();
    const waits = tenant.underWay >= MOST_UNDER_WAY || tenant.waiting.length > 0;
    if (waits) await this.#turn(tenant, amount);
    else tenant.underWay += amount;
    try {
      if (this.#failedAt - since >= WAITED_IN_VAIN_MS)
        throw new AppError('OVERLOADED', 'The database did not answer in time. Try again in a moment.', {
          details: { retryAfterSeconds: 2 },
        });
      if (waits) await requireRight();
      return await store();
    } catch (error) {
      if (error instanceof AppError && error.code === 'UNAVAILABLE') this.#failedAt = performance.now();
      throw error;
    } finally {
      tenant.underWay -= amount;
      this.#beginNext(tenant);
      if (tenant.underWay === 0) this.#tenants.delete(name);
    }
  }

  #turn(tenant: Tenant, amount: number): Promise<void> {
    if (tenant.waiting.length > 0 && tenant.waitingAmount + amount > MOST_WAITING)
      throw new AppError('OVERLOADED', 'Too much of this workspace is waiting to be stored. Try again in a moment.');
    tenant.waitingAmount += amount;
    return new Promise((begin) => tenant.waiting.push({ amount, begin }));
  }

  #beginNext(tenant: Tenant): void {
    while (tenant.waiting.length > 0 && tenant.underWay < MOST_UNDER_WAY) {
      const { amount, begin } = must(tenant.waiting.shift());
      tenant.waitingAmount -= amount;
      tenant.underWay += amount;
      begin();
    }
  }
}

function amountOf({ batches, call }: Receipt): number {
  let [values, characters] = [0, 0];
  for (const batch of batches) {
    values += batch.values.length;
    for (const value of batch.values) if (typeof value === 'string') characters += value.length;
  }
  if (call !== undefined) characters += textLengthOf(call);
  return values + Math.floor(characters / CHARACTERS);
}
