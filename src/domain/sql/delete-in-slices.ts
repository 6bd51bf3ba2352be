import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { placeholders } from './long-columns.ts';
import type { Caller } from '../../scheduling/caller.ts';

/** Rows of one table, and the number deleted per transaction. */
interface Slices {
  table: string;
  /** The column that identifies a row. */
  key: string;
  /** A condition with one parameter per value of `of`. */
  where: string;
  of: readonly unknown[];
  atOnce: number;
}

/** Steps around each slice. */
interface Around {
  /** Runs before the transaction, which would block a look-up on SQLite. */
  before?: () => Promise<unknown>;
  /** Runs within the transaction, first. */
  hold?: (em: EntityManager) => Promise<unknown>;
  /** Runs after the commit, with the keys of the deleted rows. */
  after?: (keys: readonly unknown[]) => Promise<unknown>;
  /** The caller whose account pays; the server's own if left out. */
  caller?: Caller | undefined;
}

/**
 * Deletes rows in short transactions: on SQLite one statement blocks the event loop until it is done, and deleting a
 * parent also deletes all its children in one.
 */
export async function deleteInSlices(
  database: Database,
  { table, key, where, of, atOnce }: Slices,
  { before, hold, after, caller }: Around = {},
): Promise<void> {
  for (;;) {
    const rows = await database
      .read()
      .execute<{ key: unknown }[]>(`select ${key} as "key" from ${table} where ${where} limit ${atOnce}`, [...of]);
    if (rows.length === 0) return;
    const keys = rows.map((row) => row.key);
    await before?.();
    await database.write(async (em) => {
      await hold?.(em);
      const among = `${where} and ${key} in (${placeholders(keys)})`;
      const some = [...of, ...keys];
      if (database.dialect === 'sqlite') await em.execute(`delete from ${table} where ${among}`, some, 'run');
      else {
        // Lock in the order in which other transactions lock several rows.
        const held = `select ${key} from ${table} where ${among} order by ${key} for update`;
        await em.execute(`delete from ${table} where ${where} and ${key} in (${held})`, [...of, ...some], 'run');
      }
    }, caller);
    await after?.(keys);
    if (rows.length < atOnce) return;
    await yieldToEventLoop();
  }
}
