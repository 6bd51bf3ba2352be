import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { placeholders } from './long-columns.ts';
import type { Caller } from '../../scheduling/caller.ts';

/** Rows of one table, and how many of them go at once. */
interface Slices {
  table: string;
  /** Tells them apart. */
  key: string;
  /** With one parameter for each value of `of`. */
  where: string;
  of: readonly unknown[];
  atOnce: number;
}

/** What else is done with each slice. */
interface Around {
  /** Before its transaction, which would keep a look-up waiting on SQLite. */
  before?: () => Promise<unknown>;
  /** Within the transaction, first. */
  hold?: (em: EntityManager) => Promise<unknown>;
  /** Behind it, with what tells apart the rows that are gone. */
  after?: (keys: readonly unknown[]) => Promise<unknown>;
  /** On whose account; the server's own without. */
  party?: Caller | undefined;
}

/**
 * Deletes rows in short transactions: on SQLite what one statement deletes has the event loop until it is gone, and a
 * parent takes along all that it has in one.
 */
export async function deleteInSlices(
  database: Database,
  { table, key, where, of, atOnce }: Slices,
  { before, hold, after, party }: Around = {},
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
        // In the order in which others lock several.
        const held = `select ${key} from ${table} where ${among} order by ${key} for update`;
        await em.execute(`delete from ${table} where ${where} and ${key} in (${held})`, [...of, ...some], 'run');
      }
    }, party);
    await after?.(keys);
    if (rows.length < atOnce) return;
    await yieldToEventLoop();
  }
}
