import type { WriteTurns } from '../../domain/database.ts';
import { noDatabase } from '../../errors.ts';

const WAIT_MS = 8_000;

/**
 * Pauses the writer thread while somebody else writes to the file. Takers come in order; between two of them the writer
 * does what was asked of it in the meantime, so neither side starves the other. Who gets no turn within 8 seconds is
 * refused (UNAVAILABLE).
 *
 * Whoever holds a turn must not wait for the store: it answers only when the turn has been given back.
 */
export class SqliteWriteTurns implements WriteTurns {
  readonly #hold: () => Promise<void>;
  readonly #release: () => void;
  #last: Promise<void> = Promise.resolve();
  #granted: Promise<void> | null = null;

  /** `hold` resolves when the writer pauses; `release` lets it go on. */
  constructor(hold: () => Promise<void>, release: () => void) {
    this.#hold = hold;
    this.#release = release;
  }

  take(): Promise<() => void> {
    const before = this.#last;
    let end!: () => void;
    const turn = new Promise<void>((resolve) => (end = resolve));
    this.#last = turn;
    return new Promise((resolve, reject) => {
      let waiting = true;
      const timer = setTimeout(() => {
        waiting = false;
        reject(noDatabase(new Error(`no turn to write within ${WAIT_MS / 1000} seconds`)));
      }, WAIT_MS);
      const grant = async (): Promise<void> => {
        await before;
        if (!waiting) return end();
        await this.#hold();
        this.#granted = turn;
        const giveBack = (): void => {
          if (this.#granted !== turn) return;
          this.#granted = null;
          this.#release();
          end();
        };
        // The writer paused too late: nobody waits for it any more.
        if (!waiting) return giveBack();
        clearTimeout(timer);
        resolve(giveBack);
      };
      grant().catch((error: unknown) => {
        end();
        clearTimeout(timer);
        reject(error);
      });
    });
  }

  /** Resolves when nobody holds a turn. */
  async free(): Promise<void> {
    await this.#granted;
  }
}
