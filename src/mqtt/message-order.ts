/** Place of a message among those of its client. */
export interface Place {
  /** Resolves, without waiting if possible, when all messages before have begun to be recorded or have ended. */
  turn: () => Promise<void> | null;
  /** The message has begun to be recorded, or has ended: the next one may begin. */
  begun: () => void;
}

interface Gate {
  isOpen: boolean;
  /** Set while somebody waits. */
  opened: PromiseWithResolvers<void> | null;
}

/**
 * Keeps the messages of a client in their order, while many are under way: looking up devices and turns of the event
 * loop take some longer than others.
 */
export class MessageOrder {
  /** The gate behind the last message of each client. */
  readonly #last = new WeakMap<object, Gate>();

  /** The place behind all messages of the client that were given before. */
  next(client: object): Place {
    const before = this.#last.get(client);
    const gate: Gate = { isOpen: false, opened: null };
    this.#last.set(client, gate);
    return {
      turn: () => {
        if (before === undefined || before.isOpen) return null;
        before.opened ??= Promise.withResolvers();
        return before.opened.promise;
      },
      begun: () => {
        gate.isOpen = true;
        gate.opened?.resolve();
      },
    };
  }
}
