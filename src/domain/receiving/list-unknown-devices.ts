import { badInput } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import type { UnknownDevice } from '../entities/unknown-device.ts';
import { placeholders } from '../sql/long-columns.ts';
import { MAX_UNKNOWN_DEVICES } from './write-unknown-calls.ts';

/** The columns of an unknown device that lists show; times in ms UTC. */
export type ListedUnknownDevice = Pick<
  UnknownDevice,
  'id' | 'identifier' | 'network' | 'firstSeenAt' | 'lastSeenAt' | 'seen'
> & {
  productId: string | null;
  ambiguous: boolean;
};

/** Maximum devices of a list: those of networks and those of webhooks. */
const MAX_LISTED = 2 * MAX_UNKNOWN_DEVICES;
const UUID_LENGTH = 36;
/** Condition: a device has the identifier by now. Each half has an index. */
const HAS_DEVICE = ['serial_folded', 'serial_number']
  .map((column) => `exists (select 1 from device d where d.workspace_id = u.workspace_id and d.${column} = u.identity)`)
  .join(' or ');
/** Condition: a device of the product has the name; in `identity`, the product's id and a blank stand before it. */
const PRODUCT_HAS_DEVICE = ['serial_folded', 'serial_number']
  .map(
    (column) =>
      'exists (select 1 from device d where d.workspace_id = u.workspace_id and d.product_key = u.product_key ' +
      `and d.${column} = substr(u.identity, ${UUID_LENGTH + 2}))`,
  )
  .join(' or ');

/**
 * The unknown devices of the workspaces that no device has by now, or several had, or whose adoption was interrupted;
 * last seen first, at most `first`.
 */
export async function listUnknownDevices(
  database: Database,
  workspaceIds: readonly string[],
  first: number | null | undefined,
): Promise<ListedUnknownDevice[]> {
  if (first != null && !(first >= 1 && first <= MAX_LISTED))
    throw badInput(`first: expected a number from 1 to ${MAX_LISTED}.`);
  // Read plain rows: a thousand entities would block the event loop.
  const rows = await database.read().execute<ListedUnknownDevice[]>(
    `select u.id, identifier, network, first_seen_at as "firstSeenAt", last_seen_at as "lastSeenAt", seen,
         p.id as "productId", case when ambiguous_at is null then 0 else 1 end as ambiguous
       from unknown_device u left join product p on p."key" = u.product_key and p.deleted_at is null
       where u.workspace_id in (${placeholders(workspaceIds)}) and (u.product_key is null or p."key" is not null)
         and (adopted_at is not null or ambiguous_at is not null
           or not (case when u.product_key is null then ${HAS_DEVICE} else ${PRODUCT_HAS_DEVICE} end))
       order by last_seen_at desc, u.id desc limit ?`,
    [...workspaceIds, first ?? MAX_LISTED],
  );
  return rows.map((row) => ({
    ...row,
    firstSeenAt: Number(row.firstSeenAt),
    lastSeenAt: Number(row.lastSeenAt),
    seen: Number(row.seen),
    ambiguous: Number(row.ambiguous) === 1,
  }));
}
