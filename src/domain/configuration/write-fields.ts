import { type FieldType, keepsBooleans } from '../entities/field.ts';
import { checkDisplay } from '../products/field-display.ts';
import { forgetRemovedField, type RemovedField } from '../measurements/forget-field.ts';
import { insertRows, updateRows, type Columns } from '../sql/bulk-rows.ts';
import { placeholders } from '../sql/long-columns.ts';
import { itemsOf } from './normal-form.ts';
import { isSame, type Tree } from './shape.ts';
import type { Writing, WrittenProduct } from './write-products.ts';
import { must } from '../../must.ts';

const AT_ONCE = 500;

const FIELD: Columns = {
  type: 'text',
  name: 'text',
  unit: 'text',
  description: 'text',
  role: 'text',
  meaning: 'text',
  overflow_at: 'double precision',
  was_boolean: 'boolean',
  display: 'text',
};
const CONFIGURATION_FIELD: Columns = { name: 'text', description: 'text', default_value: 'jsonb' };

/** A removed field; `after`: the device behind whose key its values are still to be forgotten; null: nowhere. */
export interface ForgottenField extends RemovedField {
  after: number | null;
}

/** Writes the fields of products, all of them by a few statements. Returns those that were removed. */
export async function writeFields(writing: Writing, products: readonly WrittenProduct[]): Promise<ForgottenField[]> {
  const { em, dialect } = writing;
  const { added, changed, removed } = changesOf(products, 'fields');
  const forgotten = await removeFields(
    writing,
    removed.map(({ product, name }) => ({
      fieldKey: must(must(product.draft.state).fields.get(name)).key,
      productKey: product.key,
    })),
  );
  const kindOf = ({ product, name }: FieldChange) => must(must(product.draft.state).fields.get(name));
  const keyOf = (change: FieldChange): number => kindOf(change).key;
  // A role is unique within a product: fields may change theirs for one another's.
  const withRole = changed.filter(({ is, target }) => is['role'] !== undefined && is['role'] !== must(target)['role']);
  await inPieces(withRole.map(keyOf), (keys) =>
    em.execute(`update field set role = null where "key" in (${placeholders(keys)})`, [...keys], 'run'),
  );
  await updateRows(em, dialect, {
    table: 'field',
    columns: FIELD,
    rows: changed.map((change) => [keyOf(change), ...fieldValues(must(change.target), kindOf(change))]),
  });
  const known = added.filter(({ product }) => !product.isNew);
  for (const own of Map.groupBy(known, ({ product }) => product.key).values())
    await inPieces(
      own.map(({ name }) => name),
      async (names) => {
        // A field takes its identifier over from another that had it before.
        for (const table of ['suggested_field', 'field_alias'])
          await em.execute(
            `delete from ${table} where product_key = ? and identifier in (${placeholders(names)})`,
            [must(own[0]).product.key, ...names],
            'run',
          );
      },
    );
  await insertRows(em, dialect, {
    table: 'field',
    columns: { product_key: 'integer', identifier: 'text', ...FIELD },
    rows: added.map(({ product, name, target }) => [product.key, name, ...fieldValues(must(target), null)]),
  });
  await writeAliases(writing, [...added, ...changed]);
  return forgotten;
}

/** Writes the earlier identifiers of fields whose own are written. */
async function writeAliases({ em, dialect }: Writing, changes: readonly FieldChange[]): Promise<void> {
  const changing = changes.filter(({ is, target }) => !isSame(is['aliases'] ?? [], must(target)['aliases'] ?? []));
  const rows: unknown[][] = [];
  for (const [{ key, draft }, own] of Map.groupBy(changing, ({ product }) => product)) {
    await inPieces(
      own.map(({ name }) => name),
      async (names) => {
        const fields = await em.execute<{ key: number; identifier: string }[]>(
          `select "key", identifier from field where product_key = ? and identifier in (${placeholders(names)})`,
          [key, ...names],
        );
        const keys = fields.map((field) => field.key);
        if (draft.state !== null)
          await em.execute(`delete from field_alias where field_key in (${placeholders(keys)})`, keys, 'run');
        const byName = new Map(fields.map((field) => [field.identifier, field.key]));
        for (const { name, target } of own.filter((change) => names.includes(change.name)))
          for (const alias of (must(target)['aliases'] ?? []) as string[]) rows.push([key, alias, byName.get(name)]);
      },
    );
  }
  await insertRows(em, dialect, {
    table: 'field_alias',
    columns: { product_key: 'integer', identifier: 'text', field_key: 'integer' },
    rows,
  });
}

