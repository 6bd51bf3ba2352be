import type { EntityManager, MikroORM } from '@mikro-orm/sql';
import type { WriteTurns } from '../domain/measurements/store.ts';

export type Dialect = 'sqlite' | 'postgres';

/** The catalogue's units of work: one fresh EntityManager each. */
export class Database {
  readonly dialect: Dialect;
  readonly #orm: MikroORM;
  readonly #turns: WriteTurns;

  constructor(orm: MikroORM, dialect: Dialect, turns: WriteTurns) {
    this.#orm = orm;
    this.dialect = dialect;
    this.#turns = turns;
  }

  /** For reading. Never start a transaction on it: that is what `write` is for. */
  read(): EntityManager {
    return this.#orm.em.fork();
  }

  /**
   * Runs `work` in one transaction and commits it. Inside, use the EntityManager it is given and no other: on SQLite
   * another one would wait for this transaction, and this transaction for it.
   */
  async write<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    const giveBack = await this.#turns.take();
    try {
      return await this.#orm.em.fork().transactional(work);
    } finally {
      giveBack();
    }
  }
}
