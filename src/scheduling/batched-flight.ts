import { SingleFlight } from './single-flight.ts';
import { currentCaller } from './current-caller.ts';

interface Round<T> {
  keys: string[];
  found: Promise<ReadonlyMap<string, T>>;
}

/**
 * `SingleFlight` of what is asked for one by one: all that is asked for at the same moment for the same tenant is looked up
 * together, in whose line it waits.
 */
export class BatchedFlight<T> {
  readonly #lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly #loads = new SingleFlight<T | null>();
  readonly #next = new Map<string, Round<T>>();

  constructor(lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#lookUp = lookUp;
  }

  /** null: it was not found. */
  of(key: string): Promise<T | null> {
    return this.#loads.of(key, async () => {
      const { tenant } = currentCaller();
      const round = this.#next.get(tenant) ?? this.#begin(tenant);
      round.keys.push(key);
      return (await round.found).get(key) ?? null;
    });
  }

  /** Nobody joins those that are under way any more; of one key, or of all. */
  forget(key?: string): void {
    this.#loads.forget(key);
  }

  #begin(tenant: string): Round<T> {
    const keys: string[] = [];
    const lookUp = (): Promise<ReadonlyMap<string, T>> => {
      this.#next.delete(tenant);
      return this.#lookUp(keys);
    };
    const round = { keys, found: Promise.resolve().then(lookUp) };
    this.#next.set(tenant, round);
    return round;
  }
}
