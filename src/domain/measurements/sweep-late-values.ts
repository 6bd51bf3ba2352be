import type { Database } from '../ports/database.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { forgetFieldOfSome, type RemovedField } from './forget-field.ts';
import type { MeasurementStore } from '../ports/store.ts';

interface SweepLateValuesDeps {
  database: Database;
  store: Pick<MeasurementStore, 'settlePurges' | 'showHeard'>;
  /** In ms UTC. */
  now: () => number;
}

/** What a node had accepted before it heard of a removal is committed by then, even if it stood still meanwhile. */
const LATE_MS = 3_600_000;

/** Whoever was heard has a row; one for whom the purge is under way has it still. */
const ORPHANS =
  'select device_key from device_state where not exists (select 1 from device where device.key = device_key) ' +
  'and not exists (select 1 from purge where purge.device_key = device_state.device_key and field_key is null) ' +
  'and not exists (select 1 from absorbed_device where absorbed_device.device_key = device_state.device_key)';

/** So many of those who were heard are looked at by one statement on SQLite, where it has the event loop. */
const HEARD_AT_ONCE = 4_000;
const LAST_OF_THESE = `select device_key from device_state where device_key > ? order by device_key limit 1 offset ${HEARD_AT_ONCE - 1}`;

const REMOVED = 'select field_key, product_key, removed_at from removed_field where removed_at < ? limit 100';

/**
 * Forgets what was committed for devices and fields just after their purge: another node may have accepted it before it
 * heard that they are gone. Devices at once; fields, whose values nobody sees any more, once, an hour after their removal.
 */
export async function sweepLateValues(deps: SweepLateValuesDeps, isStopping: () => boolean): Promise<void> {
  const { database, store, now } = deps;
  await store.showHeard();
  if (await forgetOrphans(database, isStopping)) await store.settlePurges();
  for (;;) {
    const removed = await database
      .read()
      .execute<{ field_key: number; product_key: number; removed_at: number | string }[]>(REMOVED, [now() - LATE_MS]);
    if (removed.length === 0) return;
    for (const { field_key: fieldKey, product_key: productKey, removed_at: removedAt } of removed) {
      if (isStopping()) return;
      await forgetField(deps, { fieldKey, productKey }, Number(removedAt), isStopping);
    }
  }
}

/** Writes down that what was committed for them is to be forgotten; false: there are none. */
async function forgetOrphans(database: Database, isStopping: () => boolean): Promise<boolean> {
  let found = false;
  for (let after: number | null = 0; after !== null && !isStopping();) {
    const behind: number = after;
    const rows =
      database.dialect === 'sqlite'
        ? await database.read().execute<{ device_key: number }[]>(LAST_OF_THESE, [behind])
        : [];
    const last = rows[0]?.device_key ?? null;
    const among = `${ORPHANS} and device_key > ?${last === null ? '' : ' and device_key <= ?'}`;
    const values = last === null ? [behind] : [behind, last];
    const orphans = await database.read().execute<unknown[]>(`${among} limit 1`, values);
    if (orphans.length > 0) {
      const statement = `insert into purge (device_key, field_key) select device_key, null from (${among}) as gone`;
      await database.write((em) => em.execute(statement, values, 'run'));
      found = true;
    }
    after = last;
    await yieldToEventLoop();
  }
  return found;
}

/** A node begins with one; what it cannot bring to its end another does an hour later. */
async function forgetField(
  { database, store, now }: SweepLateValuesDeps,
  removed: RemovedField,
  removedAt: number,
  isStopping: () => boolean,
): Promise<void> {
  const { fieldKey } = removed;
  const isOurs = await database.write(async (em) => {
    const { affectedRows } = await em.execute<{ affectedRows: number }>(
      'update removed_field set removed_at = ? where field_key = ? and removed_at = ?',
      [now(), fieldKey, removedAt],
      'run',
    );
    return affectedRows === 1;
  });
  if (!isOurs) return;
  for (let after: number | null = 0; after !== null;) {
    const behind: number = after;
    after = await database.write((em) => forgetFieldOfSome(em, removed, behind));
    await store.settlePurges();
    if (isStopping()) return;
  }
  await database.write(async (em) => {
    await em.execute('delete from removed_field where field_key = ?', [fieldKey], 'run');
    await em.execute('delete from moved_field where field_key = ?', [fieldKey], 'run');
  });
}

/** Absorbed devices that have values again, or for which none can come any more. */
const ABSORBED =
  'select device_key, into_device_key, absorbed_at from absorbed_device where (absorbed_at < ? ' +
  'or exists (select 1 from reading where reading.device_key = absorbed_device.device_key)) ' +
  'and not exists (select 1 from purge where purge.device_key = absorbed_device.device_key) limit 100';

/**
 * Hands over what was committed for absorbed devices after they were absorbed: another node may have accepted it before it
 * heard of that. Once more an hour after; from then on they are devices that are gone like others.
 */
export async function handOverLateValues({
  database,
  store,
  now,
}: Omit<SweepLateValuesDeps, 'store'> & { store: Pick<MeasurementStore, 'settlePurges'> }): Promise<void> {
  const before = now() - LATE_MS;
  const found = await database
    .read()
    .execute<{ device_key: number; into_device_key: number; absorbed_at: number | string }[]>(ABSORBED, [before]);
  if (found.length === 0) return;
  await database.write(async (em) => {
    const write = (statement: string, values: (number | null)[]): Promise<unknown> =>
      em.execute(statement, values, 'run');
    for (const { device_key: key, into_device_key: into, absorbed_at: at } of found) {
      const isOver = Number(at) < before;
      await write(
        `insert into purge (device_key, field_key, into_device_key, into_field_key)
         select absorbed_device.device_key, coalesce(gone.stored_key, field.key), device.key,
           coalesce(own.stored_key, field.key)
         from absorbed_device join device on device.key = into_device_key
         join field on field.product_key = device.product_key
         left join moved_field gone on gone.device_key = absorbed_device.device_key and gone.field_key = field.key
         left join moved_field own on own.device_key = device.key and own.field_key = field.key
         where absorbed_device.device_key = ?`,
        [key],
      );
      await write('insert into purge (device_key, field_key, into_device_key) values (?, null, ?)', [
        key,
        isOver ? null : into,
      ]);
      if (!isOver) continue;
      await write('delete from absorbed_device where device_key = ?', [key]);
      await write('delete from moved_field where device_key = ?', [key]);
      await write('delete from moved_device where device_key = ?', [key]);
    }
  });
  await store.settlePurges();
}
