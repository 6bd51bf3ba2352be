import { type FilterQuery, raw } from '@mikro-orm/core';
import type { Database } from '../ports/database.ts';
import { badInput } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { containsSql } from '../sql/contains.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { changeOfDevices } from '../devices/change-of-devices.ts';
import { deleteDeviceRows } from '../devices/device-rows.ts';
import { FieldSchema } from '../entities/field.ts';
import { checkNewFields, type NewField } from './new-field.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { checkOfflineAfter } from '../devices/offline-after.ts';
import { ZoneOffsets } from '../times/zone-offsets.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkStorable, checkText, foldCase, searchable } from '../text/text.ts';
import type { Access } from '../access/access.ts';
import { holdRights } from '../access/hold-rights.ts';
import { authorOf } from '../access/who-is.ts';
import { uuidV7 } from '../text/uuid.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import { type AnswersChange, checkAnswers, writeAnswers } from './product-answers.ts';
import { copyProduct } from './copy-product.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { checkDashboard, EMPTY_DASHBOARD } from './dashboard.ts';
import { findProduct, lockProduct, placeOfProduct } from '../access/find-product.ts';
import { type DeviceType, type Product, ProductSchema } from '../entities/product.ts';
import { newWebhookId } from './webhook-id.ts';

const MAX_NAME = 200;
const DELETED_AT_ONCE = 1000;
/** Of 256 KiB each: some 10 ms of SQLite. There may be any number of them. */
const VERSIONS_AT_ONCE = 40;

interface ProductServiceDeps {
  database: Database;
  cluster: Cluster;
  store: MeasurementStore;
  /** Throws AppError INVALID_DECODER when the source may not be the first one of a product of that workspace. */
  checkDecoder: (source: string, workspaceId: string, tokenId: string) => Promise<void>;
  now: () => number;
}

/** Who asked waits for the end, and a stop for who asked. */
const goesOn = (): boolean => false;

/** A product whose deletion has begun. */
interface Begun {
  id: string;
  key: number;
  workspaceId: string;
}

interface NewProduct extends AnswersChange {
  name: string;
  workspaceId?: string | null;
  deviceType?: DeviceType | null;
  dashboard?: unknown;
  fields?: NewField[] | null;
  decoder?: string | null;
  offlineAfterSeconds?: number | null;
  ignoreZeroPlaces?: boolean | null;
  timeZone?: string | null;
}

/** Left out: unchanged. null: back to the default (the name has none). */
interface ProductChange extends AnswersChange {
  name?: string | null;
  dashboard?: unknown;
  offlineAfterSeconds?: number | null;
  ignoreZeroPlaces?: boolean | null;
  timeZone?: string | null;
}

/** Which products of those that the token covers. `search`: part of the name, in any case. */
interface ProductFilter {
  workspaceId?: string | null | undefined;
  search?: string | null | undefined;
}

/** In the order of creation; `limit` rows after `afterKey`. */
interface ProductQuery extends ProductFilter {
  afterKey?: number | null | undefined;
  limit: number;
}

/** BAD_USER_INPUT for what is no IANA zone; kept as it was written. */
function checkTimeZone(name: string | null | undefined): string | null {
  if (name == null) return null;
  ZoneOffsets.of(name, 'input.timeZone');
  return name;
}

/** Products (CONTRACT 1). A change is seen by the next request on every node. */
export class ProductService {
  readonly #deps: ProductServiceDeps;

  constructor(deps: ProductServiceDeps) {
    this.#deps = deps;
  }

