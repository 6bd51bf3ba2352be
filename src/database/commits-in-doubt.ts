import { pause } from '../scheduling/pause.ts';
import { CATALOGUE } from './postgres-dialect.ts';

const LOOK_EVERY_MS = 500;

interface SettleDeps {
  /** Runs one statement outside of any transaction; rejects when the database is away. */
  ask: (statement: string) => Promise<unknown[]>;
  /** Makes every node forget what it has cached. */
  forget: () => Promise<void>;
}

/**
 * Commits whose answer was lost: they may hold already, hold later, or never. Caches were not told of them, so all are
 * cleared again and again until the backends that were asked to commit have ended, which this makes them do; from then
 * on the database cannot change by them.
 */
export class CommitsInDoubt {
  /** Process ids of the backends; at most one per connection. */
  readonly #backends = new Set<number>();
  #deps: SettleDeps | null = null;
  #settling: Promise<void> | null = null;
  #stopped = false;

  /** Starts settling; before that nothing is cached. */
  start(deps: SettleDeps): void {
    this.#deps = deps;
  }

  /** Notes a backend that was asked to commit and did not answer. */
  note(backend: number): void {
    if (this.#deps === null || this.#stopped) return;
    this.#backends.add(backend);
    this.#begin(this.#deps);
  }

  #begin(deps: SettleDeps): void {
    this.#settling ??= this.#settle(deps).finally(() => {
      this.#settling = null;
      // Noted just after the last round ended.
      if (this.#backends.size > 0 && !this.#stopped) this.#begin(deps);
    });
  }

  /** Lets the last round end, so that other nodes clear their caches once more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#settling;
  }

  async #settle({ ask, forget }: SettleDeps): Promise<void> {
    while (this.#backends.size > 0) {
      const asked = [...this.#backends];
      const left = await answerTo(() => ask(endingOf(asked)));
      if (left?.length === 0) for (const backend of asked) this.#backends.delete(backend);
      await forget();
      if (this.#stopped) return;
      if (this.#backends.size > 0) await pause(LOOK_EVERY_MS);
    }
  }
}

/** Answer of `ask`; null: it failed, or threw at once because another server has the database. */
async function answerTo(ask: () => Promise<unknown[]>): Promise<unknown[] | null> {
  try {
    return await ask();
  } catch {
    return null;
  }
}

/** Ends the backends that are still there, with a row for each. */
function endingOf(backends: readonly number[]): string {
  return (
    `select pg_terminate_backend(pid) from pg_stat_activity where pid in (${backends.join(', ')}) ` +
    `and application_name = '${CATALOGUE}'`
  );
}
