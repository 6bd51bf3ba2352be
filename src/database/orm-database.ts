import { type EntityManager, ForeignKeyConstraintViolationException, type MikroORM } from '@mikro-orm/sql';
import type { Database, Dialect, WriteTurns } from '../domain/database.ts';
import { FairSlots } from '../domain/fair-slots.ts';
import type { Party } from '../domain/party.ts';
import { SharedTime } from '../domain/shared-time.ts';
import { AppError } from '../errors.ts';
import type { DatabaseGuard } from './database-guard.ts';

/** Half of the connections: who reads finds one. */
const WRITES_AT_ONCE = 4;
/** What the server writes of its own accord. */
const ITSELF: Party = { tokenId: 'server', tenant: 'server' };

/**
 * The catalogue over MikroORM: one fresh EntityManager for each unit of work, writers in turn; nothing while the guard
 * refuses.
 */
export class OrmDatabase implements Database {
  readonly dialect: Dialect;
  readonly time = new SharedTime();
  readonly #writes: FairSlots;
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
    this.#writes = new FairSlots(dialect === 'sqlite' ? 1 : WRITES_AT_ONCE);
    this.#turns = turns;
    this.#guard = guard;
  }

  read(): EntityManager {
    this.#check();
    return this.#orm.em.fork();
  }

  write<T>(work: (em: EntityManager) => Promise<T>, party: Party = ITSELF): Promise<T> {
    return this.#writes.use(party, () => this.#write(work));
  }

  async #write<T>(work: (em: EntityManager) => Promise<T>): Promise<T> {
    this.#check();
    const giveBack = await this.#turns.take();
    const end = this.time.begin();
    try {
      return await this.#orm.em.fork().transactional(work);
    } catch (error) {
      throw error instanceof ForeignKeyConstraintViolationException ? parentGone(error) : error;
    } finally {
      end();
      giveBack();
    }
  }

  /** Resolves when the database has durably taken a write just now; rejects with what keeps it from that. */
  async beat(now: number): Promise<void> {
    await this.write((em) =>
      em.execute('insert into heartbeat (id, at) values (1, ?) on conflict (id) do update set at = excluded.at', [now]),
    );
  }

  #check(): void {
    if (this.#guard.refusal !== null) throw this.#guard.refusal;
  }
}

/** Rows are added to what was found before: that it is not there any more says that somebody has deleted it meanwhile. */
function parentGone(cause: Error): AppError {
  return new AppError('NOT_FOUND', 'What this belongs to was deleted meanwhile.', { cause });
}
