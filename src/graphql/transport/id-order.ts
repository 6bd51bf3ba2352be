import { AppError } from '../../errors.ts';

/** Messages of one connection that wait for operations of their id: each is kept as long. */
const MAX_WAITING = 20;

/**
 * The messages of one connection, those of one id in order: graphql-ws forgets an operation that is ended while it still
 * begins, and would take the next one of its id for it, so that one of them goes on unseen and the other is cut off. The
 * next one waits until the first is over.
 */
export class IdOrder {
  readonly #running = new Map<string, Promise<void>>();
  /** Ended by their client, and not yet over. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #isOpen: () => boolean;
  readonly #hold: (message: unknown) => () => void;
  #waiting = 0;

  /**
   * `isOpen`: of the connection; what a client that is gone asked for is not begun. `hold`: a message waits from now on,
   * until what this gives is called; throws OVERLOADED.
   */
  constructor(isOpen: () => boolean, hold: (message: unknown) => () => void) {
    this.#isOpen = isOpen;
    this.#hold = hold;
  }

  /** What `receive` gives, in its turn; throws what it throws, and OVERLOADED when too many wait. */
  async pass(message: unknown, receive: (message: unknown) => Promise<void>): Promise<void> {
    const { id, type } = (message ?? {}) as { id?: unknown; type?: unknown };
    if (typeof id !== 'string') return receive(message);
    if (this.#ending.has(id) && this.#waiting >= MAX_WAITING)
      throw new AppError('OVERLOADED', 'Too many messages wait for operations of the same id to end.');
    // Whoever went first in the meantime may have been ended: it is handed on in the moment in which there is none.
    while (this.#ending.has(id)) await this.#ended(id, message);
    if (!this.#isOpen()) return;
    const over = receive(message);
    if (type === 'subscribe' && !this.#running.has(id)) void keepUntil(over, this.#running, id);
    const ended = type === 'complete' ? this.#running.get(id) : undefined;
    if (ended !== undefined) void keepUntil(ended, this.#ending, id);
    await over;
  }

  async #ended(id: string, message: unknown): Promise<void> {
    const release = this.#hold(message);
    for (let ending = this.#ending.get(id); ending !== undefined; ending = this.#ending.get(id)) {
      this.#waiting += 1;
      await ending.catch(() => {});
      this.#waiting -= 1;
    }
    release();
  }
}

async function keepUntil(over: Promise<void>, kept: Map<string, Promise<void>>, id: string): Promise<void> {
  kept.set(id, over);
  // Whoever has begun it is told why it failed.
  await over.catch(() => {});
  if (kept.get(id) === over) kept.delete(id);
}
