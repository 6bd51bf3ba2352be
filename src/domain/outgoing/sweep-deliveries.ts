import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';

/** How long deliveries are kept once they are done, and once they are DEAD. */
const DELIVERED_MS = 7 * 86_400_000;
const DEAD_MS = 30 * 86_400_000;
/** Maximum deliveries kept per endpoint: of those done, and of those DEAD. */
const MAX_DELIVERED = 10_000;
const MAX_DEAD = 100_000;
/** Maximum deliveries that wait per endpoint; beyond it new ones are DEAD at once. */
const MAX_DELIVERIES_WAITING = 100_000;
const AT_ONCE = 500;
/** The tables of what leaves, with the column that tells rows of an endpoint apart. */
const TABLES = { delivery_lane: 'lane', firing_alert: 'alert', delivery: '"key"' };

/** Deletes old deliveries, those beyond their number, and what is left of deleted endpoints; notes endpoints that are full. */
export async function sweepDeliveries(
  { database, now }: { database: Database; now: () => number },
  isStopping: () => boolean,
): Promise<void> {
  // Read before the endpoints: one that is made meanwhile is among these.
  const found = await Promise.all(Object.keys(TABLES).map((table) => endpointsIn(database, table)));
  const endpoints = await database
    .read()
    .execute<{ key: number; isFull: number | boolean }[]>('select "key", is_full as "isFull" from endpoint');
  const known = new Set(endpoints.map(({ key }) => key));
  for (const [at, [table, key]] of Object.entries(TABLES).entries())
    for (const endpointKey of found[at]!.filter((each) => !known.has(each)))
      await deleteInSlices(database, { table, key, atOnce: AT_ONCE, where: 'endpoint_key = ?', of: [endpointKey] });
  const rows = { table: 'delivery', key: '"key"', atOnce: AT_ONCE };
  for (const { key, isFull } of endpoints) {
    if (isStopping()) return;
    for (const [status, keptMs, most] of [
      ['DELIVERED', DELIVERED_MS, MAX_DELIVERED],
      ['DEAD', DEAD_MS, MAX_DEAD],
    ] as const) {
      const of = 'endpoint_key = ? and status = ? and';
      await deleteInSlices(database, { ...rows, where: `${of} settled_at < ?`, of: [key, status, now() - keptMs] });
      const [oldest] = await database
        .read()
        .execute<{ key: number | string }[]>(
          `select "key" from delivery where endpoint_key = ? and status = ? order by "key" desc limit 1 offset ${most}`,
          [key, status],
        );
      if (oldest !== undefined)
        await deleteInSlices(database, { ...rows, where: `${of} "key" <= ?`, of: [key, status, oldest.key] });
    }
    const [beyond] = await database
      .read()
      .execute<unknown[]>(
        `select 1 from delivery where endpoint_key = ? and status = 'WAITING' limit 1 offset ${MAX_DELIVERIES_WAITING - 1}`,
        [key],
      );
    if (Boolean(isFull) !== (beyond !== undefined))
      await database.write((em) =>
        em.execute(`update endpoint set is_full = ${beyond !== undefined} where "key" = ?`, [key], 'run'),
      );
    await yieldToEventLoop();
  }
}

/** The keys of the endpoints that a table has rows of; jumps from one to the next. */
async function endpointsIn(database: Database, table: string): Promise<number[]> {
  const rows = await database.read().execute<{ key: number }[]>(
    `with recursive found (k) as (
       select min(endpoint_key) from ${table}
       union all select (select min(endpoint_key) from ${table} where endpoint_key > k) from found where k is not null
     ) select k as "key" from found where k is not null`,
  );
  return rows.map(({ key }) => key);
}
