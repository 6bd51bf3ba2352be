import { SingleFlight } from './single-flight.ts';
import { currentCaller } from './current-caller.ts';

interface Batch<T> {
  keys: string[];
  found: Promise<ReadonlyMap<string, T>>;
}

/** `SingleFlight` that looks up together all keys asked for at the same moment for the same tenant. */
export class BatchedFlight<T> {
  readonly #lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  readonly #loads = new SingleFlight<T | null>();
  readonly #next = new Map<string, Batch<T>>();

  constructor(lookUp: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
    this.#lookUp = lookUp;
  }

  /** Resolves with null if the key was not found. */
  of(key: string): Promise<T | null> {
    return this.#loads.of(key, async () => {
      const { tenant } = currentCaller();
      const batch = this.#next.get(tenant) ?? this.#begin(tenant);
      batch.keys.push(key);
      return (await batch.found).get(key) ?? null;
    });
  }

  /** Lets no later caller join the running load of the key, or any without a key. */
  forget(key?: string): void {
    this.#loads.forget(key);
  }

  #begin(tenant: string): Batch<T> {
    const keys: string[] = [];
    const lookUp = (): Promise<ReadonlyMap<string, T>> => {
      this.#next.delete(tenant);
      return this.#lookUp(keys);
    };
    const batch = { keys, found: Promise.resolve().then(lookUp) };
    this.#next.set(tenant, batch);
    return batch;
  }
}
