import { AppError } from '../../errors.ts';

/** Maximum messages per connection that wait for operations of their id: each is kept as long. */
const MAX_WAITING = 20;

/**
 * Keeps the messages of one id in order, for one connection: graphql-ws forgets an operation that is ended while it
 * still begins, and would take the next one of its id for it, so that one of them goes on unseen and the other is cut
 * off. The next one waits until the first is over.
 */
export class IdOrder {
  readonly #running = new Map<string, Promise<void>>();
  /** Operations that their client ended, and that are not yet over. */
  readonly #ending = new Map<string, Promise<void>>();
  readonly #isOpen: () => boolean;
  readonly #hold: (message: unknown) => () => void;
  #waiting = 0;

  /**
   * `isOpen`: of the connection; operations of a client that is gone do not begin. `hold`: counts a waiting message
   * until the returned function is called; throws OVERLOADED.
   */
  constructor(isOpen: () => boolean, hold: (message: unknown) => () => void) {
    this.#isOpen = isOpen;
    this.#hold = hold;
  }

  /** Calls `receive` in its turn; throws what that throws, and OVERLOADED when too many wait. */
  async pass(message: unknown, receive: (message: unknown) => Promise<void>): Promise<void> {
    const { id, type } = (message ?? {}) as { id?: unknown; type?: unknown };
    if (typeof id !== 'string') return receive(message);
    if (this.#ending.has(id) && this.#waiting >= MAX_WAITING)
      throw new AppError('OVERLOADED', 'Too many messages wait for operations of the same id to end.');
    // An operation that went first in the meantime may have been ended: the message is handed on when there is none.
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
  // Its caller is told why it failed.
  await over.catch(() => {});
  if (kept.get(id) === over) kept.delete(id);
}
