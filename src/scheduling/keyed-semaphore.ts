import { AppError } from '../errors.ts';
import { ResourcePool } from './resource-pool.ts';

interface KeyedSemaphoreOptions {
  /** Of a name so many at a time … */
  atOnce: number;
  /** … and so many with those that wait. */
  most: number;
}

/** Works by name: of each a few at a time, in the order in which they come. */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions;
  readonly #lines = new Map<string, { slots: ResourcePool<null>; unfinished: number }>();

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options;
  }

  /** How many there are of the name, with those that wait. */
  unfinishedOf(name: string): number {
    return this.#lines.get(name)?.unfinished ?? 0;
  }

  /** What `work` gives, begun when it is its turn. Throws OVERLOADED when too many of the name wait. */
  async use<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { atOnce, most } = this.#options;
    let line = this.#lines.get(name);
    if (line === undefined)
      this.#lines.set(name, (line = { slots: new ResourcePool(atOnce, () => null), unfinished: 0 }));
    if (line.unfinished >= most)
      throw new AppError('OVERLOADED', 'Too much of this token is waiting for the database; send less at once.');
    line.unfinished += 1;
    try {
      return await line.slots.use(work);
    } finally {
      line.unfinished -= 1;
      if (line.unfinished === 0) this.#lines.delete(name);
    }
  }
}
