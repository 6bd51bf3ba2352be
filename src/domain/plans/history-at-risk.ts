import type { EntityManager } from '@mikro-orm/sql';
import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import type { Device } from '../entities/device.ts';
import { type Keeps, keptFrom } from '../ingest-cache/keeps.ts';
import type { MeasurementStore, Piece } from '../ports/store.ts';
import type { Plan, Plans } from './plans.ts';

/** Grace period before a plan that keeps less applies to a device's old values. */
const GRACE_MS = 7 * 86_400_000;

/** Loss of a device's history by a change of plan. */
export interface HistoryLoss {
  plan: string;
  /** Days for which the plan keeps history; null: for ever. */
  retentionDays: number | null;
  /** Maximum values that are lost: a few that are stored together with younger ones may stay longer. */
  measurements: number;
  /** Earliest deletion, in ms UTC; null: nothing is lost. */
  goesAt: number | null;
}

interface HistoryAtRiskDeps {
  database: Database;
  store: Pick<MeasurementStore, 'latest' | 'remove'>;
  plans: Plans;
  now: () => number;
}

/**
 * Counts the values that a device would lose by a plan that keeps less, and delays their deletion by seven days
 * (CONTRACT 1).
 */
export class HistoryAtRisk {
  readonly #deps: HistoryAtRiskDeps;

  constructor(deps: HistoryAtRiskDeps) {
    this.#deps = deps;
  }

  /** The loss if the device changed to the plan; `piece` schedules the counting. */
  async byPlan(device: Device, plan: Plan, piece: Piece): Promise<HistoryLoss> {
    const { database, store, plans, now } = this.#deps;
    const keeps = plans.keeps(plan.slug);
    let measurements = 0;
    if (keeps !== null && this.keepsLess(device.plan, plan.slug)) {
      const sql = 'select "key" from field where product_key = ? order by "key"';
      const rows = await database.read().execute<{ key: number }[]>(sql, [device.product.key]);
      const fieldKeys = rows.map(({ key }) => key);
      measurements = await countBefore(store, { deviceKey: device.key, fieldKeys }, keptFrom(keeps, now()), piece);
    }
    const { slug, retentionDays } = plan;
    return { plan: slug, retentionDays, measurements, goesAt: measurements === 0 ? null : now() + GRACE_MS };
  }

  /** Starts or ends the grace period, in the transaction of the change. */
  async changesPlan(em: EntityManager, deviceKey: number, from: string, to: string): Promise<void> {
    await em.execute('delete from retention_grace where device_key = ?', [deviceKey], 'run');
    if (!this.keepsLess(from, to)) return;
    const values = [deviceKey, this.#deps.now() + GRACE_MS];
    await em.execute('insert into retention_grace (device_key, until) values (?, ?)', values, 'run');
  }

  /** Whether the plan `to` keeps history for a shorter time. */
  keepsLess(from: string, to: string): boolean {
    const daysOf = (keeps: Keeps | null): number => keeps?.days ?? Infinity;
    const { plans } = this.#deps;
    return daysOf(plans.keeps(to)) < daysOf(plans.keeps(from));
  }
}

/** CONFLICT with the number of values that would be lost, if there are any. */
export function requireConfirmation({ plan, retentionDays, measurements, goesAt }: HistoryLoss): void {
  if (goesAt === null) return;
  const values = measurements === 1 ? '1 value' : `${measurements} values`;
  throw new AppError(
    'CONFLICT',
    `The plan "${plan}" keeps history for ${retentionDays} days: ${values} of this device that are older would be deleted ` +
      'in seven days. Say "confirm: true" to change the plan all the same, or export them first.',
    { details: { plan, retentionDays, measurements, goesAt: new Date(goesAt).toISOString() } },
  );
}

/** Number of values measured before a time in ms UTC, without the newest of each field, which no sweep deletes. */
export async function countBefore(
  store: Pick<MeasurementStore, 'latest' | 'remove'>,
  { deviceKey, fieldKeys }: { deviceKey: number; fieldKeys: number[] },
  before: number,
  piece?: Piece,
): Promise<number> {
  if (fieldKeys.length === 0) return 0;
  const query = { deviceKey, fieldKeys, from: 0, to: before, dryRun: true };
  const count = await store.remove(query, piece);
  if (count === 0) return 0;
  const newest = await store.latest([{ deviceKey, fieldKeys }]);
  return Math.max(0, count - newest.filter(({ timestamp }) => timestamp < before).length);
}
