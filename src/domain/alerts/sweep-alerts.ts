import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';

/** How long an alert is kept from its beginning on, once it is over. */
const ALERTS_KEPT_MS = 365 * 86_400_000;
const AT_ONCE = 500;

/** Deletes old alerts that are over, and states of devices that are gone: a value may be judged while one is deleted. */
export async function sweepAlerts({ database, now }: { database: Database; now: () => number }): Promise<void> {
  // Their ids begin with the time.
  const hex = (now() - ALERTS_KEPT_MS).toString(16).padStart(12, '0');
  await deleteInSlices(database, {
    table: 'alert',
    key: 'id',
    where: 'id < ? and is_open = ? and tell_at is null',
    of: [`${hex.slice(0, 8)}-${hex.slice(8)}`, database.dialect === 'sqlite' ? 0 : false],
    atOnce: AT_ONCE,
  });
  await deleteInSlices(database, {
    table: 'rule_state',
    key: 'device_key',
    where: 'not exists (select 1 from device d where d."key" = rule_state.device_key)',
    of: [],
    atOnce: AT_ONCE,
  });
}
