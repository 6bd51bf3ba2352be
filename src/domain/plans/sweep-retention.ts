import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { type Keeps, keptFrom } from '../ingest-cache/keeps.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { countBefore } from './history-at-risk.ts';
import type { Plans } from './plans.ts';

/** No index has all of a plan: on SQLite the event loop goes through so many devices for a page of it. */
const KEYS_A_PAGE = 4_000;
const PAGE =
  'select d."key", d.id, d.workspace_id as "workspaceId", d.product_key as "productKey" from device d ' +
  'left join retention_grace g on g.device_key = d."key" where d.plan = ? and d."key" > ? and d."key" <= ? ' +
  'and (g.until is null or g.until <= ?) order by d."key"';
const FIELDS = 'select "key" from field where product_key = ? order by "key"';
/** One after the other: it may be the database then, or a place in it where nothing can be read. */
const MAX_FAILURES = 3;
const MAX_SUBJECTS = 20;

interface DeviceRow {
  key: number;
  id: string;
  workspaceId: string;
  productKey: number;
}

/** What a sweep has deleted of the devices of one plan in a workspace. */
export interface SweptHistory {
  workspaceId: string;
  plan: string;
  retentionDays: number;
  /** Older values were deleted, in ms UTC. */
  before: number;
  devices: number;
  measurements: number;
  /** The first 20 devices. */
  deviceIds: string[];
}

interface SweepRetentionDeps {
  database: Database;
  store: Pick<MeasurementStore, 'dropOlderThan' | 'latest' | 'ping' | 'remove'>;
  plans: Plans;
  /** ms UTC. */
  now: () => number;
  /** A device was left out until the next time. */
  onLeftOut: (error: unknown, deviceKey: number) => void;
  /** Something was deleted: told for each workspace and plan, also when the sweep could not go on to its end. */
  onSwept: (swept: SweptHistory) => Promise<void>;
}

/**
 * Forgets measurements that are older than the plan of their device keeps them (CONTRACT 1), where the operator has set
 * that, plan by plan, in the store's small slices; of a device that came to its plan a short while ago nothing yet. The newest value of each field
 * stays. A device whose old values are written again and again, faster than they can be removed, holds up no other, nor does
 * one of which something cannot be read.
 */
export async function sweepRetention(deps: SweepRetentionDeps, isStopping: () => boolean): Promise<void> {
  for (const { slug } of deps.plans.all) {
    const keeps = deps.plans.keeps(slug);
    if (keeps !== null) await sweepPlan(deps, keeps, isStopping);
  }
}

async function sweepPlan(deps: SweepRetentionDeps, keeps: Keeps, isStopping: () => boolean): Promise<void> {
  const before = keptFrom(keeps, deps.now());
  const swept = new Map<string, SweptHistory>();
  try {
    await sweepDevices(deps, keeps.plan, before, isStopping, ({ id, workspaceId }, measurements) => {
      let found = swept.get(workspaceId);
      if (found === undefined) {
        const of = { workspaceId, plan: keeps.plan, retentionDays: keeps.days, before };
        found = { ...of, devices: 0, measurements: 0, deviceIds: [] };
        swept.set(workspaceId, found);
      }
      found.devices += 1;
      found.measurements += measurements;
      if (found.deviceIds.length < MAX_SUBJECTS) found.deviceIds.push(id);
    });
  } finally {
    for (const of of swept.values()) await deps.onSwept(of);
  }
}

async function sweepDevices(
  { database, store, now, onLeftOut }: SweepRetentionDeps,
  plan: string,
  before: number,
  isStopping: () => boolean,
  onDeleted: (device: DeviceRow, measurements: number) => void,
): Promise<void> {
  const [newest] = await database.read().execute<{ key: number }[]>('select max(key) as key from device');
  let failures = 0;
  for (let after = 0; after < (newest?.key ?? 0) && !isStopping(); after += KEYS_A_PAGE) {
    const page = await database.read().execute<DeviceRow[]>(PAGE, [plan, after, after + KEYS_A_PAGE, now()]);
    const fieldsOf = new Map<number, number[]>();
    for (const device of page) {
      if (isStopping()) return;
      try {
        const fieldKeys = fieldsOf.get(device.productKey) ?? (await fieldKeysOf(database, device.productKey));
        fieldsOf.set(device.productKey, fieldKeys);
        const of = { deviceKey: device.key, fieldKeys };
        const count = await countBefore(store, of, before);
        if (count > 0) {
          await store.dropOlderThan([device.key], before);
          const deleted = count - (await countBefore(store, of, before));
          if (deleted > 0) onDeleted(device, deleted);
        }
        failures = 0;
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'CONFLICT') && (failures += 1) === MAX_FAILURES) {
          await store.ping();
          failures = 0;
        }
        onLeftOut(error, device.key);
      }
    }
    await yieldToEventLoop();
  }
}

async function fieldKeysOf(database: Database, productKey: number): Promise<number[]> {
  const rows = await database.read().execute<{ key: number }[]>(FIELDS, [productKey]);
  return rows.map(({ key }) => key);
}