  get(access: Access, id: string): Promise<Product> {
    return findProduct(this.#deps.database.read(), access, id, 'READ');
  }

  /** Those that the token covers, of one workspace or of all it may READ. */
  async list(access: Access, { afterKey, limit, ...filter }: ProductQuery): Promise<Page<Product>> {
    const where = this.#filtered(access, filter);
    if (afterKey != null) where.push({ key: { $gt: afterKey } });
    const options = { orderBy: { key: 'asc' }, limit: limit + 1 } as const;
    return pageOf(await this.#deps.database.read().find(ProductSchema, { $and: where }, options), limit);
  }

  /** How many products all pages together hold. */
  async count(access: Access, filter: ProductFilter): Promise<number> {
    return this.#deps.database.read().count(ProductSchema, { $and: this.#filtered(access, filter) });
  }

  #filtered(access: Access, { workspaceId, search }: ProductFilter): FilterQuery<Product>[] {
    if (workspaceId != null) access.requireWorkspace(workspaceId, 'READ');
    const workspaces = workspaceId == null ? access.workspaceIdsWith('READ') : [workspaceId];
    const where: FilterQuery<Product>[] = [{ workspace: { $in: workspaces }, deletedAt: null }];
    if (access.limited) where.push({ id: { $in: [...(access.productIds ?? [])] } });
    if (search != null && search !== '') {
      const text = foldCase(checkText(search, 'search', { max: MAX_NAME }));
      where.push({ [raw(containsSql(this.#deps.database.dialect, 'search_text'), [text])]: [] });
    }
    return where;
  }

  /** With its fields and the first version of its decoder, if given: all or nothing. */
  async create(access: Access, input: NewProduct): Promise<Product> {
    const workspaceId = input.workspaceId ?? soleWorkspace(access, 'input.workspaceId');
    access.requireWorkspace(workspaceId, 'CONFIGURE');
    const name = checkText(input.name, 'input.name', { max: MAX_NAME });
    const dashboard = input.dashboard == null ? EMPTY_DASHBOARD : checkDashboard(input.dashboard);
    const offlineAfterSeconds = checkOfflineAfter(input.offlineAfterSeconds, 'input.offlineAfterSeconds');
    const timeZone = checkTimeZone(input.timeZone);
    const fields = checkNewFields(input.fields ?? []);
    const answers = checkAnswers(input);
    const source = input.decoder ?? null;
    if (source !== null) {
      checkStorable(source, 'input.decoder');
      await this.#deps.checkDecoder(source, workspaceId, access.tokenId);
    }
    return this.#deps.database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const createdAt = this.#deps.now();
      const product = em.create(ProductSchema, {
        id: uuidV7(),
        workspace,
        name,
        searchText: searchable(name, MAX_NAME),
        deviceType: input.deviceType ?? 'API',
        dashboard,
        webhookId: newWebhookId(),
        offlineAfterSeconds,
        ignoreZeroPlaces: input.ignoreZeroPlaces ?? false,
        timeZone,
        writeRate: null,
        activeVersion: source === null ? null : 1,
        createdAt,
      });
      for (const field of fields) em.create(FieldSchema, { product, ...field });
      if (source !== null) {
        const author = await authorOf(em, access.tokenId);
        em.create(DecoderVersionSchema, { product, version: 1, source, note: null, author, createdAt });
      }
      if (Object.keys(answers).length > 0) {
        await em.flush();
        await writeAnswers(em, product.key, answers);
      }
      return product;
    });
  }

  /**
   * Fields, decoder, dashboard; no devices, a webhook URL of its own (contract `cloneProduct`). `onCopied` is told how many
   * bytes of examples there were.
   */
  async clone(access: Access, id: string, name: string, onCopied?: (bytes: number) => void): Promise<Product> {
    const { database, now } = this.#deps;
    checkText(name, 'name', { max: MAX_NAME });
    const { copy, bytes } = await database.write(async (em) => {
      const source = await lockProduct(em, access, id, 'CONFIGURE');
      access.requireWorkspace(source.workspace.id, 'CONFIGURE');
      const author = await authorOf(em, access.tokenId);
      return copyProduct(em, database.dialect, source, { name, author, now: now() });
    });
    onCopied?.(bytes);
    return copy;
  }

  async update(access: Access, id: string, change: ProductChange): Promise<Product> {
    const answers = checkAnswers(change);
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      if (change.name === null) throw badInput('input.name: a product needs a name.');
      if (change.name !== undefined) {
        found.name = checkText(change.name, 'input.name', { max: MAX_NAME });
        found.searchText = searchable(change.name, MAX_NAME);
      }
      if (change.dashboard !== undefined)
        found.dashboard = change.dashboard === null ? EMPTY_DASHBOARD : checkDashboard(change.dashboard);
      if (change.offlineAfterSeconds !== undefined)
        found.offlineAfterSeconds = checkOfflineAfter(change.offlineAfterSeconds, 'input.offlineAfterSeconds');
      if (change.ignoreZeroPlaces !== undefined) found.ignoreZeroPlaces = change.ignoreZeroPlaces ?? false;
      if (change.timeZone !== undefined) found.timeZone = checkTimeZone(change.timeZone);
      await writeAnswers(em, found.key, answers);
      return found;
    });
    await this.#deps.cluster.changed([{ kind: 'product', id: product.id }]);
    return product;
  }

  /** The old webhook URL is unknown from the answer on. */
  async rotateWebhook(access: Access, id: string): Promise<Product> {
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      // The URL is shown to who asks, and lets in for good.
      const present = await holdRights(em, access, this.#deps.now(), { workspaces: { id: found.workspace.id } });
      present.requireProduct(placeOfProduct(found), 'CONFIGURE');
      found.webhookId = newWebhookId();
      return found;
    });
    await this.#deps.cluster.changed([{ kind: 'product', id: product.id }]);
    return product;
  }

  /** With its devices, fields, decoders, calls and measurements. Once begun it goes on, over a restart too. */
  async delete(access: Access, id: string): Promise<string> {
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      found.deletedAt = this.#deps.now();
      return { id: found.id, key: found.key, workspaceId: found.workspace.id };
    });
    await this.#finishDeletion(product, goesOn);
    return product.id;
  }

  /** Goes on with deletions that a stop or a failure of the database has interrupted; another stop does so between two slices. */
  async finishDeletions(isStopping: () => boolean): Promise<void> {
    const begun = await this.#deps.database
      .read()
      .find(ProductSchema, { deletedAt: { $ne: null } }, { fields: ['id', 'key', 'workspace'] });
    for (const { id, key, workspace } of begun)
      if (!isStopping()) await this.#finishDeletion({ id, key, workspaceId: workspace.id }, isStopping);
  }

  /** Each slice is a short transaction: nobody waits long for their turn to write. */
  async #finishDeletion(product: Begun, isStopping: () => boolean): Promise<void> {
    const { id, key, workspaceId } = product;
    const { database, cluster, store } = this.#deps;
    // First, so that nothing is recorded for a device whose measurements are already forgotten.
    await cluster.changed([{ kind: 'product', id }]);
    const versions = { table: 'decoder_version', key: 'version', where: 'product_key = ?', of: [key] };
    await deleteInSlices(database, { ...versions, atOnce: VERSIONS_AT_ONCE });
    // While the product is there, so that whatever interrupts it, it is gone on with; and behind it what came late.
    await store.removeCalls(Number.MAX_SAFE_INTEGER, key, isStopping);
    for (;;) {
      if (isStopping()) return;
      const { ids, isLast } = await database.write(async (em) => {
        const rows = await em.execute<{ key: number }[]>(
          `select key from device where product_key = ? order by key limit ${DELETED_AT_ONCE}`,
          [key],
        );
        const last = rows.length < DELETED_AT_ONCE;
        const gone = await deleteDeviceRows(
          em,
          database.dialect,
          rows.map((row) => row.key),
        );
        if (last) await em.nativeDelete(ProductSchema, { key });
        return { ids: gone, isLast: last };
      });
      await cluster.changed([changeOfDevices({ productId: id, workspaceId }, ids)]);
      if (isLast) break;
    }
    void store.settlePurges();
    // To its end: nobody would go on with these.
    await store.removeCalls(Number.MAX_SAFE_INTEGER, key, goesOn);
  }
}
