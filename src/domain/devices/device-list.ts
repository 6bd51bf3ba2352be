import type { Database } from '../database.ts';
import { containsSql } from '../contains.ts';
import type { MeasurementStore } from '../measurements/store.ts';
import { type Page, pageOf } from '../page.ts';
import { findProduct } from '../access/find-product.ts';
import { checkText, foldCase } from '../text.ts';
import type { Access } from '../access/access.ts';
import { type Device, DeviceSchema } from '../entities/device.ts';
import { checkTags } from './device-input.ts';

/** Without `Product.offlineAfterSeconds`: 40 minutes. */
export const DEFAULT_OFFLINE_AFTER_SECONDS = 2400;

const LAST_HEARD_IN_TIME = `exists (
  select 1 from device_state s, product q
  where s.device_key = d."key" and q."key" = d.product_key
    and s.last_heard_at >= ? - coalesce(q.offline_after_seconds, ${DEFAULT_OFFLINE_AFTER_SECONDS}) * 1000.0)`;

interface DeviceListDeps {
  database: Database;
  store: MeasurementStore;
  now: () => number;
}

/**
 * All conditions given must hold. `search`: part of name or serial number, in any case; `tags`: every one of them;
 * `online`: heard of within its product's `offlineAfterSeconds`. `limit` rows after `afterKey`.
 */
interface DeviceQuery {
  workspaceId?: string | null;
  productId?: string | null;
  search?: string | null;
  tags?: readonly string[] | null;
  online?: boolean | null;
  afterKey?: number | null;
  limit: number;
}

/** The devices that a token sees, in the order of creation. */
export class DeviceList {
  readonly #deps: DeviceListDeps;

  constructor(deps: DeviceListDeps) {
    this.#deps = deps;
  }

  async page(access: Access, query: DeviceQuery): Promise<Page<Device>> {
    const { database, store, now } = this.#deps;
    const em = database.read();
    if (query.workspaceId != null) access.requireWorkspace(query.workspaceId, 'READ');
    const workspaces = query.workspaceId == null ? access.workspaceIdsWith('READ') : [query.workspaceId];
    const rows = em
      .createQueryBuilder(DeviceSchema, 'd')
      .where({ workspace: { $in: workspaces } })
      .orderBy({ key: 'asc' })
      .limit(query.limit + 1);
    if (query.productId != null) {
      const product = await findProduct(em, access, query.productId, 'READ');
      rows.andWhere({ product: product.key });
    }
    if (access.limited) {
      const productIds = [...(access.productIds ?? [])];
      const deviceIds = [...(access.deviceIds ?? [])];
      rows.andWhere({ $or: [{ id: { $in: deviceIds } }, { product: { id: { $in: productIds } } }] });
    }
    if (query.afterKey != null) rows.andWhere({ key: { $gt: query.afterKey } });
    if (query.search != null && query.search !== '') {
      const text = foldCase(checkText(query.search, 'search', { max: 200 }));
      rows.andWhere(containsSql(database.dialect, 'd.search_text'), [text]);
    }
    for (const tag of checkTags(query.tags ?? [], 'tags'))
      rows.andWhere(containsSql(database.dialect, 'd.tags'), [`\n${tag}\n`]);
    if (query.online != null) {
      await store.settle();
      rows.andWhere(`${query.online ? '' : 'not '}${LAST_HEARD_IN_TIME}`, [now()]);
    }
    const page = pageOf((await rows.getResultList()) as Device[], query.limit);
    await em.populate(page.items, ['product']);
    return page;
  }
}
