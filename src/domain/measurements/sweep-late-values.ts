import type { Database } from '../database.ts';
import type { MeasurementStore } from './store.ts';

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
  'and not exists (select 1 from purge where purge.device_key = device_state.device_key and field_key is null)';

const REMOVED = 'from removed_field where removed_at < ?';

/**
 * Forgets what was committed for devices and fields just after their purge: another node may have accepted it before it
 * heard that they are gone. Devices at once; fields, whose values nobody sees any more, once, an hour after their removal.
 */
export async function sweepLateValues({ database, store, now }: SweepLateValuesDeps): Promise<void> {
  await store.showHeard();
  const before = now() - LATE_MS;
  const found = await database
    .read()
    .execute<unknown[]>(`select * from (${ORPHANS} limit 1) as o union all select field_key ${REMOVED}`, [before]);
  if (found.length === 0) return;
  await database.write(async (em) => {
    const write = (statement: string, values: number[]): Promise<unknown> => em.execute(statement, values, 'run');
    await write(`insert into purge (device_key, field_key) select device_key, null from (${ORPHANS}) as gone`, []);
    await write(
      `insert into purge (device_key, field_key) select device.key, gone.field_key
       from (select * ${REMOVED}) as gone join device on device.product_key = gone.product_key`,
      [before],
    );
    await write(`delete ${REMOVED}`, [before]);
  });
  await store.settlePurges();
}
