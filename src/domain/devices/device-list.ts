import { badInput, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { containsSql } from '../sql/contains.ts';
import type { Database } from '../ports/database.ts';
import { bareDigits, deviceIdentity } from '../text/device-identity.ts';
import type { Device } from '../entities/device.ts';
import { ProductSchema } from '../entities/product.ts';
import { columnOf } from '../ingest-cache/device-rows.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from './offline-after.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkText, foldCase } from '../text/text.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { checkTags } from './device-input.ts';
import { bareProduct, DEVICE_COLUMNS, type DeviceRecord, toDevice } from './device-record.ts';
import {
  type DeviceOrder,
  type DevicePosition,
  HEARD,
  LAST_HEARD,
  type SortedDevices,
  sortedDevices,
} from './device-order.ts';
import { type Asker, type Conditions, DeviceScan, type Scope, type Statement } from './device-scan.ts';
import { must } from '../../must.ts';

/** Maximum ids in a filter. */
const MAX_IDS = 1000;

const LAST_HEARD_IN_TIME = `exists (
  select 1 from device_state s where s.device_key = d."key" and s.last_heard_at > 0
    and s.last_heard_at >= ? - coalesce(d.offline_after_seconds, p.offline_after_seconds, ${DEFAULT_OFFLINE_AFTER_SECONDS}) * 1000.0)`;

/** The dependencies of `DeviceList`; `now` in milliseconds. */
interface DeviceListDeps {
  database: Database;
  ingestCache: IngestCache;
  store: Pick<MeasurementStore, 'showHeard'>;
  shares: Pick<FairScheduler, 'spend' | 'usesMuch'>;
  now: () => number;
}

/**
 * A filter: all given conditions must hold. `search`: part of name or serial number, in any case (of an EUI: in any
 * notation); `tags`: every one of them, `anyTags`: at least one; `online`: heard of within `offlineAfterSeconds`;
 * `lastHeardBefore` / `lastHeardAfter`: receipt time in milliseconds, exclusive / inclusive.
 */
export interface DeviceFilter {
  workspaceId?: string | null | undefined;
  productId?: string | null | undefined;
  ids?: readonly string[] | null | undefined;
  search?: string | null | undefined;
  tags?: readonly string[] | null | undefined;
  anyTags?: readonly string[] | null | undefined;
  online?: boolean | null | undefined;
  lastHeardBefore?: number | null | undefined;
  lastHeardAfter?: number | null | undefined;
}

