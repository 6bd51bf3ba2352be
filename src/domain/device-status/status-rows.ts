import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import { limitOf } from '../devices/offline-after.ts';
import type { Conditions } from '../devices/device-scan.ts';
import type { WatchedPlace } from './watched-device.ts';

/** Maximum rows per statement. */
export const PAGE = 2_000;

/** A watched device as the database has it. */
export interface StatusRow extends WatchedPlace {
  ownSeconds: number | null;
  productSeconds: number | null;
}

/** A page of the devices behind a key. Plain rows: entities would hold the event loop for 40 ms. */
export function readStatusRows(database: Database, { sql, values }: Conditions, after = 0): Promise<StatusRow[]> {
  return database.read().execute<StatusRow[]>(
    `select d."key" as "deviceKey", d.id as "deviceId", p.id as "productId", d.workspace_id as "workspaceId",
       d.offline_after_seconds as "ownSeconds", p.offline_after_seconds as "productSeconds"
     from device d join product p on p."key" = d.product_key
     where ${sql.join(' and ')} and d."key" > ? order by d."key" limit ${PAGE}`,
    [...values, after],
  );
}

/** Rows with one of these values. */
export function oneOf(column: string, values: readonly unknown[]): Conditions {
  return { sql: [`${column} in (${placeholders(values)})`], values: [...values] };
}

/** How long devices of these products may be silent, in ms by product; at most a page of products. */
export async function readLimits(database: Database, productIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await database
    .read()
    .execute<{ id: string; seconds: number | null }[]>(
      `select id, offline_after_seconds as seconds from product where id in (${placeholders(productIds)})`,
      [...productIds],
    );
  return new Map(rows.map(({ id, seconds }) => [id, limitOf(seconds)]));
}
