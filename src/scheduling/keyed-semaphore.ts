import { AppError } from '../errors.ts';
import { ResourcePool } from './resource-pool.ts';

interface KeyedSemaphoreOptions {
  /** Maximum running per key. */
  atOnce: number;
  /** Maximum running and waiting per key. */
  maxUnfinished: number;
}

/** Limits work per key; waiting work starts in the order it came. */
export class KeyedSemaphore {
  readonly #options: KeyedSemaphoreOptions;
  readonly #queues = new Map<string, { slots: ResourcePool<null>; unfinished: number }>();

  constructor(options: KeyedSemaphoreOptions) {
    this.#options = options;
  }

  /** Runs `work` when the key has capacity and returns its result. Throws OVERLOADED when too much of the key waits. */
  async use<T>(name: string, work: () => Promise<T>): Promise<T> {
    const { atOnce, maxUnfinished } = this.#options;
    let queue = this.#queues.get(name);
    if (queue === undefined)
      this.#queues.set(name, (queue = { slots: new ResourcePool(atOnce, () => null), unfinished: 0 }));
    if (queue.unfinished >= maxUnfinished)
      throw new AppError('OVERLOADED', 'Too much of this token is waiting for the database; send less at once.');
    queue.unfinished += 1;
    try {
      return await queue.slots.use(work);
    } finally {
      queue.unfinished -= 1;
      if (queue.unfinished === 0) this.#queues.delete(name);
    }
  }
}
