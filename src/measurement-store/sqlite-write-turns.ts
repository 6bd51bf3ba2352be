import type { WriteTurns } from '../domain/database.ts';

/**
 * Pauses the writer thread while somebody else writes to the file. Takers come in order; between two of them the writer
 * does what was asked of it in the meantime, so neither side starves the other.
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

  async take(): Promise<() => void> {
    const before = this.#last;
    let end!: () => void;
    const turn = new Promise<void>((resolve) => (end = resolve));
    this.#last = turn;
    await before;
    try {
      await this.#hold();
    } catch (error) {
      end();
      throw error;
    }
    this.#granted = turn;
    return () => {
      if (this.#granted !== turn) return;
      this.#granted = null;
      this.#release();
      end();
    };
  }

  /** Resolves when nobody holds a turn. */
  async free(): Promise<void> {
    await this.#granted;
  }
}
