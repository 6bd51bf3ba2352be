import type { Database } from '../../domain/ports/database.ts';
import { bytesOfDevice, readDevices } from '../../domain/devices/device-record.ts';
import { type LongColumn, longJsonPieces, readLongJson } from '../../domain/sql/long-json.ts';
import { type ExampleTexts, exampleSizes, MAX_EXAMPLE_PART, readExamples } from '../../domain/decoders/example-rows.ts';
import { type DecoderVersion, DecoderVersionSchema } from '../../domain/entities/decoder-version.ts';
import type { Device } from '../../domain/entities/device.ts';
import { type Endpoint, EndpointSchema } from '../../domain/entities/endpoint.ts';
import { type Field, FieldSchema } from '../../domain/entities/field.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { yieldForLarge } from '../../scheduling/yield-for-large.ts';
import type { History, LatestWanted, MeasuredValue } from '../../domain/history/history.ts';
import type { MeasurementStore } from '../../domain/ports/store.ts';
import { type Product, ProductSchema } from '../../domain/entities/product.ts';
import { dashboardSizes, MAX_DASHBOARD, readDashboards } from '../../domain/products/dashboard-rows.ts';
import {
  type ConfigurationRow,
  type FieldRow,
  partCounts,
  readAliases,
  readConfigurationFields,
  readFields,
} from '../../domain/products/field-rows.ts';
import { bytesOfAnswers, readAnswers } from '../../domain/products/product-answers.ts';
import type { ProductAnswers } from '../../domain/ingest-cache/product-rows.ts';
import { readRules, readRulesByKey, ruleCounts, type RuleRow } from '../../domain/rules/rule-rows.ts';
import type { WorkBudget } from './work-budget.ts';
import { deliverySizes, type DeliveryTexts, readDeliveryTexts } from '../../domain/outgoing/delivery-rows.ts';
import { numbering } from '../../domain/sql/numbering.ts';
import type { TokenScope } from '../../domain/entities/token.ts';
import { personalScopes } from '../../domain/accounts/personal-scopes.ts';
import { bytesOfLimits, readTokenLimits, type TokenLimits } from '../../domain/accounts/token-limits.ts';
import { type Workspace, WorkspaceSchema } from '../../domain/entities/workspace.ts';
import { Batch } from './batch.ts';
import { latestBytes, latestSizes } from './latest-size.ts';
import type { Promised } from './promised.ts';
import { StoredJson } from './stored-json.ts';
import { must } from '../../must.ts';

/** Maximum decoder sources per look-up: on SQLite reading them holds the event loop. */
const SOURCES_AT_ONCE = 4;
/** Maximum fields per look-up: as many as a product may have. */
const PARTS_AT_ONCE = 500;
const PART_BYTES = 100;
/** Maximum products' answers per look-up, up to 16 KiB each. */
const ANSWERS_AT_ONCE = 100;
const MAX_SOURCE_BYTES = 256 * 1024;
/** Maximum rules per look-up, up to 64 KiB each, mostly one. */
const RULES_AT_ONCE = 200;
const RULE_BYTES = 2_000;
/** Maximum devices per look-up. */
const DEVICES_AT_ONCE = 500;
const DEVICE_BYTES = 1_000;
/** Bytes of bodies and tries of deliveries per look-up. */
const DELIVERIES_BYTES = 262_144;
/** Maximum tokens' limits per look-up, up to 2,000 ids each. */
const LIMITS_AT_ONCE = 8;
/** Maximum lists per look-up: those of several pages together would be one long piece. */
const LISTS_AT_ONCE = 100;
const FEW_LISTS = 10;
/** Maximum newest values per look-up. */
const LATEST_AT_ONCE = 10_000;

