import { badInput, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { containsSql } from '../contains.ts';
import type { Database } from '../database.ts';
import type { Device } from '../entities/device.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import type { IngestCache } from '../ingest-cache/ingest-cache.ts';
import { visibleProduct } from '../ingest-cache/visible-product.ts';
import { LoopTurns } from '../loop-turns.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from '../offline-after.ts';
import { type Page, pageOf } from '../page.ts';
import { checkText, foldCase } from '../text.ts';
import type { WorkShares } from '../work-shares.ts';
import { checkTags } from './device-input.ts';
import { DEVICE_COLUMNS, type DeviceRecord, toDevice } from './device-record.ts';
import { isHexadecimalEui } from './serial.ts';

/** How many devices a list may be narrowed to by id. */
const MAX_IDS = 1000;
/** Looking for a text goes through all devices: what takes longer than most lists is held against who asks … */
const USUAL_MS = 1;
/** … of what PostgreSQL works on other processors a quarter. */
const ELSEWHERE_COUNTS = 0.25;

/** What a device is sorted by (contract `DeviceOrder`); ties by the order of creation. */
export const DEVICE_ORDERS = ['NAME', 'LAST_HEARD', 'CREATED'] as const;
/** One of `DEVICE_ORDERS`. */
export type DeviceOrder = (typeof DEVICE_ORDERS)[number];

/** 0 is NOT_HEARD: only what was brought in from files. */
const HEARD = '(select s.last_heard_at from device_state s where s.device_key = d."key" and s.last_heard_at > 0)';
/** Never heard counts as before every time. */
const LAST_HEARD = `coalesce(${HEARD}, -1)`;
const LAST_HEARD_IN_TIME = `exists (
  select 1 from device_state s where s.device_key = d."key" and s.last_heard_at > 0
    and s.last_heard_at >= ? - coalesce(d.offline_after_seconds, p.offline_after_seconds, ${DEFAULT_OFFLINE_AFTER_SECONDS}) * 1000.0)`;

/** What `DeviceList` is made of; `now` in milliseconds. */
interface DeviceListDeps {
  database: Database;
  ingestCache: IngestCache;
  store: Pick<MeasurementStore, 'showHeard'>;
  shares: Pick<WorkShares, 'spend'>;
  now: () => number;
}

/**
 * All conditions given must hold. `search`: part of name or serial number, in any case; `tags`: every one of them,
 * `anyTags`: at least one; `online`: heard of within `offlineAfterSeconds`; `lastHeardBefore` / `lastHeardAfter`: receipt
 * time in milliseconds, exclusive / inclusive.
 */
interface DeviceFilter {
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

/** Where a device stands in an order: the value it is sorted by (its key alone for CREATED), then its key. */
export type DevicePosition = [sortedBy: string | number, key: number];

/** `limit` rows behind the position `after`. */
interface DeviceQuery extends DeviceFilter {
  orderBy: DeviceOrder;
  descending: boolean;
  after?: DevicePosition | null;
  limit: number;
}

/** A device, where it stands in the order that was asked for, and when something of it was last received. */
export interface ListedDevice {
  device: Device;
  position: DevicePosition;
  /** Milliseconds; null: never. */
  lastHeardAt: number | null;
}

/** Conditions that must all hold, with the values of their question marks. */
interface Conditions {
  sql: string[];
  values: unknown[];
}

type Row = DeviceRecord & { last_heard_at: number | string | null; sorted_by?: string | number };

/** The devices that a token sees (CONTRACT 7, `devices`). */
export class DeviceList {
  readonly #deps: DeviceListDeps;
  readonly #turns = new LoopTurns();

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
  }

  /** One page; FORBIDDEN, NOT_FOUND or BAD_USER_INPUT for a filter that cannot be. */
  async page(access: Access, query: DeviceQuery): Promise<Page<ListedDevice>> {
    const { orderBy, descending, after, limit } = query;
    await this.#deps.store.showHeard();
    const { sql, values } = await this.#conditions(access, query);
    const column = sortColumn(orderBy, this.#deps.database.dialect);
    const direction = descending ? 'desc' : 'asc';
    const beyond = descending ? '<' : '>';
    if (after != null) {
      const [sortedBy, key] = after;
      sql.push(column === null ? `d."key" ${beyond} ?` : `(${column}, d."key") ${beyond} (?, ?)`);
      values.push(...(column === null ? [key] : [sortedBy, key]));
    }
    const order = column === null ? '' : `${column} ${direction}, `;
    const found = await this.#rows(
      access,
      { sql, values },
      column === null ? '' : `, ${column} as sorted_by`,
      `order by ${order}d."key" ${direction} limit ${limit + 1}`,
    );
    const { items, hasNextPage } = pageOf(found, limit);
    const devices = await this.#devices(items);
    const listed = items.map((row, at) => {
      // PostgreSQL gives a bigint as text.
      const sortedBy = orderBy === 'NAME' ? String(row.sorted_by) : Number(row.sorted_by ?? row.key);
      const lastHeardAt = row.last_heard_at === null ? null : Number(row.last_heard_at);
      return { device: devices[at]!, position: [sortedBy, row.key] as DevicePosition, lastHeardAt };
    });
    return { items: listed, hasNextPage };
  }

  /** How many devices all pages together hold. */
  async count(access: Access, filter: DeviceFilter): Promise<number> {
    await this.#deps.store.showHeard();
    const conditions = await this.#conditions(access, filter);
    const rows = await this.#select<{ count: number | string }>(access, 'count(*) as count', conditions);
    return Number(rows[0]?.count ?? 0);
  }

  /** The ids of the products of all devices that the filter lets through. */
  async productIds(access: Access, filter: DeviceFilter): Promise<string[]> {
    await this.#deps.store.showHeard();
    const conditions = await this.#conditions(access, filter);
    const rows = await this.#select<{ id: string; key: number }>(access, 'distinct p.id, p."key"', conditions);
    return rows.toSorted((a, b) => a.key - b.key).map(({ id }) => id);
  }

  /**
   * The device with this serial number that the token may READ; null: none. Exact; a hexadecimal EUI also in another
   * case. CONFLICT when several have it.
   */
  async bySerialNumber(
    access: Access,
    serialNumber: string,
    narrow: Pick<DeviceFilter, 'productId' | 'workspaceId'>,
  ): Promise<Device | null> {
    checkText(serialNumber, 'serialNumber', { max: 200 });
    const find = async (column: string, text: string): Promise<Device | null> => {
      const { sql, values } = await this.#conditions(access, narrow);
      const rows = await this.#rows(
        access,
        { sql: [...sql, `d.${column} = ?`], values: [...values, text] },
        '',
        'limit 2',
      );
      if (rows.length > 1)
        throw conflict(`serialNumber: several devices have "${serialNumber.slice(0, 100)}"; narrow by productId.`);
      return (await this.#devices(rows))[0] ?? null;
    };
    const exact = await find('serial_number', serialNumber);
    if (exact !== null || !isHexadecimalEui(serialNumber)) return exact;
    return find('serial_folded', foldCase(serialNumber));
  }

  #rows(access: Access, conditions: Conditions, more: string, tail: string): Promise<Row[]> {
    return this.#select<Row>(access, `${DEVICE_COLUMNS}, ${HEARD} as last_heard_at${more}`, conditions, tail);
  }

  #select<R>({ tokenId }: Access, columns: string, { sql, values }: Conditions, tail = ''): Promise<R[]> {
    const { database, shares } = this.#deps;
    const isHere = database.dialect === 'sqlite';
    const text = `select ${columns} from device d join product p on p."key" = d.product_key where ${sql.join(' and ')} ${tail}`;
    const select = async (): Promise<R[]> => {
      const from = performance.now();
      try {
        return await database.read().execute<R[]>(text, [...values]);
      } finally {
        const tookMs = performance.now() - from;
        if (tookMs > USUAL_MS) shares.spend(tokenId, tookMs * (isHere ? 1 : ELSEWHERE_COUNTS));
      }
    };
    return isHere ? this.#turns.run(select) : select();
  }

  /** Plain rows with their products, which are read once: as entities a page of 50 took longer than all the rest. */
  async #devices(rows: readonly Row[]): Promise<Device[]> {
    if (rows.length === 0) return [];
    const keys = [...new Set(rows.map((row) => row.product_key))];
    const products = await this.#deps.database.read().find(ProductSchema, { key: { $in: keys } });
    const byKey = new Map(products.map((product) => [product.key, product]));
    return rows.map((row) => {
      // Deleted since the row was read, and the device with it: what is left of it is where it was.
      const gone = { key: row.product_key, id: row.product_id, workspace: { id: row.workspace_id } } as Product;
      return toDevice(row, byKey.get(row.product_key) ?? gone, this.#deps.database.dialect);
    });
  }

  async #conditions(access: Access, filter: DeviceFilter): Promise<Conditions> {
    const { database, ingestCache, now } = this.#deps;
    const sql: string[] = [];
    const values: unknown[] = [];
    const add = (condition: string, ...given: unknown[]): void => {
      sql.push(condition);
      values.push(...given);
    };
    if (filter.workspaceId != null) access.requireWorkspace(filter.workspaceId, 'READ');
    const workspaces = filter.workspaceId == null ? access.workspaceIdsWith('READ') : [filter.workspaceId];
    add(isOneOf('d.workspace_id', workspaces), ...workspaces);
    if (filter.productId != null) {
      const product = await visibleProduct(ingestCache, access, filter.productId, 'READ');
      add('d.product_key = ?', product.key);
    }
    if (access.limited) {
      const productIds = [...(access.productIds ?? [])];
      const deviceIds = [...(access.deviceIds ?? [])];
      add(`(${isOneOf('d.id', deviceIds)} or ${isOneOf('p.id', productIds)})`, ...deviceIds, ...productIds);
    }
    if (filter.ids != null) {
      const ids = checkIds(filter.ids);
      add(isOneOf('d.id', ids), ...ids);
    }
    if (filter.search != null && filter.search !== '') {
      const text = foldCase(checkText(filter.search, 'search', { max: 200 }));
      add(containsSql(database.dialect, 'd.search_text'), text);
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
    return { sql, values };
  }
}

function isOneOf(column: string, values: readonly unknown[]): string {
  return values.length === 0 ? '1 = 0' : `${column} in (${values.map(() => '?').join(', ')})`;
}

/** The SQL that an order sorts by; null: the key alone. Byte order on both databases, whatever PostgreSQL's collation. */
function sortColumn(order: DeviceOrder, dialect: Database['dialect']): string | null {
  if (order === 'CREATED') return null;
  if (order === 'LAST_HEARD') return LAST_HEARD;
  return dialect === 'postgres' ? 'd.search_text collate "C"' : 'd.search_text';
}

function checkIds(ids: readonly string[]): string[] {
  if (ids.length > MAX_IDS) throw badInput(`ids: at most ${MAX_IDS}, not ${ids.length}.`);
  return ids.filter((id) => !id.includes('\0')).map((id) => id.toLowerCase());
}
