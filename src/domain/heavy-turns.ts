import { giveWay } from './give-way.ts';

/** In bytes or characters: what a megabyte says takes 50 ms to read, and as long to decide what becomes of it. */
const HEAVY = 131_072;

/**
 * Work on what somebody sent in one piece: of what is heavy each turn of the event loop takes one, as many may come in
 * together.
 */
export class HeavyTurns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when the next piece of work on so many bytes may begin: for few of them at once. */
  async next(bytes: number): Promise<void> {
    if (bytes > HEAVY) await (this.#last = this.#last.then(giveWay));
  }
}
