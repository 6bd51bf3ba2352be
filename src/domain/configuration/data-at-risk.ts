import type { Device } from '../entities/device.ts';
import type { HistoryAtRisk } from '../plans/history-at-risk.ts';
import { DEFAULT_PLAN, type Plans } from '../plans/plans.ts';
import type { Database } from '../ports/database.ts';
import type { MeasurementStore, Piece } from '../ports/store.ts';
import type { Change } from './differences.ts';
import { type DeviceDraft, deviceOf } from './device-plan.ts';
import type { ProductDraft } from './product-plan.ts';
import { type Block, segment } from './shape.ts';
import { must } from '../../must.ts';

const END_OF_TIME = 8.64e15;
/** Devices whose keys are read at once. */
const DEVICES_AT_ONCE = 1_000;

interface DataAtRiskDeps {
  database: Database;
  store: Pick<MeasurementStore, 'remove'>;
  plans: Plans;
  atRisk: HistoryAtRisk;
}

/** Counts the measurements that a plan would take, and blocks that unless it is wanted. */
export class DataAtRisk {
  readonly #deps: DataAtRiskDeps;

  constructor(deps: DataAtRiskDeps) {
    this.#deps = deps;
  }

  /** Fills in `measurements` of what would take some. `piece` schedules the counting. */
  async count(
    { products, devices }: { products: readonly ProductDraft[]; devices: readonly DeviceDraft[] },
    deleteData: boolean,
    blocks: Block[],
    piece: Piece,
  ): Promise<void> {
    const note = (change: Change, measurements: number): void => {
      change.measurements = measurements;
      if (measurements === 0 || deleteData) return;
      const many = measurements === 1 ? '1 measurement' : `${measurements} measurements`;
      const message = `holds ${many}, which would be deleted with it: export them, or say deleteData.`;
      blocks.push({ path: change.path, message });
    };
    for (const draft of products)
      for (const [change, fieldKeys] of removalsOf(draft))
        note(change, await this.#countOf(must(draft.state).key, fieldKeys, piece));
    for (const draft of devices) {
      const { path, state, target, pending } = draft;
      const [whole] = pending;
      const plan = pending.find((change) => change.path === `${path}.plan`);
      if (state === null || whole === undefined) continue;
      if (target === undefined) note(whole, await this.#countOfDevice(state, piece));
      else if (plan !== undefined) {
        const device = { key: state.key, plan: state.plan, product: { key: state.productKey } } as Device;
        const wanted = this.#deps.plans.bySlug(deviceOf(target).plan ?? DEFAULT_PLAN, plan.path);
        note(plan, (await this.#deps.atRisk.byPlan(device, wanted, piece)).measurements);
      }
    }
  }

  async #countOfDevice({ key, productKey }: { key: number; productKey: number }, piece: Piece): Promise<number> {
    const rows = await this.#deps.database
      .read()
      .execute<{ key: number }[]>('select "key" from field where product_key = ?', [productKey]);
    return this.#remaining(
      key,
      rows.map((row) => row.key),
      piece,
    );
  }

  async #remaining(deviceKey: number, fieldKeys: number[], piece: Piece): Promise<number> {
    if (fieldKeys.length === 0) return 0;
    return this.#deps.store.remove({ deviceKey, fieldKeys, from: 0, to: END_OF_TIME, dryRun: true }, piece);
  }

  async #countOf(productKey: number, fieldKeys: number[], piece: Piece): Promise<number> {
    if (fieldKeys.length === 0) return 0;
    let count = 0;
    for (let after = 0; ;) {
      const rows = await this.#deps.database
        .read()
        .execute<{ key: number }[]>(
          `select "key" from device where product_key = ? and "key" > ? order by "key" limit ${DEVICES_AT_ONCE}`,
          [productKey, after],
        );
      for (const { key } of rows) count += await this.#remaining(key, fieldKeys, piece);
      if (rows.length < DEVICES_AT_ONCE) return count;
      after = must(rows.at(-1)).key;
    }
  }
}

/** The changes of a product that take measurements, each with the fields whose they are. */
function removalsOf({ path, state, target, pending }: ProductDraft): [Change, number[]][] {
  if (state === null) return [];
  const all = [...state.fields.values()].map(({ key }) => key);
  if (target === undefined) return pending.map((change) => [change, all]);
  const byPath = new Map([...state.fields].map(([name, { key }]) => [`${path}.fields${segment(name)}`, key]));
  return pending
    .filter(({ action, path: at }) => action === 'DELETE' && byPath.has(at))
    .map((change) => [change, [must(byPath.get(change.path))]]);
}
