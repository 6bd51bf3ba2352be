import type { EntityManager } from '@mikro-orm/sql';
import type { Caller } from '../../scheduling/caller.ts';
import type { SharedTime } from '../../scheduling/shared-time.ts';

/** The two databases that behave the same (CONTRACT, before section 1). */
export type Dialect = 'sqlite' | 'postgres';

/** The catalogue (everything that MikroORM keeps: products, devices, tokens, …) as units of work. */
export interface Database {
  readonly dialect: Dialect;
  /** Divides time among the transactions in progress. */
  readonly time: SharedTime;
  /** A fresh EntityManager for reading. Never start a transaction on it: use `write`. */
  read(): EntityManager;
  /**
   * Runs `work` in one transaction and commits it. Inside, use the given EntityManager and no other: on SQLite another
   * one would wait for this transaction, and this transaction for it. Few run at a time, scheduled fairly by `caller`.
   */
  write<T>(work: (em: EntityManager) => Promise<T>, caller?: Caller): Promise<T>;
}

/**
 * Places for writers. SQLite has one writer at a time: units of work outside the store take a turn first, so that none
 * ever waits inside SQLite with the event loop stopped. PostgreSQL has four, which leaves connections to readers. A
 * turn's holder must not wait for the store: the store answers only after the turn was given back.
 */
export interface WriteTurns {
  /** Resolves with the function that gives the turn back; scheduled fairly by `caller`, or as the server itself. */
  take(caller?: Caller): Promise<() => void>;
}
