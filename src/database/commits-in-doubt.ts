import { pause } from '../scheduling/pause.ts';
import { CATALOGUE } from './postgres-dialect.ts';

const LOOK_EVERY_MS = 500;

interface SettleDeps {
  /** One statement outside of any transaction; rejects when the database is away. */
  ask: (statement: string) => Promise<unknown[]>;
  /** Every node forgets what it has cached. */
  forget: () => Promise<void>;
}

/**
 * Commits whose answer was lost: they may hold already, hold later, or never. Nothing of them was told to any cache, so
 * all of these are forgotten again and again until the backends that were asked to commit have ended, which they are told
 * to: from then on what the database shows is how it stays.
 */
export class CommitsInDoubt {
  /** Of the backends; there are no more than connections. */
  readonly #backends = new Set<number>();
  #deps: SettleDeps | null = null;
  #settling: Promise<void> | null = null;
  #stopped = false;

  /** Before that nothing is cached. */
  start(deps: SettleDeps): void {
    this.#deps = deps;
  }

  /** Its backend was asked to commit, and did not say what became of that. */
  note(backend: number): void {
    if (this.#deps === null || this.#stopped) return;
    this.#backends.add(backend);
    this.#begin(this.#deps);
  }

  #begin(deps: SettleDeps): void {
    this.#settling ??= this.#settle(deps).finally(() => {
      this.#settling = null;
      // One that was told of just when the last round had ended.
      if (this.#backends.size > 0 && !this.#stopped) this.#begin(deps);
    });
  }

  /** Nodes that go on hear once more what this one does not know. */
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

/** null: there was none. It may throw at once as well: while another server has the database. */
async function answerTo(ask: () => Promise<unknown[]>): Promise<unknown[] | null> {
  try {
    return await ask();
  } catch {
    return null;
  }
}

/** Ends those that are still there, and gives a row for each. */
function endingOf(backends: readonly number[]): string {
  return (
    `select pg_terminate_backend(pid) from pg_stat_activity where pid in (${backends.join(', ')}) ` +
    `and application_name = '${CATALOGUE}'`
  );
}
