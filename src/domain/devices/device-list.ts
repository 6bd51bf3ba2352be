import { badInput, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { Database } from '../ports/database.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import type { Device } from '../entities/device.ts';
import { ProductSchema } from '../entities/product.ts';
import { columnOf } from '../ingest-cache/device-rows.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkText } from '../text/text.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { type DeviceFilter, filterConditions, type FilterConditions } from './device-filter.ts';
import { bareProduct, DEVICE_COLUMNS, type DeviceRecord, toDevice } from './device-record.ts';
import {
  type DeviceOrder,
  type DevicePosition,
  HEARD,
  type SortedDevices,
  sortedByValue,
  sortedDevices,
} from './device-order.ts';
import {
  type ByValue,
  byValueOf,
  type Candidate,
  type FieldChoice,
  MAX_LOOKED_THROUGH,
  type ValueLook,
} from './value-look.ts';
import { type Asker, type Conditions, DeviceScan, type Statement } from './device-scan.ts';
import { must } from '../../must.ts';

/** Price of a ms of search for newest values on other threads. */
const SEARCH_COUNTS = 0.25;

/** The dependencies of `DeviceList`; `now` in milliseconds. */
interface DeviceListDeps {
  database: Database;
  ingestCache: IngestCache;
  store: Pick<MeasurementStore, 'showHeard'>;
  shares: Pick<FairScheduler, 'spend' | 'usesMuch'>;
  byValue: ValueLook;
  now: () => number;
}

/** `limit` rows behind the position `after`. */
interface DeviceQuery extends DeviceFilter {
  orderBy: DeviceOrder;
  /** In place of `orderBy`: the newest value of a field. */
  orderByValue?: FieldChoice | null;
  descending: boolean;
  after?: DevicePosition | null;
  limit: number;
}

/** A device with its position in the requested order, and its last receipt time. */
export interface ListedDevice {
  device: Device;
  position: DevicePosition;
  /** Milliseconds; null: never. */
  lastHeardAt: number | null;
}

/** The place of a page in its order. */
interface From {
  after: DevicePosition | null;
  limit: number;
  asker: Asker | undefined;
}

type Row = DeviceRecord & { last_heard_at: number | string | null; sorted_by?: string | number };

/** The selected columns of a `Row`. */
const ROW = `${DEVICE_COLUMNS}, ${HEARD} as last_heard_at`;

/** The devices that a token sees (CONTRACT 7, `devices`). */
export class DeviceList {
  readonly #deps: DeviceListDeps;
  readonly #scan: DeviceScan;

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
    this.#scan = new DeviceScan(deps.database, deps.shares);
  }

  /** One page; FORBIDDEN, NOT_FOUND or BAD_USER_INPUT for an invalid filter. */
  async page(access: Access, query: DeviceQuery, asker?: Asker): Promise<Page<ListedDevice>> {
    const { orderBy, descending, after, limit, values, lowBattery, orderByValue } = query;
    await this.#deps.store.showHeard();
    const byValue = byValueOf(values, lowBattery, orderByValue);
    const sorted = sortedDevices(orderBy, descending, this.#deps.database.dialect);
    const order = orderByValue == null ? sorted : sortedByValue(descending);
    const from = { after: after ?? null, limit: limit + 1, asker };
    const found =
      byValue === null
        ? await this.#first(access, await filterConditions(this.#deps, access, query), sorted, from)
        : await this.#firstByValue(access, query, byValue, { order, ...from });
    const { items, hasNextPage } = pageOf(found, limit);
    const devices = await this.#devices(items);
    const listed = items.map((row, at) => {
      // PostgreSQL gives a bigint as text.
      const lastHeardAt = row.last_heard_at === null ? null : Number(row.last_heard_at);
      return { device: must(devices[at]), position: order.positionOf(row), lastHeardAt };
    });
    return { items: listed, hasNextPage };
  }

  /** Number of devices on all pages together. */
  async count(access: Access, filter: DeviceFilter, asker?: Asker): Promise<number> {
    const byValue = byValueOf(filter.values, filter.lowBattery, null);
    if (byValue !== null) return (await this.#matching(access, filter, byValue, '', asker)).length;
    let count = 0;
    for await (const [row] of this.#each<{ count: number | string }>(access, filter, 'count(*) as count', asker))
      count += Number(row?.count ?? 0);
    return count;
  }

  /** Key and workspace of each device that matches the filter. */
  async places(access: Access, filter: DeviceFilter, asker?: Asker): Promise<{ key: number; workspaceId: string }[]> {
    const byValue = byValueOf(filter.values, filter.lowBattery, null);
    if (byValue !== null)
      return (await this.#matching(access, filter, byValue, '', asker)).map(({ key, workspace_id: workspaceId }) => {
        return { key, workspaceId };
      });
    const places: { key: number; workspaceId: string }[] = [];
    const columns = 'd."key", d.workspace_id as "workspaceId"';
    for await (const rows of this.#each<{ key: number; workspaceId: string }>(access, filter, columns, asker))
      for (const row of rows) places.push(row);
    return places;
  }

  /** The ids of the products of all devices that match the filter. */
  async productIds(access: Access, filter: DeviceFilter): Promise<string[]> {
    const ids = new Map<number, string>();
    const columns = 'distinct p.id, p."key"';
    for await (const rows of this.#each<{ id: string; key: number }>(access, filter, columns))
      for (const { id, key } of rows) ids.set(key, id);
    return [...ids].toSorted(([a], [b]) => a - b).map(([, id]) => id);
  }

  /**
   * The device with this serial number, as `deviceIdentity` compares them, that the token may READ; null: none.
   * CONFLICT when several have it.
   */
  async bySerialNumber(
    access: Access,
    serialNumber: string,
    narrow: Pick<DeviceFilter, 'productId' | 'workspaceId'>,
    asker?: Asker,
  ): Promise<Device | null> {
    checkText(serialNumber, 'serialNumber', { max: 200 });
    const identity = deviceIdentity(serialNumber);
    const { scope, ...conditions } = await filterConditions(this.#deps, access, narrow);
    const named = { sql: [`d.${columnOf(identity)} = ?`], values: [identity] };
    const rows = await this.#scan.rows<Row>(access, select(ROW, [scope.whole, conditions, named], 'limit 2'), asker);
    if (rows.length > 1)
      throw conflict(`serialNumber: several devices have "${serialNumber.slice(0, 100)}"; narrow by productId.`);
    return (await this.#devices(rows))[0] ?? null;
  }

  /** The first rows behind the position, of devices that meet conditions on values or are sorted by one. */
  async #firstByValue(
    access: Access,
    filter: DeviceFilter,
    byValue: ByValue,
    {
      order,
      after,
      limit,
      asker,
    }: From & { order: Pick<SortedDevices, 'columns' | 'positionOf' | 'compare' | 'merge'> },
  ): Promise<Row[]> {
    const found = order.merge(await this.#matching(access, filter, byValue, order.columns, asker), []);
    const behind = after === null ? found : found.filter((row) => order.compare(order.positionOf(row), after) > 0);
    const first = behind.slice(0, limit);
    if (first.length === 0) return [];
    const keys = { sql: [`d."key" in (${first.map(({ key }) => key).join(', ')})`], values: [] };
    const rows = await this.#scan.rows<Row>(access, select(ROW, [keys]), asker);
    const byKey = new Map(rows.map((row) => [row.key, row]));
    // Leave out devices that were deleted in between.
    return first.flatMap(({ key, sorted_by }) => {
      const row = byKey.get(key);
      return row === undefined ? [] : [{ ...row, ...(sorted_by === undefined ? {} : { sorted_by }) }];
    });
  }

  /** All devices that match the filter with its conditions on values, at most 10,000 looked through. */
  async #matching(
    access: Access,
    filter: DeviceFilter,
    byValue: ByValue,
    columns: string,
    asker: Asker = {},
  ): Promise<Candidate[]> {
    const { database, shares } = this.#deps;
    const candidates: Candidate[] = [];
    const own = `d."key", d.workspace_id, p.id as product_id${columns}`;
    for await (const rows of this.#each<Candidate>(access, filter, own, asker)) {
      for (const row of rows) candidates.push(row);
      if (candidates.length > MAX_LOOKED_THROUGH)
        throw badInput(
          `These are more than ${MAX_LOOKED_THROUGH} devices, too many to look at the values of each: narrow by productId, tags or search.`,
        );
    }
    const account = asker.spend ?? ((milliseconds: number) => shares.spend(access, milliseconds));
    const spend = (milliseconds: number): void => {
      asker.check?.();
      account(milliseconds * SEARCH_COUNTS);
    };
    const workspaces = filter.workspaceId == null ? access.workspaceIdsWith('READ') : [filter.workspaceId];
    const isField = (identifier: string): Promise<boolean> => hasField(database, workspaces, identifier);
    return this.#deps.byValue.find(access, candidates, byValue, { isField, spend });
  }

  /** Selects from all devices that match the filter, slice by slice. */
  async *#each<R>(access: Access, filter: DeviceFilter, columns: string, asker?: Asker): AsyncGenerator<R[]> {
    await this.#deps.store.showHeard();
    const { scope, searches, ...conditions } = await filterConditions(this.#deps, access, filter);
    yield* this.#scan.slices<R>(access, scope, { searches, asker }, (slice) => select(columns, [conditions, slice]));
  }

  /** The first `limit` rows behind the position. */
  async #first(
    access: Access,
    { scope, searches, ...conditions }: FilterConditions,
    order: SortedDevices,
    { after, limit, asker }: From,
  ): Promise<Row[]> {
    const behind = after === null ? [conditions] : [conditions, order.behind(after)];
    const selected = (more: Conditions[]): Statement =>
      select(`${ROW}${order.columns}`, [...behind, ...more], `${order.sql} limit ${limit}`);
    let found: Row[] = [];
    const isEnough = (key: number): boolean => {
      const last = found[limit - 1]?.key;
      return order.byKey && last !== undefined && (order.descending ? key <= last : key >= last);
    };
    const from = order.byKey ? (after?.[1] ?? null) : null;
    const way = { descending: order.descending, after: from, isEnough, searches, asker };
    const parts = order.byKey && conditions.areAll ? null : scope.parts;
    const slices = this.#scan.slices<Row>(access, { ...scope, parts }, way, (slice) => {
      const last = found[limit - 1];
      return selected(last === undefined ? [slice] : [slice, order.before(order.positionOf(last))]);
    });
    for await (const rows of slices) found = order.merge(found, rows).slice(0, limit);
    return found;
  }

  /** Plain devices with their products, each read once: entities would take longer than the rest of a page. */
  async #devices(rows: readonly Row[]): Promise<Device[]> {
    if (rows.length === 0) return [];
    const keys = [...new Set(rows.map((row) => row.product_key))];
    const products = await this.#deps.database.read().find(ProductSchema, { key: { $in: keys } });
    const byKey = new Map(products.map((product) => [product.key, product]));
    return rows.map((row) => {
      // The product and the device were deleted since the row was read: use what the row has.
      const product = byKey.get(row.product_key) ?? bareProduct(row);
      return toDevice(row, product);
    });
  }
}

function select(columns: string, conditions: readonly Conditions[], tail = ''): Statement {
  const from = 'from device d join product p on p."key" = d.product_key';
  const where = conditions.flatMap(({ sql }) => sql).join(' and ');
  return {
    text: `select ${columns} ${from} where ${where} ${tail}`,
    values: conditions.flatMap(({ values }) => values),
  };
}

/** True when a product of the workspaces has the field, or had it under this name. */
async function hasField(database: Database, workspaceIds: readonly string[], identifier: string): Promise<boolean> {
  if (identifier.includes('\0')) return false;
  const of = `p.workspace_id in (${workspaceIds.map(() => '?').join(', ')})`;
  const rows = await database.read().execute(
    `select 1 from field f join product p on p."key" = f.product_key where f.identifier = ? and ${of} union all
     select 1 from field_alias a join product p on p."key" = a.product_key where a.identifier = ? and ${of} limit 1`,
    [identifier, ...workspaceIds, identifier, ...workspaceIds],
  );
  return rows.length > 0;
}
