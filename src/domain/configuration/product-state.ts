import type { EntityManager } from '@mikro-orm/sql';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { FieldType } from '../entities/field.ts';
import type { DeviceType } from '../entities/product.ts';
import { TagListType } from '../entities/tag-list.ts';
import type { Dialect } from '../ports/database.ts';
import type { Ground } from '../rules/check-condition.ts';
import type { RuleDefinition } from '../rules/definition.ts';
import { type Notify, TELL_ALL } from '../rules/notify.ts';
import { jsonText, placeholders } from '../sql/long-columns.ts';
import { sortedJson } from '../text/json-text.ts';
import { readEndpointNames } from './endpoint-names.ts';
import { normalOf } from './normal-form.ts';
import { PRODUCT, requestTree } from './product-shape.ts';
import {
  type EndpointReference,
  inOrder,
  nameOfReference,
  type ProductReference,
  productReference,
  numbering,
} from './references.ts';
import { nameOfRule } from './rule-shape.ts';
import { ruleTree } from './rule-tree.ts';
import type { Tree } from './shape.ts';
import { must } from '../../must.ts';

/** Products read at once: a dashboard, a decoder and its examples may be long. */
const READ_AT_ONCE = 50;

/** A product as documents refer to it. */
export interface ProductName {
  key: number;
  id: string;
  authorKey: string | null;
  deviceType: DeviceType;
  /** The name that people read. */
  title: string;
  /** The same where it has no key, and others may share the title; null: it has one. */
  sharedName: string | null;
  reference: ProductReference;
  /** The name in its section. */
  name: string;
}

/** A product as it is: its form in a document, and the rows behind that. */
export interface ProductState extends ProductName {
  tree: Tree;
  fields: Map<string, { key: number; type: FieldType; wasBoolean: boolean }>;
  configurationFields: Map<string, number>;
  examples: Map<string, string>;
  /** Keys of the rules by their names in the document. */
  rules: Map<string, number>;
}

/** All products of a workspace in the order of their creation; those without a key are numbered by name. */
export async function readProductNames(em: EntityManager, workspaceId: string): Promise<ProductName[]> {
  const rows = await em.execute<Pick<ProductName, 'key' | 'id' | 'authorKey' | 'deviceType' | 'title'>[]>(
    'select "key", id, author_key as "authorKey", device_type as "deviceType", name as title from product where workspace_id = ? and deleted_at is null ' +
      'order by "key"',
    [workspaceId],
  );
  const nthOf = numbering();
  return rows.map((row) => {
    if (row.authorKey !== null) return { ...row, sharedName: null, reference: row.authorKey, name: row.authorKey };
    const reference = productReference(row.title, nthOf(row.title));
    return { ...row, sharedName: row.title, reference, name: nameOfReference(reference) };
  });
}

/** The products as they are, by their keys. */
export async function readProductStates(
  em: EntityManager,
  dialect: Dialect,
  workspaceId: string,
  names: readonly ProductName[],
): Promise<Map<number, ProductState>> {
  const states = new Map<number, ProductState>();
  const slices = new TransactionSlices();
  for (let at = 0; at < names.length; at += READ_AT_ONCE) {
    const some = names.slice(at, at + READ_AT_ONCE);
    const rows = await readRows(
      em,
      dialect,
      workspaceId,
      some.map(({ key }) => key),
    );
    for (const name of some) states.set(name.key, stateOf(name, rows));
    await slices.next();
  }
  return states;
}

interface FieldRow {
  productKey: number;
  key: number;
  identifier: string;
  type: FieldType;
  wasBoolean: boolean | number;
  display: string | null;
}
interface ConfigurationRow {
  productKey: number;
  key: number;
  identifier: string;
  type: ConfigurationType;
  default: unknown;
}
interface ExampleRow {
  productKey: number;
  id: string;
  name: string;
  request: unknown;
  expected: unknown;
}
interface ProductRow {
  productKey: number;
  ignoreZeroPlaces: number | boolean;
  dashboard: unknown;
  answer200: number | null;
  webhookAnswer: string | null;
  source: string | null;
}
interface RuleColumns {
  key: number;
  productKey: number;
  authorKey: string | null;
  name: string;
  enabled: boolean | number;
  tags: string;
  definition: string;
  notify: string | null;
}
interface Rows {
  products: Map<number, ProductRow>;
  fields: Map<number, FieldRow[]>;
  /** By the keys of fields. */
  aliases: Map<number, { identifier: string }[]>;
  configurationFields: Map<number, ConfigurationRow[]>;
  examples: Map<number, ExampleRow[]>;
  rules: Map<number, RuleColumns[]>;
  /** By their ids; read where a rule names one. */
  endpoints: Map<string, EndpointReference>;
}

