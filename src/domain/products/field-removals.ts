import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { RoundRobinQueue } from '../../scheduling/round-robin-queue.ts';
import { forgetFieldOfSome, type RemovedField } from '../measurements/forget-field.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { Tally } from '../../scheduling/tally.ts';

/** Maximum removed fields per tenant whose values remain to be deleted; equals the fields of a product. */
const MOST_OF_TENANT = 500;

/** A removed field, the caller, and the progress of deleting its values. */
interface Removal extends RemovedField {
  caller: Caller;
  /** Key of the last device whose values are listed for deletion. */
  after: number;
}

interface FieldRemovalsDeps {
  database: Database;
  /** `settlePurges` gives up when the server stops. */
  store: Pick<MeasurementStore, 'settlePurges'>;
  onError: (error: unknown) => void;
}

/**
 * Deletes the values of removed fields of products with very many devices: some devices at a time, finished before the
 * next are listed, round robin by tenant. The sweep completes what a stop or a failure interrupts (see
 * `sweep-late-values`).
 */
export class FieldRemovals {
  readonly #deps: FieldRemovalsDeps;
  readonly #line = new RoundRobinQueue<Removal>();
  readonly #waiting = new Tally();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(deps: FieldRemovalsDeps) {
    this.#deps = deps;
  }

  /** Throws OVERLOADED when the values of too many removed fields of the tenant remain to be deleted. */
  requireRoom({ tenant }: Caller): void {
    if (this.#waiting.of(tenant) >= MOST_OF_TENANT)
      throw new AppError(
        'OVERLOADED',
        `The values of ${MOST_OF_TENANT} removed fields are still to be forgotten; wait until some are.`,
      );
  }

  /** Starts deleting in the background, from the devices behind `after` on. */
  begin(removal: Removal): void {
    this.#waiting.add(removal.caller.tenant, 1);
    this.#line.add(removal.caller, removal);
    this.#start();
  }

  /** Resolves when nothing more will be listed; the next start deletes what is. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Start again for a removal that began just after the run ended.
      if (!this.#line.isEmpty && !this.#stopped) this.#start();
    });
  }

  /** Works through the queue; never rejects. */
  async #run(): Promise<void> {
    while (!this.#stopped) {
      const next = this.#line.take();
      if (next === undefined) return;
      const after = await this.#some(next);
      if (after === null) this.#waiting.add(next.caller.tenant, -1);
      else this.#line.add(next.caller, { ...next, after });
    }
  }

  async #some(removal: Removal): Promise<number | null> {
    const { database, store, onError } = this.#deps;
    try {
      const after = await database.write((em) => forgetFieldOfSome(em, removal, removal.after));
      await store.settlePurges();
      return after;
    } catch (error) {
      onError(error);
      return null;
    }
  }
}
