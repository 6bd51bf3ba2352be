import { AppError } from '../../errors.ts';
import type { Database } from '../database.ts';
import { DeviceSchema } from '../entities/device.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { PLANS } from './plans.ts';

const DAY_MS = 86_400_000;
const DEVICES_A_PAGE = 500;
/** One after the other: it may be the database then, or a place in it where nothing can be read. */
const MAX_FAILURES = 3;

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
  const options = { fields: ['key'], orderBy: { key: 'asc' }, limit: DEVICES_A_PAGE } as const;
  let failures = 0;
  for (let after = 0; !isStopping();) {
    const page = await database.read().find(DeviceSchema, { plan, key: { $gt: after } }, options);
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
    if (page.length < DEVICES_A_PAGE) return;
    after = page.at(-1)!.key;
  }
}
