import { raw } from '@mikro-orm/core';
import type { QueryBuilder } from '@mikro-orm/sql';
import { badInput, conflict } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { findProduct } from '../access/find-product.ts';
import { containsSql } from '../contains.ts';
import type { Database } from '../database.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { ProductSchema } from '../entities/product.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from '../offline-after.ts';
import { type Page, pageOf } from '../page.ts';
import { checkText, foldCase } from '../text.ts';
import { checkTags } from './device-input.ts';
import { isHexadecimalEui } from './serial.ts';

/** How many devices a list may be narrowed to by id. */
const MAX_IDS = 1000;

/** What a device is sorted by (contract `DeviceOrder`); ties by the order of creation. */
export const DEVICE_ORDERS = ['NAME', 'LAST_HEARD', 'CREATED'] as const;
/** One of `DEVICE_ORDERS`. */
export type DeviceOrder = (typeof DEVICE_ORDERS)[number];

/** Never heard counts as before every time. */
const LAST_HEARD = 'coalesce((select s.last_heard_at from device_state s where s.device_key = d."key"), -1)';
const LAST_HEARD_IN_TIME = `exists (
  select 1 from device_state s, product q
  where s.device_key = d."key" and q."key" = d.product_key
    and s.last_heard_at >= ? - coalesce(d.offline_after_seconds, q.offline_after_seconds, ${DEFAULT_OFFLINE_AFTER_SECONDS}) * 1000.0)`;

/** What `DeviceList` is made of; `now` in milliseconds. */
interface DeviceListDeps {
  database: Database;
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

/** A device and where it stands in the order that was asked for. */
export interface ListedDevice {
  device: Device;
  position: DevicePosition;
}

type Rows = QueryBuilder<Device, 'd'>;

/** The devices that a token sees (CONTRACT 7, `devices`). */
export class DeviceList {
  readonly #deps: DeviceListDeps;

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
  }

  /** One page; FORBIDDEN, NOT_FOUND or BAD_USER_INPUT for a filter that cannot be. */
  async page(access: Access, query: DeviceQuery): Promise<Page<ListedDevice>> {
    const { orderBy, descending, after, limit } = query;
    const rows = await this.#filtered(access, query);
    const column = sortColumn(orderBy, this.#deps.database.dialect);
    const direction = descending ? 'desc' : 'asc';
    const beyond = descending ? '<' : '>';
    if (after != null) {
      const [sortedBy, key] = after;
      if (column === null) rows.andWhere(`d."key" ${beyond} ?`, [key]);
      else rows.andWhere(`(${column}, d."key") ${beyond} (?, ?)`, [sortedBy, key]);
    }
    if (column !== null) rows.select(['*', raw(`${column} as sorted_by`)]).orderBy({ [raw(column)]: direction });
    rows.andOrderBy({ key: direction }).limit(limit + 1);
    const em = this.#deps.database.read();
    const found = await rows.execute<(Record<string, unknown> & { sorted_by?: string | number })[]>('all', true);
    const { items, hasNextPage } = pageOf(found, limit);
    const listed = items.map((row) => {
      const device = em.map(DeviceSchema, row) as Device;
      // PostgreSQL gives a bigint as text.
      const sortedBy = orderBy === 'NAME' ? String(row.sorted_by) : Number(row.sorted_by ?? device.key);
      return { device, position: [sortedBy, device.key] as DevicePosition };
    });
    await em.populate(
      listed.map(({ device }) => device),
      ['product'],
    );
    return { items: listed, hasNextPage };
  }

  /** How many devices all pages together hold. */
  async count(access: Access, filter: DeviceFilter): Promise<number> {
    return (await this.#filtered(access, filter)).getCount();
  }

  /** The ids of the products of all devices that the filter lets through. */
  async productIds(access: Access, filter: DeviceFilter): Promise<string[]> {
    const rows = await this.#filtered(access, filter);
    const keys = await rows
      .select(raw('distinct d.product_key as product_key'))
      .execute<{ product_key: number }[]>('all', false);
    const products = await this.#deps.database
      .read()
      .find(ProductSchema, { key: { $in: keys.map((row) => row.product_key) } }, { orderBy: { key: 'asc' } });
    return products.map(({ id }) => id);
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
    const find = async (column: 'serialNumber' | 'serialFolded', text: string): Promise<Device | null> => {
      const rows = (await this.#filtered(access, narrow)).andWhere({ [column]: text }).limit(2);
      const [device, other] = (await rows.getResultList()) as Device[];
      if (other !== undefined)
        throw conflict(`serialNumber: several devices have "${serialNumber.slice(0, 100)}"; narrow by productId.`);
      return device ?? null;
    };
    const exact = await find('serialNumber', serialNumber);
    if (exact !== null || !isHexadecimalEui(serialNumber)) return exact;
    return find('serialFolded', foldCase(serialNumber));
  }

  async #filtered(access: Access, filter: DeviceFilter): Promise<Rows> {
    const { database, now } = this.#deps;
    const em = database.read();
    if (filter.workspaceId != null) access.requireWorkspace(filter.workspaceId, 'READ');
    const workspaces = filter.workspaceId == null ? access.workspaceIdsWith('READ') : [filter.workspaceId];
    const rows = em.createQueryBuilder(DeviceSchema, 'd').where({ workspace: { $in: workspaces } }) as unknown as Rows;
    if (filter.productId != null) {
      const product = await findProduct(em, access, filter.productId, 'READ');
      rows.andWhere({ product: product.key });
    }
    if (access.limited) {
      const productIds = [...(access.productIds ?? [])];
      const deviceIds = [...(access.deviceIds ?? [])];
      rows.andWhere({ $or: [{ id: { $in: deviceIds } }, { product: { id: { $in: productIds } } }] });
    }
    if (filter.ids != null) rows.andWhere({ id: { $in: checkIds(filter.ids) } });
    if (filter.search != null && filter.search !== '') {
      const text = foldCase(checkText(filter.search, 'search', { max: 200 }));
      rows.andWhere(containsSql(database.dialect, 'd.search_text'), [text]);
    }
    const hasTag = containsSql(database.dialect, 'd.tags');
    for (const tag of checkTags(filter.tags ?? [], 'tags')) rows.andWhere(hasTag, [`\n${tag}\n`]);
    if (filter.anyTags != null) {
      const any = checkTags(filter.anyTags, 'anyTags');
      if (any.length === 0) throw badInput('anyTags: name at least one tag, or leave it out.');
      rows.andWhere(
        `(${any.map(() => hasTag).join(' or ')})`,
        any.map((tag) => `\n${tag}\n`),
      );
    }
    if (filter.online != null) rows.andWhere(`${filter.online ? '' : 'not '}${LAST_HEARD_IN_TIME}`, [now()]);
    if (filter.lastHeardBefore != null) rows.andWhere(`${LAST_HEARD} < ?`, [filter.lastHeardBefore]);
    if (filter.lastHeardAfter != null) rows.andWhere(`${LAST_HEARD} >= ?`, [filter.lastHeardAfter]);
    return rows;
  }
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