/** Loads the children of lists: one query for all parents of a level. Number keys are the rows' small keys. */
export interface Loaders {
  product: Batch<number, Product | null>;
  /** The dashboard of a product that was read; null: the product is gone. */
  dashboard: Batch<number, StoredJson | null>;
  /** The widgets of a workspace's dashboard, by its key; null: it is gone. */
  widgets: Batch<number, StoredJson | null>;
  /** A workspace, by its id. */
  workspace: Batch<string, Workspace | null>;
  /** Reads a list once for all parts of the operation that ask for one of that name. */
  list: <Part>(name: string, read: () => Promise<readonly Part[]>) => Promised<Part[]>;
  /** Scopes of a user's PERSONAL tokens in one workspace or another, by user id. */
  personalScopes: Batch<string, TokenScope[]>;
  /** Limits of a listed token, by its id; null: it is gone. */
  tokenLimits: Batch<string, TokenLimits | null>;
  answersOfProduct: Batch<number, ProductAnswers>;
  fieldsOfProduct: Batch<number, FieldRow[]>;
  /** Earlier identifiers of a field, by its key. */
  aliasesOfField: Batch<number, string[]>;
  configurationOfProduct: Batch<number, ConfigurationRow[]>;
  rulesOfProduct: Batch<number, RuleRow[]>;
  /** A rule, by its key. */
  rule: Batch<number, RuleRow | null>;
  field: Batch<number, Field | null>;
  /** The active decoder of a product, without its source; null: it has none. */
  activeDecoder: Batch<Product, DecoderVersion | null, number>;
  /** Sources of versions that came without. */
  decoderSource: Batch<DecoderVersion, string | null, string>;
  /** The long parts of an example, by its id; null: it is gone. */
  exampleTexts: Batch<string, ExampleTexts | null>;
  /** The long parts of a delivery, by its id; null: it is gone. */
  deliveryTexts: Batch<string, DeliveryTexts | null>;
  /** An endpoint, by its small key; null: it is gone. */
  endpoint: Batch<number, Endpoint | null>;
  /** A device, by its id. */
  device: Batch<string, Device | null>;
  deviceByKey: Batch<number, Device | null>;
  /** Metadata of a device that was read, by its key; null: it has none, or is gone. */
  metadata: Batch<number, StoredJson | null>;
  /** Own configuration of a device that was read, by its key: key of a configuration field → its own value. */
  configuration: Batch<number, StoredJson | null>;
  /** The newest values of a device. */
  latest: Batch<LatestWanted, MeasuredValue[], string>;
  /** Receipt time of the device's last batch in milliseconds; null: it never sent one. */
  lastHeard: Batch<number, number | null>;
}

/** The sources of loaders. */
export interface LoaderSources {
  database: Database;
  store: MeasurementStore;
  history: History;
}

/**
 * New for each operation, and for each pushed event of a subscription: nothing may live longer than one answer. What can
 * be long counts to the budget.
 */
