import { AppError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { giveWay } from '../give-way.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { PLANS } from './plans.ts';

const DAY_MS = 86_400_000;
/** No index has all of a plan: on SQLite the event loop goes through so many devices for a page of it. */
const KEYS_A_PAGE = 4_000;
const PAGE = 'select key from device where plan = ? and key > ? and key <= ? order by key';
/** One after the other: it may be the database then, or a place in it where nothing can be read. */
const MAX_FAILURES = 3;

interface Key {
  key: number;
}

interface SweepRetentionDeps {
  database: Database;
  store: Pick<MeasurementStore, 'dropOlderThan' | 'ping'>;
  /** ms UTC. */
  now: () => number;
  /** A device was left out until the next time. */
  onLeftOut: (error: unknown, deviceKey: number) => void;
}

/**
 * Forgets measurements that are older than the plan of their device keeps them (CONTRACT 1), plan by plan, in the
 * store's small slices. The newest value of each field stays. A device whose old values are written again and again, faster
 * than they can be removed, holds up no other, nor does one of which something cannot be read.
 */
export async function sweepRetention(deps: SweepRetentionDeps, isStopping: () => boolean): Promise<void> {
  for (const { slug, retentionDays } of PLANS)
    if (retentionDays !== null) await sweepPlan(deps, slug, deps.now() - retentionDays * DAY_MS, isStopping);
}

async function sweepPlan(
  { database, store, onLeftOut }: SweepRetentionDeps,
  plan: string,
  before: number,
  isStopping: () => boolean,
): Promise<void> {
  const [newest] = await database.read().execute<Key[]>('select max(key) as key from device');
  let failures = 0;
  for (let after = 0; after < (newest?.key ?? 0) && !isStopping(); after += KEYS_A_PAGE) {
    const page = await database.read().execute<Key[]>(PAGE, [plan, after, after + KEYS_A_PAGE]);
    for (const { key } of page) {
      if (isStopping()) return;
      try {
        await store.dropOlderThan([key], before);
        failures = 0;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'CONFLICT') && (failures += 1) === MAX_FAILURES) {
          await store.ping();
          failures = 0;
        }
        onLeftOut(error, key);
      }
    }
    await giveWay();
  }
}
