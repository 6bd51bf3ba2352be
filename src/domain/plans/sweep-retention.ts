import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { type Keeps, keptFrom } from '../ingest-cache/keeps.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { countBefore } from './history-at-risk.ts';
import type { Plans } from './plans.ts';

/** Devices per page. No index covers a plan alone, so on SQLite a page may visit this many on the event loop. */
const KEYS_A_PAGE = 4_000;
const PAGE =
  'select d."key", d.id, d.workspace_id as "workspaceId", d.product_key as "productKey" from device d ' +
  'left join retention_grace g on g.device_key = d."key" where d.plan = ? and d."key" > ? and d."key" <= ? ' +
  'and (g.until is null or g.until <= ?) order by d."key"';
const FIELDS = 'select "key" from field where product_key = ? order by "key"';
/** Maximum failures in a row before a sweep gives up: then the database is at fault, or one of its pages. */
const MAX_FAILURES = 3;
const MAX_SUBJECTS = 20;

interface DeviceRow {
  key: number;
  id: string;
  workspaceId: string;
  productKey: number;
}

/** Values that a sweep deleted from the devices of one plan in a workspace. */
export interface SweptHistory {
  workspaceId: string;
  plan: string;
  retentionDays: number;
  /** Time before which values were deleted, in ms UTC. */
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
  /** Called for a device that is left out until the next sweep. */
  onLeftOut: (error: unknown, deviceKey: number) => void;
  /** Called for each workspace and plan that lost values, also when the sweep ended early. */
  onSwept: (swept: SweptHistory) => Promise<void>;
}

/**
 * Deletes measurements that are older than the plan of their device keeps them (CONTRACT 1), where the operator has set
 * a retention: plan by plan, in the store's small slices, and nothing of devices within their grace period. The newest
 * value of each field stays. A device whose old values are rewritten faster than they can be removed, or that cannot be
 * read, does not hold up the others.
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