async function readRows(
  em: EntityManager,
  dialect: Dialect,
  workspaceId: string,
  keys: readonly number[],
): Promise<Rows> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = (column: string): string => (dialect === 'sqlite' ? column : `${column}::text`);
  const select = <Row>(columns: string, from: string, order: string): Promise<Row[]> =>
    em.execute<Row[]>(`select ${columns} from ${from} in (${placeholders(keys)}) order by ${order}`, [...keys]);
  const products = await select<ProductRow>(
    'p."key" as "productKey", p.device_type as "deviceType", p.offline_after_seconds as "offlineAfterSeconds", ' +
      'p.ignore_zero_places as "ignoreZeroPlaces", p.time_zone as "timeZone", p.write_rate as "writeRate", ' +
      `${text('p.dashboard')} as dashboard, a.always200 as "answer200", a.webhook as "webhookAnswer", v.source`,
    'product p left join product_answer a on a.product_key = p."key" ' +
      'left join decoder_version v on v.product_key = p."key" and v.version = p.active_version where p."key"',
    'p."key"',
  );
  const fields = await select<FieldRow>(
    'product_key as "productKey", "key", identifier, type, name, unit, description, role, meaning, ' +
      'overflow_at as "overflowAt", was_boolean as "wasBoolean", display',
    'field where product_key',
    '"key"',
  );
  const configurationFields = await select<ConfigurationRow>(
    `product_key as "productKey", "key", identifier, type, name, description, ${text('default_value')} as "default"`,
    'configuration_field where product_key',
    '"key"',
  );
  const aliases = await select<{ fieldKey: number; identifier: string }>(
    'field_key as "fieldKey", identifier',
    'field_alias where product_key',
    'identifier',
  );
  const examples = await select<ExampleRow>(
    `product_key as "productKey", id, name, ${text('request')} as request, ${text('expected')} as expected`,
    'decoder_example where product_key',
    'created_at, id',
  );
  const rules = await select<RuleColumns>(
    '"key", product_key as "productKey", author_key as "authorKey", name, enabled, tags, definition, notify',
    'rule where product_key',
    '"key"',
  );
  const areNamed = rules.some(({ notify }) => notify !== null && manner(notify).endpointIds !== null);
  const endpoints = areNamed ? await readEndpointNames(em, workspaceId) : [];
  return {
    rules: Map.groupBy(rules, ({ productKey }) => productKey),
    endpoints: new Map(endpoints.map(({ id, reference }) => [id, reference])),
    products: new Map(products.map((row) => [row.productKey, row])),
    fields: Map.groupBy(fields, ({ productKey }) => productKey),
    aliases: Map.groupBy(aliases, ({ fieldKey }) => fieldKey),
    configurationFields: Map.groupBy(configurationFields, ({ productKey }) => productKey),
    examples: Map.groupBy(examples, ({ productKey }) => productKey),
  };
}

function stateOf(name: ProductName, rows: Rows): ProductState {
  const {
    productKey: _,
    ignoreZeroPlaces,
    dashboard,
    answer200,
    webhookAnswer,
    source,
    ...product
  } = must(rows.products.get(name.key));
  const fields = rows.fields.get(name.key) ?? [];
  const configurationFields = rows.configurationFields.get(name.key) ?? [];
  const examples = rows.examples.get(name.key) ?? [];
  const rules = rulesOf(rows.rules.get(name.key) ?? [], { fields, configuration: configurationFields }, rows.endpoints);
  const json = (value: unknown): unknown => sortedJson(JSON.parse(jsonText(value)));
  const tree = {
    ...product,
    key: name.authorKey,
    name: name.title,
    ignoreZeroPlaces: Boolean(ignoreZeroPlaces),
    answer200: answer200 === 1,
    webhookAnswer: webhookAnswer === null ? null : (JSON.parse(webhookAnswer) as unknown),
    fields: fields.map((field) => ({
      ...field,
      display: field.display === null ? null : (JSON.parse(field.display) as unknown),
      aliases: (rows.aliases.get(field.key) ?? []).map(({ identifier }) => identifier).toSorted(),
    })),
    configurationFields: configurationFields.map((field) => ({
      ...field,
      default: field.default === null ? null : (JSON.parse(jsonText(field.default)) as unknown),
    })),
    rules: rules.map(({ tree }) => tree),
    decoder: {
      source,
      examples: examples.map((example) => ({
        name: example.name,
        request: requestTree(JSON.parse(jsonText(example.request)) as Tree),
        expected: json(example.expected),
      })),
    },
    dashboard: json(dashboard),
  };
  return {
    ...name,
    tree: normalOf(PRODUCT, tree),
    fields: new Map(
      fields.map(({ key, identifier, type, wasBoolean }) => [
        identifier,
        { key, type, wasBoolean: Boolean(wasBoolean) },
      ]),
    ),
    configurationFields: new Map(configurationFields.map(({ key, identifier }) => [identifier, key])),
    examples: new Map(examples.map(({ id, name: example }) => [example, id])),
    rules: new Map(rules.map(({ tree, key }) => [nameOfRule(tree), key])),
  };
}

const TAGS = new TagListType();

function rulesOf(
  rows: readonly RuleColumns[],
  ground: Ground,
  references: ReadonlyMap<string, EndpointReference>,
): { key: number; tree: Tree }[] {
  const nthOf = numbering();
  return rows.map(({ key, authorKey, name, enabled, tags, definition, notify }) => {
    const nth = authorKey === null ? nthOf(name) : 1;
    const told = notify === null ? TELL_ALL : manner(notify);
    const endpoints = told.endpointIds?.flatMap((id) => references.get(id) ?? []) ?? null;
    const stored = {
      authorKey,
      name,
      enabled: Boolean(enabled),
      tags: TAGS.convertToJSValue(tags),
      definition: JSON.parse(definition) as RuleDefinition,
      notify: told,
      endpoints: endpoints && inOrder(endpoints),
    };
    return { key, tree: ruleTree(stored, ground, nth) };
  });
}

function manner(notify: string): Notify {
  return JSON.parse(notify) as Notify;
}