export function createLoaders({ database, store, history }: LoaderSources, budget: WorkBudget): Loaders {
  // A long list is not read again for each device.
  const numberOf = numbering();
  const stored = (column: LongColumn): Batch<number, StoredJson | null> =>
    new Batch(async (keys) => {
      const { dialect } = database;
      const texts = new Map<number, string>();
      for (const piece of await longJsonPieces(database.read(), dialect, column, keys)) {
        const read = async (): Promise<Map<number, string>> => {
          await yieldToEventLoop();
          return readLongJson(database.read(), dialect, column, piece);
        };
        for (const [key, text] of await budget.load(read, (some) => textBytes(some.values()))) texts.set(key, text);
      }
      return keys.map((key) => (texts.has(key) ? new StoredJson(must(texts.get(key))) : null));
    });
  const dashboards = (table: 'product' | 'dashboard'): Batch<number, StoredJson | null> =>
    new Batch(
      async (keys) => {
        const texts = await budget.load(
          () => yieldToEventLoop().then(() => readDashboards(database, table, keys)),
          (read) => textBytes(read.values()),
        );
        return keys.map((key) => (texts.has(key) ? new StoredJson(must(texts.get(key))) : null));
      },
      { sizesOf: (keys) => dashboardSizes(database, table, keys), atMost: MAX_DASHBOARD },
    );
  const lists = new Batch<{ name: string; read: () => Promise<readonly unknown[]> }, readonly unknown[], string>(
    async (reads) => {
      if (reads.length > FEW_LISTS) await yieldToEventLoop();
      return Promise.all(reads.map(({ read }) => read().catch((error: Error) => error)));
    },
    { nameOf: ({ name }) => name, atMost: LISTS_AT_ONCE },
  );
  return {
    product: new Batch(async (keys) => {
      const rows = await database.read().find(ProductSchema, { key: { $in: [...keys] } });
      return inOrder(keys, rows, (row) => row.key);
    }),
    dashboard: dashboards('product'),
    widgets: dashboards('dashboard'),
    workspace: new Batch(async (ids) => {
      const rows = await database.read().find(WorkspaceSchema, { id: { $in: [...ids] } });
      return inOrder(ids, rows, (row) => row.id);
    }),
    list: (name, read) => lists.load({ name, read }) as Promised<never[]>,
    personalScopes: new Batch(async (userIds) => {
      const scopes = await personalScopes(database, userIds);
      return userIds.map((id) => scopes.get(id) ?? []);
    }),
    tokenLimits: new Batch(
      async (ids) => {
        const limits = await budget.load(
          () => yieldToEventLoop().then(() => readTokenLimits(database, ids)),
          (read) => bytesOfLimits(read.values()),
        );
        return ids.map((id) => limits.get(id) ?? null);
      },
      { atMost: LIMITS_AT_ONCE },
    ),
    answersOfProduct: new Batch(
      (keys) =>
        budget.load<ProductAnswers[]>(() => yieldToEventLoop().then(() => readAnswers(database, keys)), bytesOfAnswers),
      { atMost: ANSWERS_AT_ONCE },
    ),
    fieldsOfProduct: new Batch(
      (keys) => budget.load<FieldRow[][]>(() => yieldToEventLoop().then(() => readFields(database, keys)), rowBytes),
      { sizesOf: (keys) => partCounts(database, 'field', keys), atMost: PARTS_AT_ONCE },
    ),
    aliasesOfField: new Batch((keys) => yieldToEventLoop().then(() => readAliases(database, keys)), {
      atMost: PARTS_AT_ONCE,
    }),
    configurationOfProduct: new Batch(
      (keys) =>
        budget.load<ConfigurationRow[][]>(
          () => yieldToEventLoop().then(() => readConfigurationFields(database, keys)),
          rowBytes,
        ),
      { sizesOf: (keys) => partCounts(database, 'configuration_field', keys), atMost: PARTS_AT_ONCE },
    ),
    rulesOfProduct: new Batch(
      (keys) =>
        budget.load<RuleRow[][]>(
          () => yieldToEventLoop().then(() => readRules(database, keys)),
          (lists) => lists.flat().length * RULE_BYTES,
        ),
      { sizesOf: (keys) => ruleCounts(database, keys), atMost: RULES_AT_ONCE },
    ),
    rule: new Batch(
      async (keys) => {
        const rows = await budget.load(
          () => yieldToEventLoop().then(() => readRulesByKey(database, keys)),
          (found) => found.length * RULE_BYTES,
        );
        return inOrder(keys, rows, (row) => row.key);
      },
      { atMost: RULES_AT_ONCE },
    ),
    field: new Batch(async (keys) => {
      const rows = await database.read().find(FieldSchema, { key: { $in: [...keys] } });
      return inOrder(keys, rows, (row) => row.key);
    }),
    activeDecoder: new Batch(
      async (products) => {
        const active = products.flatMap(({ key, activeVersion }) =>
          activeVersion == null ? [] : [{ product: key, version: activeVersion }],
        );
        const rows =
          active.length === 0
            ? []
            : await database.read().find(DecoderVersionSchema, { $or: active }, { exclude: ['source'] });
        const byProduct = new Map(rows.map((row) => [row.product.key, row as DecoderVersion]));
        return products.map(({ key }) => byProduct.get(key) ?? null);
      },
      { nameOf: ({ key }) => key },
    ),
    decoderSource: new Batch(
      async (versions) => {
        const wanted = versions.map(({ product, version }) => ({ product: product.key, version }));
        const sources = await budget.load(async () => {
          await yieldForLarge(versions.length * MAX_SOURCE_BYTES);
          const rows = await database.read().find(DecoderVersionSchema, { $or: wanted });
          return Object.fromEntries(rows.map((row) => [`${row.product.key} ${row.version}`, row.source]));
        });
        return versions.map(({ product, version }) => sources[`${product.key} ${version}`] ?? null);
      },
      { nameOf: ({ product, version }) => `${product.key} ${version}`, atMost: SOURCES_AT_ONCE },
    ),
    exampleTexts: new Batch(
      async (ids) => {
        const texts = await budget.load(
          () => yieldToEventLoop().then(() => readExamples(database, ids)),
          (read) => textBytes([...read.values()].flatMap(({ request, expected }) => [request, expected])),
        );
        return ids.map((id) => texts.get(id) ?? null);
      },
      { sizesOf: (ids) => exampleSizes(database, ids), atMost: 2 * MAX_EXAMPLE_PART },
    ),
    deliveryTexts: new Batch(
      async (ids) => {
        const texts = await budget.load(
          () => yieldToEventLoop().then(() => readDeliveryTexts(database, ids)),
          (read) => textBytes([...read.values()].flatMap(({ body, attempts }) => [body, attempts])),
        );
        return ids.map((id) => texts.get(id) ?? null);
      },
      { sizesOf: (ids) => deliverySizes(database, ids), atMost: DELIVERIES_BYTES },
    ),
    endpoint: new Batch(async (keys) => {
      const rows = await database.read().find(EndpointSchema, { key: { $in: [...keys] } });
      return inOrder(keys, rows, (row) => row.key);
    }),
    device: new Batch(
      async (ids) => {
        await yieldForLarge(ids.length * DEVICE_BYTES);
        const rows = await budget.load(
          () => readDevices(database, 'id', ids),
          (found) => found.reduce((bytes, device) => bytes + bytesOfDevice(device), 0),
        );
        return inOrder(ids, rows, (row) => row.id);
      },
      { atMost: DEVICES_AT_ONCE },
    ),
    deviceByKey: new Batch(
      async (keys) => {
        await yieldForLarge(keys.length * DEVICE_BYTES);
        const rows = await budget.load(
          () => readDevices(database, 'key', keys),
          (found) => found.reduce((bytes, device) => bytes + bytesOfDevice(device), 0),
        );
        return inOrder(keys, rows, (row) => row.key);
      },
      { atMost: DEVICES_AT_ONCE },
    ),
    metadata: stored('metadata'),
    configuration: stored('configuration'),
    latest: new Batch(
      async (wanted) => {
        await budget.room(0);
        const found = await history.latestOfMany(wanted, () => budget.check());
        budget.took(latestBytes(found));
        return found;
      },
      {
        nameOf: ({ device, fields }) => `${device.key} ${fields == null ? '*' : numberOf(fields)}`,
        sizesOf: (wanted) => Promise.resolve(latestSizes(wanted)),
        atMost: LATEST_AT_ONCE,
      },
    ),
    lastHeard: new Batch(async (keys) => {
      const heard = await store.lastHeard([...keys]);
      return keys.map((key) => heard.get(key) ?? null);
    }),
  };
}

/** Estimates the bytes of rows in which any text may be long. */
function rowBytes(lists: readonly (readonly object[])[]): number {
  let bytes = 0;
  for (const rows of lists)
    for (const row of rows) {
      bytes += PART_BYTES;
      for (const value of Object.values(row)) if (typeof value === 'string') bytes += value.length;
    }
  return bytes;
}

function textBytes(texts: Iterable<string>): number {
  let bytes = 0;
  for (const text of texts) bytes += text.length;
  return bytes;
}

function inOrder<Key, Row>(keys: readonly Key[], rows: Row[], keyOf: (row: Row) => Key): (Row | null)[] {
  const byKey = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.map((key) => byKey.get(key) ?? null);
}
