import type { Database } from '../ports/database.ts';
import type { MeasurementStore, Piece } from '../ports/store.ts';
import type { Change } from './differences.ts';
import type { ProductDraft } from './product-plan.ts';
import { type Block, segment } from './shape.ts';

const END_OF_TIME = 8.64e15;
/** Devices whose keys are read at once. */
const DEVICES_AT_ONCE = 1_000;

interface DataAtRiskDeps {
  database: Database;
  store: Pick<MeasurementStore, 'remove'>;
}

/** Counts the measurements that a plan would take, and blocks that unless it is wanted. */
export class DataAtRisk {
  readonly #deps: DataAtRiskDeps;

  constructor(deps: DataAtRiskDeps) {
    this.#deps = deps;
  }

  /** Fills in `measurements` of the removals of products and fields. `piece` schedules the counting. */
  async count(drafts: readonly ProductDraft[], deleteData: boolean, blocks: Block[], piece: Piece): Promise<void> {
    for (const draft of drafts)
      for (const [change, fieldKeys] of removalsOf(draft)) {
        change.measurements = await this.#countOf(draft.state!.key, fieldKeys, piece);
        if (change.measurements > 0 && !deleteData)
          blocks.push({
            path: change.path,
            message:
              `holds ${change.measurements === 1 ? '1 measurement' : `${change.measurements} measurements`}, which would ` +
              'be deleted with it: export them, or say deleteData.',
          });
      }
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
      for (const { key: deviceKey } of rows) {
        const query = { deviceKey, fieldKeys, from: 0, to: END_OF_TIME, dryRun: true };
        count += await this.#deps.store.remove(query, piece);
      }
      if (rows.length < DEVICES_AT_ONCE) return count;
      after = rows.at(-1)!.key;
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
    .map((change) => [change, [byPath.get(change.path)!]]);
}
