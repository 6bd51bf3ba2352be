import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { RoundRobinQueue } from '../../scheduling/round-robin-queue.ts';
import { forgetFieldOfSome, type RemovedField } from '../measurements/forget-field.ts';
import type { MeasurementStore } from '../ports/store.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { Tally } from '../../scheduling/tally.ts';

/** As many fields as a product can have. */
const MOST_OF_TENANT = 500;

/** A field that was removed, by whom, and how far its values are forgotten. */
interface Removal extends RemovedField {
  party: Caller;
  /** The key of the last device of which they are written down to be forgotten. */
  after: number;
}

interface FieldRemovalsDeps {
  database: Database;
  /** `settlePurges` gives up when the server stops. */
  store: Pick<MeasurementStore, 'settlePurges'>;
  onError: (error: unknown) => void;
}

/**
 * Has the values of removed fields forgotten on products with very many devices: some devices at a time, which are done
 * before the next are written down, and tenants in turns. What a stop or a failure interrupts is done by the sweep (see
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

  /** Throws OVERLOADED when the values of too many removed fields of the tenant are still to be forgotten. */
  requireRoom({ tenant }: Caller): void {
    if (this.#waiting.of(tenant) >= MOST_OF_TENANT)
      throw new AppError(
        'OVERLOADED',
        `The values of ${MOST_OF_TENANT} removed fields are still to be forgotten; wait until some are.`,
      );
  }

  /** In the background, from the devices behind `after` on. */
  begin(removal: Removal): void {
    this.#waiting.add(removal.party.tenant, 1);
    this.#line.add(removal.party, removal);
    this.#start();
  }

  /** Resolves when nothing more is written down; what is, the next start does. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
      // Begun just behind its end.
      if (!this.#line.isEmpty && !this.#stopped) this.#start();
    });
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    while (!this.#stopped) {
      const next = this.#line.take();
      if (next === undefined) return;
      const after = await this.#some(next);
      if (after === null) this.#waiting.add(next.party.tenant, -1);
      else this.#line.add(next.party, { ...next, after });
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
