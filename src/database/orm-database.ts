import { type EntityManager, ForeignKeyConstraintViolationException, type MikroORM } from '@mikro-orm/sql';
import type { Database, Dialect, WriteTurns } from '../domain/ports/database.ts';
import { type Caller, SERVER } from '../scheduling/caller.ts';
import { SharedTime } from '../scheduling/shared-time.ts';
import { runAs } from '../scheduling/current-caller.ts';
import { AppError } from '../errors.ts';
import type { DatabaseGuard } from './database-guard.ts';

/** Caller of the heartbeat, so that it waits behind no other work of the server. */
const HEARTBEAT: Caller = { tokenId: 'heartbeat', tenant: 'heartbeat' };

/**
 * The catalogue over MikroORM: a fresh EntityManager for each unit of work, writers in turn; refuses what the guard
 * refuses.
 */
export class OrmDatabase implements Database {
  readonly dialect: Dialect;
  readonly time = new SharedTime();
  readonly #orm: MikroORM;
  readonly #turns: WriteTurns;
  readonly #guard: Pick<DatabaseGuard, 'refusal'>;

  constructor(
    orm: MikroORM,
    dialect: Dialect,
    turns: WriteTurns,
    guard: Pick<DatabaseGuard, 'refusal'> = { refusal: null },
  ) {
    this.#orm = orm;
    this.dialect = dialect;
    this.#turns = turns;
    this.#guard = guard;
  }

  read(): EntityManager {
    this.#check();
    return this.#orm.em.fork();
  }

  async write<T>(work: (em: EntityManager) => Promise<T>, caller: Caller = SERVER): Promise<T> {
    this.#check();
    const giveBack = await this.#turns.take(caller);
    const end = this.time.begin();
    try {
      // The wait may have been long.
      this.#check();
      return await this.#orm.em.fork().transactional(work);
    } catch (error) {
      throw error instanceof ForeignKeyConstraintViolationException ? parentGone(error) : error;
    } finally {
      end();
      giveBack();
    }
  }

  /** Resolves when the database has durably taken a write; rejects with what prevents it. */
  async beat(now: number): Promise<void> {
    const statement = 'insert into heartbeat (id, at) values (1, ?) on conflict (id) do update set at = excluded.at';
    await runAs(HEARTBEAT, () => this.write((em) => em.execute(statement, [now]), HEARTBEAT));
  }

  #check(): void {
    if (this.#guard.refusal !== null) throw this.#guard.refusal;
  }
}

/** Error for rows whose parent was deleted after it was found. */
function parentGone(cause: Error): AppError {
  return new AppError(
    'NOT_FOUND',
    'The product, device or workspace that this belongs to has been deleted in the meantime.',
    { cause },
  );
}
