import type { EntityManager } from '@mikro-orm/sql';
import type { EndAlerts } from '../devices/device-rows.ts';
import { TagListType } from '../entities/tag-list.ts';
import { MAX_RULES } from '../rules/definition.ts';
import { isDefault } from '../rules/notify.ts';
import { readGround, watchFrom } from '../rules/rule-rows.ts';
import { type Columns, insertRows, updateRows } from '../sql/bulk-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { uuidV7 } from '../text/uuid.ts';
import { itemsOf } from './normal-form.ts';
import type { ProductDraft } from './product-plan.ts';
import { nameOfReference } from './references.ts';
import { nameOfRule } from './rule-shape.ts';
import { checkRuleTree, endpointsOf } from './rule-tree.ts';
import { isSame, type Tree } from './shape.ts';
import type { Writing, WrittenProduct } from './write-products.ts';
import { must } from '../../must.ts';

const TAGS = new TagListType();
const COLUMNS: Columns = {
  name: 'text',
  enabled: 'boolean',
  tags: 'text',
  definition: 'text',
  notify: 'text',
  revision: 'integer',
};
const OF_NEW: Columns = {
  ...COLUMNS,
  author_key: 'text',
  id: 'text',
  workspace_id: 'text',
  product_key: 'integer',
  judged_revision: 'integer',
  created_at: 'bigint',
};

/** How rules that come and go reach what judges by them. */
export interface RulesAround {
  /** The place in the order of commits before the transaction. */
  position: string;
  /** Locks what every change of an alert goes through: before any device. */
  lockAlerts: (em: EntityManager) => Promise<void>;
  /** Ends the alerts of a rule in the transaction; call what it resolves with after the commit. */
  endAlerts: (em: EntityManager, ruleKey: number) => Promise<() => void>;
  endAlertsOfDevices: EndAlerts;
}

/** Whether rules change with the product. */
export function changesRules({ is, target }: Pick<ProductDraft, 'is' | 'target'>): boolean {
  return target !== undefined && !isSame(is?.['rules'] ?? [], target['rules'] ?? []);
}

/** Writes the rules of products whose fields are written. Returns the ids of those products, and what follows the commit. */
export async function writeRules(
  writing: Writing,
  products: readonly WrittenProduct[],
  endpoints: ReadonlyMap<string, string>,
  { position, endAlerts }: RulesAround,
): Promise<{ products: string[]; afterCommit: (() => void)[] }> {
  const { em, dialect, workspaceId, now } = writing;
  const changing = products.filter(({ draft }) => changesRules(draft));
  const afterCommit: (() => void)[] = [];
  const added: unknown[][] = [];
  const changed: unknown[][] = [];
  // First those that go: their keys are free then.
  for (const { draft } of changing) {
    const after = new Set(itemsOf(must(draft.target)['rules']).map(nameOfRule));
    const gone = [...(draft.state?.rules ?? [])].filter(([name]) => !after.has(name)).map(([, key]) => key);
    for (const key of gone) afterCommit.push(await endAlerts(em, key));
    if (gone.length > 0) await em.execute(`delete from rule where "key" in (${placeholders(gone)})`, gone, 'run');
  }
  for (const { key: productKey, draft } of changing) {
    const ground = await readGround(em, productKey);
    const before = new Map(itemsOf(draft.is?.['rules']).map((tree) => [nameOfRule(tree), tree]));
    const valuesOf = (tree: Tree) => {
      const { authorKey, name, enabled, tags, definition, notify } = checkRuleTree(tree, ground, '');
      const endpointIds = endpointsOf(tree)?.map((one) => must(endpoints.get(nameOfReference(one)))) ?? null;
      const manner = { ...notify, endpointIds };
      const told = isDefault(manner) ? null : JSON.stringify(manner);
      const columns = [name, enabled, TAGS.convertToDatabaseValue(tags), JSON.stringify(definition), told];
      return { authorKey, columns };
    };
    // In the order of the document, but for those that share a name: they are numbered in the order in which they are made.
    const order = new Map(itemsOf(draft.wanted?.['rules']).map((tree, at) => [nameOfRule(tree), at]));
    const placeOf = (tree: Tree): number => nthOf(tree) * MAX_RULES + (order.get(nameOfRule(tree)) ?? 0);
    const trees = itemsOf(must(draft.target)['rules']).toSorted((one, other) => placeOf(one) - placeOf(other));
    const revisions = await revisionsOf(em, [...(draft.state?.rules.values() ?? [])]);
    for (const tree of trees) {
      const was = before.get(nameOfRule(tree));
      if (was !== undefined && isSame(was, tree)) continue;
      const { authorKey, columns } = valuesOf(tree);
      const key = was === undefined ? undefined : must(draft.state).rules.get(nameOfRule(tree));
      if (key === undefined) added.push([...columns, 1, authorKey, uuidV7(), workspaceId, productKey, 0, now]);
      else changed.push([key, ...columns, (revisions.get(key) ?? 0) + 1]);
    }
  }
  await insertRows(em, dialect, { table: 'rule', columns: OF_NEW, rows: added });
  await updateRows(em, dialect, { table: 'rule', columns: COLUMNS, rows: changed });
  if (added.length + changed.length > 0) await watchFrom(em, position);
  return { products: changing.map(({ id }) => id), afterCommit };
}

function nthOf({ nth }: Tree): number {
  return typeof nth === 'number' ? nth : 1;
}

async function revisionsOf(em: EntityManager, keys: readonly number[]): Promise<Map<number, number>> {
  if (keys.length === 0) return new Map();
  const rows = await em.execute<{ key: number; revision: number }[]>(
    `select "key", revision from rule where "key" in (${placeholders(keys)})`,
    [...keys],
  );
  return new Map(rows.map(({ key, revision }) => [key, revision]));
}
