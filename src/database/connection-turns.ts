import { countsOf } from '../scheduling/lane-counts.ts';
import { LANES } from '../scheduling/lanes.ts';
import { RoundRobinQueue } from '../scheduling/round-robin-queue.ts';
import { nextTurn } from '../scheduling/yield-to-event-loop.ts';
import { currentCaller } from '../scheduling/current-caller.ts';
import { must } from '../must.ts';

const LIMITS = LANES.sqliteCatalogue;

/**
 * Queue of a connection that answers at once. A transaction has it alone. Look-ups run right away while the turn of the
 * event loop has time for them; others are queued, and tenants take turns. A transaction waits for the look-ups of one
 * turn at most.
 */
export class ConnectionTurns {
  readonly #counts = countsOf(LIMITS.name);
  readonly #lookUps = new RoundRobinQueue<() => void>(this.#counts);
  readonly #transactions: (() => void)[] = [];
  /** Taken by a transaction, or by look-ups whose rows are still in use. */
  #isTaken = false;
  /** When the first look-up came in this turn of the event loop; null: none has. */
  #since: number | null = null;

  /** Runs `lookUp`, which must be synchronous, in its turn. */
  async read<T>(lookUp: () => T): Promise<T> {
    if (this.#isTaken || this.#isOver()) return this.#inLine(lookUp);
    this.#isTaken = true;
    try {
      return lookUp();
    } finally {
      // Many at once would all read before any of their rows is used.
      void rowsAreUsed().then(() => this.#goOn());
    }
  }

  #inLine<T>(lookUp: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      let isRefused = false;
      const timer = setTimeout(() => {
        isRefused = true;
        this.#counts.refused += 1;
        reject(wasBusy());
      }, LIMITS.maxWaitMs);
      this.#lookUps.add(currentCaller(), () => {
        clearTimeout(timer);
        if (isRefused) return;
        try {
          resolve(lookUp());
        } catch (error) {
          reject(error as Error);
        }
      });
      if (!this.#isTaken) void this.#goOn();
    });
  }

  /** Resolves when a transaction may begin; it has the connection until `end`. */
  async begin(): Promise<void> {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return;
    }
    const since = this.#counts.begin();
    await new Promise<void>((resolve, reject) => {
      const mine = (): void => {
        clearTimeout(timer);
        this.#counts.end(since);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#transactions.splice(this.#transactions.indexOf(mine), 1);
        this.#counts.refuse(since);
        reject(wasBusy());
      }, LIMITS.maxWaitMs);
      this.#transactions.push(mine);
    });
  }

  end(): void {
    void this.#goOn();
  }

  async #goOn(): Promise<void> {
    this.#isTaken = true;
    while (!this.#lookUps.isEmpty) {
      if (this.#isOver()) await nextTurn();
      do {
        must(this.#lookUps.take())();
        await rowsAreUsed();
      } while (!this.#lookUps.isEmpty && !this.#isOver());
      if (this.#transactions.length > 0) break;
    }
    const transaction = this.#transactions.shift();
    // Handed over while taken, so that nothing slips in between.
    if (transaction !== undefined) transaction();
    else this.#isTaken = false;
  }

  #isOver(): boolean {
    if (this.#since !== null) return performance.now() - this.#since > LIMITS.maxTurnMs;
    this.#since = performance.now();
    setImmediate(() => (this.#since = null));
    return false;
  }
}

/** Resolves when the caller of a look-up has used its rows, which takes longer than reading them. */
function rowsAreUsed(): Promise<void> {
  return new Promise((resolve) => {
    queueMicrotask(() => process.nextTick(resolve));
  });
}

function wasBusy(): Error {
  return Object.assign(new Error(`the database was busy for ${LIMITS.maxWaitMs / 1000} seconds`), {
    code: 'SQLITE_BUSY',
  });
}