/** Writes the configuration fields of products likewise. */
export async function writeConfigurationFields(
  { em, dialect }: Writing,
  products: readonly WrittenProduct[],
): Promise<void> {
  const { added, changed, removed } = changesOf(products, 'configurationFields');
  const keyOf = ({ product, name }: FieldChange): number =>
    must(must(product.draft.state).configurationFields.get(name));
  await inPieces(removed.map(keyOf), (keys) =>
    em.execute(`delete from configuration_field where "key" in (${placeholders(keys)})`, [...keys], 'run'),
  );
  const values = ({ target }: FieldChange): unknown[] => {
    const { name = null, description = null, default: value = null } = must(target);
    return [name, description, value === null ? null : JSON.stringify(value)];
  };
  await updateRows(em, dialect, {
    table: 'configuration_field',
    columns: CONFIGURATION_FIELD,
    rows: changed.map((change) => [keyOf(change), ...values(change)]),
  });
  await insertRows(em, dialect, {
    table: 'configuration_field',
    columns: { product_key: 'integer', identifier: 'text', type: 'text', ...CONFIGURATION_FIELD },
    rows: added.map((change) => [change.product.key, change.name, must(change.target)['type'], ...values(change)]),
  });
}

interface FieldChange {
  product: WrittenProduct;
  name: string;
  is: Tree;
  target: Tree | undefined;
}

/** Fields that come, change and go; new ones in the order of the document. */
function changesOf(products: readonly WrittenProduct[], list: 'fields' | 'configurationFields') {
  const changes = { added: [] as FieldChange[], changed: [] as FieldChange[], removed: [] as FieldChange[] };
  for (const product of products) {
    const { is, target, wanted } = product.draft;
    const before = new Map(itemsOf(is?.[list]).map((item) => [item['identifier'] as string, item]));
    const after = new Map(itemsOf(must(target)[list]).map((item) => [item['identifier'] as string, item]));
    for (const [name, item] of before) {
      const change = { product, name, is: item, target: after.get(name) };
      if (change.target === undefined) changes.removed.push(change);
      else if (!isSame(item, change.target)) changes.changed.push(change);
    }
    for (const { identifier } of itemsOf(wanted?.[list])) {
      const name = identifier as string;
      if (!before.has(name)) changes.added.push({ product, name, is: {}, target: after.get(name) });
    }
  }
  return changes;
}

function fieldValues(target: Tree, before: { type: FieldType; wasBoolean: boolean } | null): unknown[] {
  const { type, name = null, unit = null, description = null, role = null, meaning = 'GAUGE' } = target;
  const wasBoolean = before !== null && keepsBooleans(before, type as FieldType);
  const display = checkDisplay(type as FieldType, target['display'], 'display');
  return [type, name, unit, description, role, meaning, target['overflowAt'] ?? null, wasBoolean, display];
}

/** Removes fields and lists their values for deletion. */
async function removeFields({ em, now }: Writing, removed: readonly RemovedField[]): Promise<ForgottenField[]> {
  const forgotten: ForgottenField[] = [];
  for (const field of removed) {
    forgotten.push({ ...field, after: await forgetRemovedField(em, field, now) });
  }
  await inPieces(
    removed.map(({ fieldKey }) => fieldKey),
    (keys) => em.execute(`delete from field where "key" in (${placeholders(keys)})`, [...keys], 'run'),
  );
  return forgotten;
}

async function inPieces<T>(items: readonly T[], work: (some: readonly T[]) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await work(items.slice(at, at + AT_ONCE));
}