/** `limit` rows behind the position `after`. */
interface DeviceQuery extends DeviceFilter {
  orderBy: DeviceOrder;
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

/** The conditions of a filter within the token's rights. */
interface Filter extends Conditions {
  /** The devices that may match. */
  scope: Scope;
  /** True when every device of a scope of one part matches: an index has them in the order of their keys. */
  areAll: boolean;
  /** Number of texts searched in each device. */
  searches: number;
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
    const { orderBy, descending, after, limit } = query;
    await this.#deps.store.showHeard();
    const filter = await this.#filter(access, query);
    const order = sortedDevices(orderBy, descending, this.#deps.database.dialect);
    const from = { after: after ?? null, limit: limit + 1, asker };
    const { items, hasNextPage } = pageOf(await this.#first(access, filter, order, from), limit);
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
    let count = 0;
    for await (const [row] of this.#each<{ count: number | string }>(access, filter, 'count(*) as count', asker))
      count += Number(row?.count ?? 0);
    return count;
  }

  /** Key and workspace of each device that matches the filter. */
  async places(access: Access, filter: DeviceFilter, asker?: Asker): Promise<{ key: number; workspaceId: string }[]> {
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
    const { scope, ...conditions } = await this.#filter(access, narrow);
    const named = { sql: [`d.${columnOf(identity)} = ?`], values: [identity] };
    const rows = await this.#scan.rows<Row>(access, select(ROW, [scope.whole, conditions, named], 'limit 2'), asker);
    if (rows.length > 1)
      throw conflict(`serialNumber: several devices have "${serialNumber.slice(0, 100)}"; narrow by productId.`);
    return (await this.#devices(rows))[0] ?? null;
  }

  /** Selects from all devices that match the filter, slice by slice. */
  async *#each<R>(access: Access, filter: DeviceFilter, columns: string, asker?: Asker): AsyncGenerator<R[]> {
    await this.#deps.store.showHeard();
    const { scope, searches, ...conditions } = await this.#filter(access, filter);
    yield* this.#scan.slices<R>(access, scope, { searches, asker }, (slice) => select(columns, [conditions, slice]));
  }

  /** The first `limit` rows behind the position. */
  async #first(
    access: Access,
    { scope, searches, ...conditions }: Filter,
    order: SortedDevices,
    { after, limit, asker }: { after: DevicePosition | null; limit: number; asker: Asker | undefined },
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

  async #filter(access: Access, filter: DeviceFilter): Promise<Filter> {
    const { database, ingestCache, now } = this.#deps;
    const sql: string[] = [];
    const values: unknown[] = [];
    const add = (condition: string, ...given: unknown[]): void => {
      sql.push(condition);
      values.push(...given);
    };
    if (filter.workspaceId != null) access.requireWorkspace(filter.workspaceId, 'READ');
    const workspaces = filter.workspaceId == null ? access.workspaceIdsWith('READ') : [filter.workspaceId];
    const ofWorkspaces: Conditions = { sql: [isOneOf('d.workspace_id', workspaces)], values: workspaces };
    const isNarrowed = filter.productId != null || filter.ids != null;
    if (isNarrowed) add(must(ofWorkspaces.sql[0]), ...workspaces);
    const having = (column: string, value: string | number): Conditions => ({
      sql: [`d.${column} = ?`],
      values: [value],
    });
    let scope: Scope = isNarrowed
      ? { whole: { sql: [], values: [] }, parts: null }
      : { whole: ofWorkspaces, parts: workspaces.map((id) => having('workspace_id', id)) };
    if (filter.productId != null) {
      const product = await visibleProduct(ingestCache, access, filter.productId, 'READ');
      add('d.product_key = ?', product.key);
      scope = { ...scope, parts: [having('product_key', product.key)] };
    }
    const ofScope = sql.length;
    if (access.limited) {
      const productIds = [...(access.productIds ?? [])];
      const deviceIds = [...(access.deviceIds ?? [])];
      add(`(${isOneOf('d.id', deviceIds)} or ${isOneOf('p.id', productIds)})`, ...deviceIds, ...productIds);
    }
    const searches = (filter.tags ?? []).length + (filter.anyTags ?? []).length;
    if (filter.ids != null) {
      const ids = checkIds(filter.ids);
      add(isOneOf('d.id', ids), ...ids);
      scope = { ...scope, parts: searches > 1 ? [{ sql: [isOneOf('d.id', ids)], values: ids }] : null };
    }
    if (filter.search != null && filter.search !== '') {
      const text = foldCase(checkText(filter.search, 'search', { max: 200 }));
      const found = containsSql(database.dialect, 'd.search_text');
      const digits = bareDigits(text);
      // Search digits of an EUI in this column too, which has them without separators.
      if (digits === null) add(found, text);
      else add(`(${found} or ${containsSql(database.dialect, 'd.serial_folded')})`, text, digits);
    }
    const hasTag = containsSql(database.dialect, 'd.tags');
    for (const tag of checkTags(filter.tags ?? [], 'tags')) add(hasTag, `\n${tag}\n`);
    if (filter.anyTags != null) {
      const any = checkTags(filter.anyTags, 'anyTags');
      if (any.length === 0) throw badInput('anyTags: name at least one tag, or leave it out.');
      add(`(${any.map(() => hasTag).join(' or ')})`, ...any.map((tag) => `\n${tag}\n`));
    }
    if (filter.online != null) add(`${filter.online ? '' : 'not '}${LAST_HEARD_IN_TIME}`, now());
    if (filter.lastHeardBefore != null) add(`${LAST_HEARD} < ?`, filter.lastHeardBefore);
    if (filter.lastHeardAfter != null) add(`${LAST_HEARD} >= ?`, filter.lastHeardAfter);
    return { sql, values, scope, areAll: sql.length === ofScope && scope.parts?.length === 1, searches };
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

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${values.map(() => '?').join(', ')})`;
}

function checkIds(ids: readonly string[]): string[] {
  if (ids.length > MAX_IDS) throw badInput(`ids: at most ${MAX_IDS}, not ${ids.length}.`);
  return ids.filter((id) => !id.includes('\0')).map((id) => id.toLowerCase());
}
