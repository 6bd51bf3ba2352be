import type { Database } from '../ports/database.ts';
import type { ConfigurationField } from '../entities/configuration-field.ts';
import type { Field } from '../entities/field.ts';
import { placeholders } from '../sql/long-columns.ts';

/** A field as lists show it, read as columns: entities take ten times as long. */
export type FieldRow = Pick<
  Field,
  'key' | 'identifier' | 'type' | 'name' | 'unit' | 'description' | 'role' | 'meaning' | 'overflowAt' | 'display'
>;

/** A configuration field likewise. */
export type ConfigurationRow = Pick<
  ConfigurationField,
  'key' | 'identifier' | 'type' | 'name' | 'description' | 'default'
>;

type OfProduct<Row> = Row & { product_key: number };

/** Number of rows of each product in the table, by their keys. */
export async function partCounts(
  database: Database,
  table: 'field' | 'configuration_field',
  keys: readonly number[],
): Promise<number[]> {
  const rows = await database
    .read()
    .execute<{ product_key: number; count: number | string }[]>(
      `select product_key, count(*) as count from ${table} where product_key in (${placeholders(keys)}) group by product_key`,
      [...keys],
    );
  const byKey = new Map(rows.map((row) => [row.product_key, Number(row.count)]));
  return keys.map((key) => byKey.get(key) ?? 0);
}

/** The fields of each of the products, by their keys, in the order in which they were added. */
export async function readFields(database: Database, keys: readonly number[]): Promise<FieldRow[][]> {
  const columns =
    '"key", product_key, identifier, type, name, unit, description, role, meaning, display, overflow_at as "overflowAt"';
  return read<FieldRow>(database, `select ${columns} from field`, keys);
}

/** The earlier identifiers of each of the fields, by their keys, in alphabetical order. */
export async function readAliases(database: Database, keys: readonly number[]): Promise<string[][]> {
  const text =
    'select field_key as "fieldKey", identifier from field_alias ' +
    `where field_key in (${placeholders(keys)}) order by identifier`;
  const rows = await database.read().execute<{ fieldKey: number; identifier: string }[]>(text, [...keys]);
  const byField = Map.groupBy(rows, ({ fieldKey }) => fieldKey);
  return keys.map((key) => (byField.get(key) ?? []).map(({ identifier }) => identifier));
}

/** The configuration fields of each of the products likewise. */
export async function readConfigurationFields(
  database: Database,
  keys: readonly number[],
): Promise<ConfigurationRow[][]> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const value = database.dialect === 'sqlite' ? 'default_value' : 'default_value::text';
  const columns = `"key", product_key, identifier, type, name, description, ${value} as "default"`;
  const lists = await read<ConfigurationRow>(database, `select ${columns} from configuration_field`, keys);
  for (const row of lists.flat()) if (row.default !== null) row.default = JSON.parse(row.default as string) as unknown;
  return lists;
}

async function read<Row>(database: Database, select: string, keys: readonly number[]): Promise<Row[][]> {
  const text = `${select} where product_key in (${placeholders(keys)}) order by "key"`;
  const rows = await database.read().execute<OfProduct<Row>[]>(text, [...keys]);
  const byProduct = Map.groupBy(rows, (row) => row.product_key);
  return keys.map((key) => byProduct.get(key) ?? []);
}
