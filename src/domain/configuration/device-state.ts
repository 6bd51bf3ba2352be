import type { EntityManager } from '@mikro-orm/sql';
import { TransactionSlices } from '../../scheduling/yield-to-event-loop.ts';
import { TagListType } from '../entities/tag-list.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { Dialect } from '../ports/database.ts';
import { jsonText, placeholders } from '../sql/long-columns.ts';
import { sortedJson } from '../text/json-text.ts';
import { DEVICE } from './device-shape.ts';
import { normalOf } from './normal-form.ts';
import type { ProductName } from './product-state.ts';
import { nameOfDevice, type ProductReference } from './references.ts';
import type { Tree } from './shape.ts';
import { must } from '../../must.ts';

const READ_AT_ONCE = 500;
const TAGS = new TagListType();

/** A device as it is. */
export interface DeviceState {
  key: number;
  id: string;
  productId: string;
  productKey: number;
  plan: string;
  name: string;
  sharedName: null;
  tree: Tree;
}

/** Devices of a product to read: those with these serial numbers; null: all. */
export interface DevicesOf {
  product: ProductName;
  reference: ProductReference;
  serials: readonly string[] | null;
}

interface Row {
  key: number;
  id: string;
  serialNumber: string;
  name: string;
  plan: string;
  tags: string;
  location: string | null;
  offlineAfterSeconds: number | null;
  writeRate: number | null;
  metadata: unknown;
  configuration: unknown;
}

/** The configuration fields of products: their keys and types, by product and identifier. */
export async function readConfigurationTypes(
  em: EntityManager,
  productKeys: readonly number[],
): Promise<Map<number, Map<string, { key: number; type: ConfigurationType }>>> {
  const types = new Map<number, Map<string, { key: number; type: ConfigurationType }>>();
  for (let at = 0; at < productKeys.length; at += READ_AT_ONCE) {
    const some = productKeys.slice(at, at + READ_AT_ONCE);
    const rows = await em.execute<{ productKey: number; key: number; identifier: string; type: ConfigurationType }[]>(
      'select product_key as "productKey", "key", identifier, type from configuration_field ' +
        `where product_key in (${placeholders(some)})`,
      some,
    );
    for (const { productKey, identifier, key, type } of rows)
      types.set(productKey, (types.get(productKey) ?? new Map()).set(identifier, { key, type }));
  }
  return types;
}

/** The devices as they are, in the order of their creation within each product. */
export async function readDeviceStates(
  em: EntityManager,
  dialect: Dialect,
  wanted: readonly DevicesOf[],
): Promise<DeviceState[]> {
  const types = await readConfigurationTypes(
    em,
    wanted.map(({ product }) => product.key),
  );
  const states: DeviceState[] = [];
  for (const { product, reference, serials } of wanted) {
    const identifiers = new Map([...(types.get(product.key) ?? [])].map(([name, { key }]) => [String(key), name]));
    for await (const rows of pages(em, dialect, product.key, serials))
      states.push(...rows.map((row) => stateOf(row, product, reference, identifiers)));
  }
  return states;
}

async function* pages(
  em: EntityManager,
  dialect: Dialect,
  productKey: number,
  serials: readonly string[] | null,
): AsyncGenerator<Row[]> {
  // SQLite keeps JSON as text; cast it on PostgreSQL, whose driver would parse it.
  const text = (column: string): string => (dialect === 'sqlite' ? column : `${column}::text`);
  const select =
    'select "key", id, serial_number as "serialNumber", name, plan, tags, location, ' +
    'offline_after_seconds as "offlineAfterSeconds", write_rate as "writeRate", ' +
    `${text('metadata')} as metadata, ${text('configuration')} as configuration from device where product_key = ?`;
  const slices = new TransactionSlices();
  if (serials === null)
    for (let after = 0; ;) {
      const rows = await em.execute<Row[]>(`${select} and "key" > ? order by "key" limit ${READ_AT_ONCE}`, [
        productKey,
        after,
      ]);
      yield rows;
      if (rows.length < READ_AT_ONCE) return;
      after = must(rows.at(-1)).key;
      await slices.next();
    }
  for (let at = 0; at < serials.length; at += READ_AT_ONCE) {
    const some = serials.slice(at, at + READ_AT_ONCE);
    const where = `and serial_number in (${placeholders(some)}) order by "key"`;
    yield await em.execute<Row[]>(`${select} ${where}`, [productKey, ...some]);
    await slices.next();
  }
}

function stateOf(
  row: Row,
  product: ProductName,
  reference: ProductReference,
  identifiers: ReadonlyMap<string, string>,
): DeviceState {
  const { key, id, serialNumber, plan, tags, metadata, configuration } = row;
  const own = configuration === null ? {} : (JSON.parse(jsonText(configuration)) as Record<string, unknown>);
  const values = Object.entries(own).flatMap(([field, value]): [string, unknown][] => {
    const identifier = identifiers.get(field);
    return identifier === undefined ? [] : [[identifier, value]];
  });
  const tree = normalOf(DEVICE, {
    ...row,
    product: reference,
    tags: TAGS.convertToJSValue(tags),
    metadata: metadata === null ? null : sortedJson(JSON.parse(jsonText(metadata))),
    configuration: sortedJson(Object.fromEntries(values)),
  });
  const name = JSON.stringify(nameOfDevice({ product: reference, serialNumber }));
  return { key, id, productId: product.id, productKey: product.key, plan, name, sharedName: null, tree };
}
