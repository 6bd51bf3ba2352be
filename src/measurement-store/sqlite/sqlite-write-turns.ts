import type { WriteTurns } from '../../domain/ports/database.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { noDatabase } from '../../errors.ts';

const WAIT_MS = LANES.sqliteChanges.stalledMs;

/**
 * Pauses the writer thread while somebody else writes to the file. Tenants take turns, and within each its tokens; between
 * two of them the writer does what was asked of it in the meantime, so neither side starves the other. Who gets no turn
 * is refused (UNAVAILABLE) when no other one has ended for 8 seconds.
 *
 * Whoever holds a turn must not wait for the store: it answers only when the turn has been given back.
 */
export class SqliteWriteTurns implements WriteTurns {
  readonly #hold: () => Promise<void>;
  readonly #release: () => void;
  readonly #turns = new Lane(LANES.sqliteChanges, { stalledError: noTurn });
  #granted: Promise<void> | null = null;

  /** `hold` resolves when the writer pauses; `release` lets it go on. */
  constructor(hold: () => Promise<void>, release: () => void) {
    this.#hold = hold;
    this.#release = release;
  }

  async take(party: Caller): Promise<() => void> {
    const end = await this.#turns.take(party);
    return new Promise((resolve, reject) => {
      let isRefused = false;
      const timer = setTimeout(() => {
        isRefused = true;
        reject(noTurn());
      }, WAIT_MS);
      const grant = async (): Promise<void> => {
        await this.#hold();
        const giveBack = this.#grant(end);
        // The writer paused too late: nobody waits for it any more.
        if (isRefused) return giveBack();
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

  #grant(end: () => void): () => void {
    let isOver!: () => void;
    const turn = new Promise<void>((resolve) => (isOver = resolve));
    this.#granted = turn;
    return () => {
      if (this.#granted !== turn) return;
      this.#granted = null;
      this.#release();
      isOver();
      end();
    };
  }

  /** Resolves when nobody holds a turn. */
  async free(): Promise<void> {
    await this.#granted;
  }
}

function noTurn(): Error {
  return noDatabase(new Error(`no turn to write within ${WAIT_MS / 1000} seconds`));
}
