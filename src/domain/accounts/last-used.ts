import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { TokenSchema } from '../entities/token.ts';
import type { Database } from '../ports/database.ts';

/** Milliseconds between two writes, and from which on a use is noted again. */
export const LAST_USED_EVERY_MS = 10_000;
/** Tokens per transaction, which blocks the event loop on SQLite. */
const WRITTEN_AT_ONCE = 100;

/** Writes in the background when tokens were last used. */
export class LastUsed {
  readonly #database: Database;
  /** By the token's id. */
  readonly #queued = new Map<string, number>();
  #flushing: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;

  constructor(database: Database) {
    this.#database = database;
    this.#timer = setInterval(() => void this.flush().catch(() => {}), LAST_USED_EVERY_MS).unref();
  }

  note(tokenId: string, at: number): void {
    this.#queued.set(tokenId, at);
  }

  /** Writes what is queued, after what is being written. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.catch(() => {}).then(() => this.#flush());
    return this.#flushing;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }

  /** Writes in groups of a hundred tokens, at most as many as are queued now. */
  async #flush(): Promise<void> {
    for (let left = this.#queued.size; left > 0 && this.#queued.size > 0; left -= WRITTEN_AT_ONCE) {
      const used: [id: string, lastUsedAt: number][] = [];
      for (const one of this.#queued) if (used.push(one) >= WRITTEN_AT_ONCE) break;
      for (const [id] of used) this.#queued.delete(id);
      // Lock in the order in which other transactions lock them.
      used.sort(([a], [b]) => (a < b ? -1 : 1));
      await this.#database.write(async (em) => {
        for (const [id, lastUsedAt] of used) await em.nativeUpdate(TokenSchema, { id }, { lastUsedAt });
      });
      await yieldToEventLoop();
    }
  }
}
