import type { Database } from '../database.ts';
import type { MeasurementStore } from '../measurements/store.ts';

interface SweepOrphansDeps {
  database: Database;
  store: Pick<MeasurementStore, 'settlePurges'>;
}

/** Whoever was heard has a row; one for whom the purge is under way has it still. */
const ORPHANS =
  'select device_key from device_state where not exists (select 1 from device where device.key = device_key) ' +
  'and not exists (select 1 from purge where purge.device_key = device_state.device_key)';

/**
 * Forgets measurements of devices that are no more: what another node had accepted before it heard of the deletion may
 * be committed just after the purge.
 */
export async function sweepOrphans({ database, store }: SweepOrphansDeps): Promise<void> {
  const found = await database.read().execute<unknown[]>(`${ORPHANS} limit 1`);
  if (found.length === 0) return;
  await database.write((em) =>
    em.execute(
      `insert into purge (device_key, field_key) select device_key, null from (${ORPHANS}) as gone`,
      [],
      'run',
    ),
  );
  await store.settlePurges();
}
