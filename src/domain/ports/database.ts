import type { EntityManager } from '@mikro-orm/sql';
import type { Caller } from '../../scheduling/caller.ts';
import type { SharedTime } from '../../scheduling/shared-time.ts';

/** The two databases that behave the same (CONTRACT, before section 1). */
export type Dialect = 'sqlite' | 'postgres';

/** The catalogue (everything that MikroORM keeps: products, devices, tokens, …) as units of work. */
export interface Database {
  readonly dialect: Dialect;
  /** What the works have that go on in it at the same time. */
  readonly time: SharedTime;
  /** A fresh EntityManager for reading. Never start a transaction on it: that is what `write` is for. */
  read(): EntityManager;
  /**
   * Runs `work` in one transaction and commits it. Inside, use the EntityManager it is given and no other: on SQLite
   * another one would wait for this transaction, and this transaction for it. Few go on at a time, fairly by `party`.
   */
  write<T>(work: (em: EntityManager) => Promise<T>, party?: Caller): Promise<T>;
}

/**
 * SQLite has one writer at a time. Whoever writes outside the store (the catalogue's units of work) takes a turn first,
 * so that nobody ever waits inside SQLite with the event loop stopped. On PostgreSQL there are four, which leaves
 * connections to who reads. Whoever holds a turn must not wait for the store: it answers only when the turn has been
 * given back.
 */
export interface WriteTurns {
  /** Resolves with the function that gives the turn back; fairly by `party`, without one as the server itself. */
  take(party?: Caller): Promise<() => void>;
}
