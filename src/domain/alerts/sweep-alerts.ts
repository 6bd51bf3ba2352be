import type { Database } from '../ports/database.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';

/** How long an alert is kept from its beginning on, once it is over. */
const ALERTS_KEPT_MS = 365 * 86_400_000;
const AT_ONCE = 500;
/** Time after which changes of alerts are no longer kept for those who follow them. */
const EVENTS_KEPT_MS = 3_600_000;

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

/** Deletes old changes of alerts: first it is noted that they are, so that nobody goes on from one in between. */
export async function sweepAlertEvents({ database, now }: { database: Database; now: () => number }): Promise<void> {
  const [row] = await database
    .read()
    .execute<{ last: number | string | null }[]>('select max(seq) as last from alert_event where at < ?', [
      now() - EVENTS_KEPT_MS,
    ]);
  if (row?.last == null) return;
  const last = Number(row.last);
  await database.write((em) =>
    em.execute('update rule_reader set forgotten = ? where share = 0 and forgotten < ?', [last, last], 'run'),
  );
  await deleteInSlices(database, {
    table: 'alert_event',
    key: 'seq',
    where: 'seq <= ?',
    of: [last],
    atOnce: AT_ONCE,
  });
}
