import { type FilterQuery, raw } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import type { Database } from '../ports/database.ts';
import { badInput } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import { containsSql } from '../sql/contains.ts';
import { DecoderVersionSchema } from '../entities/decoder-version.ts';
import { changeOfDevices } from '../devices/change-of-devices.ts';
import { deleteDeviceRows, type EndAlerts } from '../devices/device-rows.ts';
import { FieldSchema } from '../entities/field.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { checkOfflineAfter } from '../devices/offline-after.ts';
import { type Page, pageOf } from '../sql/page.ts';
import { checkText, foldCase, searchable } from '../text/text.ts';
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
import { findProduct, findProductByKey, lockProduct, placeOfProduct } from '../access/find-product.ts';
import type { TokenScope } from '../entities/token.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { checkAuthorKey, findByAuthorKey, requireFreeAuthorKey } from '../keys/author-key.ts';
import { newWebhookId } from './webhook-id.ts';
import { checkNewProduct, checkTimeZone, MAX_PRODUCT_NAME, type NewProduct } from './new-product.ts';
import { partsOfInput, requireSameProduct } from './product-parts.ts';

const DELETED_AT_ONCE = 1000;
/** Versions deleted per transaction, of up to 256 KiB each. */
const VERSIONS_AT_ONCE = 40;

interface ProductServiceDeps {
  database: Database;
  cluster: Cluster;
  store: MeasurementStore;
  /** Throws AppError INVALID_DECODER when the source is not allowed as the first one of a product of that workspace. */
  checkDecoder: (source: string, workspaceId: string, tokenId: string) => Promise<void>;
  endAlerts: EndAlerts;
  now: () => number;
}

/** Ignores a stop: the request waits for the end, and the stop for the request. */
const goesOn = (): boolean => false;

/** A product whose deletion has begun. */
interface Begun {
  id: string;
  key: number;
  workspaceId: string;
}

/** Left out: unchanged. null: back to the default (the name has none). */
interface ProductChange extends AnswersChange {
  key?: string | null;
  name?: string | null;
  dashboard?: unknown;
  offlineAfterSeconds?: number | null;
  ignoreZeroPlaces?: boolean | null;
  timeZone?: string | null;
}

/** A filter of the products that the token covers. `search`: part of the name, in any case. */
interface ProductFilter {
  workspaceId?: string | null | undefined;
  /** Products of all other workspaces. */
  exceptWorkspaceId?: string | null | undefined;
  search?: string | null | undefined;
}

/** A page in the order of creation: `limit` rows after `afterKey`. */
interface ProductQuery extends ProductFilter {
  afterKey?: number | null | undefined;
  limit: number;
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

  /** The product with the key in the workspace, which may be left out where the token sees only one. */
  getByKey(
    access: Access,
    key: string,
    { workspaceId, scope = 'READ' }: { workspaceId?: string | null | undefined; scope?: TokenScope } = {},
  ): Promise<Product> {
    const workspace = workspaceId ?? soleWorkspace(access, 'workspaceId');
    return findProductByKey(this.#deps.database.read(), access, { workspaceId: workspace, key }, scope);
  }

  /** The products that the token covers, of one workspace or of all it may READ. */
  async list(access: Access, { afterKey, limit, ...filter }: ProductQuery): Promise<Page<Product>> {
    const where = this.#filtered(access, filter);
    if (afterKey != null) where.push({ key: { $gt: afterKey } });
    const options = { orderBy: { key: 'asc' }, limit: limit + 1 } as const;
    return pageOf(await this.#deps.database.read().find(ProductSchema, { $and: where }, options), limit);
  }

  /** Number of products on all pages together. */
  async count(access: Access, filter: ProductFilter): Promise<number> {
    return this.#deps.database.read().count(ProductSchema, { $and: this.#filtered(access, filter) });
  }

  #filtered(access: Access, { workspaceId, exceptWorkspaceId, search }: ProductFilter): FilterQuery<Product>[] {
    const workspaces = access.workspacesToRead(workspaceId, exceptWorkspaceId);
    const where: FilterQuery<Product>[] = [{ workspace: { $in: workspaces }, deletedAt: null }];
    if (access.limited) where.push({ id: { $in: [...(access.productIds ?? [])] } });
    if (search != null && search !== '') {
      const text = foldCase(checkText(search, 'search', { max: MAX_PRODUCT_NAME }));
      where.push({ [raw(containsSql(this.#deps.database.dialect, 'search_text'), [text])]: [] });
    }
    return where;
  }

  /**
   * Makes a product with its fields and the first version of its decoder, if given: all or nothing. With a key that a
   * product has already: that product, unchanged, when the input describes it, else CONFLICT (`requireSameInput`).
   */
  async create(access: Access, input: NewProduct): Promise<Product> {
    const workspaceId = input.workspaceId ?? soleWorkspace(access, 'input.workspaceId');
    access.requireWorkspace(workspaceId, 'CONFIGURE');
    const checked = checkNewProduct(input);
    const { fields, answers, decoder, authorKey, ...columns } = checked;
    if (decoder !== null) await this.#deps.checkDecoder(decoder, workspaceId, access.tokenId);
    return this.#deps.database.write(async (em) => {
      const workspace = await lockWorkspace(em, workspaceId);
      const existing = authorKey === null ? null : await findByAuthorKey(em, ProductSchema, workspaceId, authorKey);
      if (existing !== null) {
        await requireSameProduct(em, existing, checked);
        return existing;
      }
      const createdAt = this.#deps.now();
      const product = em.create(ProductSchema, {
        ...columns,
        id: uuidV7(),
        workspace,
        authorKey,
        createdFrom: authorKey === null ? null : partsOfInput(checked),
        searchText: searchable(columns.name, MAX_PRODUCT_NAME),
        webhookId: newWebhookId(),
        writeRate: null,
        activeVersion: decoder === null ? null : 1,
        createdAt,
      });
      for (const field of fields) em.create(FieldSchema, { product, ...field });
      if (decoder !== null) {
        const author = await authorOf(em, access.tokenId);
        em.create(DecoderVersionSchema, { product, version: 1, source: decoder, note: null, author, createdAt });
      }
      if (Object.keys(answers).length > 0) {
        await em.flush();
        await writeAnswers(em, product.key, answers);
      }
      return product;
    });
  }

  /**
   * Copies fields, decoder, dashboard and rules; no devices, a webhook URL of its own (contract `cloneProduct`). `onCopied`
   * gets the bytes of the examples.
   */
  async clone(access: Access, id: string, name: string, onCopied?: (bytes: number) => void): Promise<Product> {
    const { database, now } = this.#deps;
    checkText(name, 'name', { max: MAX_PRODUCT_NAME });
    const { copy, bytes } = await database.write(async (em) => {
      const source = await lockProduct(em, access, id, 'CONFIGURE');
      access.requireWorkspace(source.workspace.id, 'CONFIGURE');
      const author = await authorOf(em, access.tokenId);
      return copyProduct(em, database.dialect, source, { name, author, now: now() });
    });
    onCopied?.(bytes);
    // Its rules watch from now on.
    await this.#deps.cluster.changed([{ kind: 'product', id: copy.id }]);
    return copy;
  }

  async update(access: Access, id: string, change: ProductChange): Promise<Product> {
    const answers = checkAnswers(change);
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      if (change.key !== undefined) await this.#changeKey(em, access, found, change.key);
      if (change.name === null) throw badInput('input.name: a product needs a name.');
      if (change.name !== undefined) {
        found.name = checkText(change.name, 'input.name', { max: MAX_PRODUCT_NAME });
        found.searchText = searchable(change.name, MAX_PRODUCT_NAME);
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

  async #changeKey(em: EntityManager, access: Access, product: Product, given: string | null): Promise<void> {
    const key = checkAuthorKey(given, 'input.key');
    if (key !== null && key !== product.authorKey) {
      // Whether a key is free tells of products that a limit hides.
      access.requireUnlimited();
      const workspaceId = product.workspace.id;
      await lockWorkspace(em, workspaceId);
      const wanted = { workspaceId, key, own: product.id, what: 'product', path: 'input.key' };
      await requireFreeAuthorKey(em, ProductSchema, wanted);
    }
    product.authorKey = key;
  }

  /** Replaces the webhook URL; the old one is unknown from the answer on. */
  async rotateWebhook(access: Access, id: string): Promise<Product> {
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      // The URL is shown to the caller, and grants access for good.
      const present = await holdRights(em, access, this.#deps.now(), { workspaces: { id: found.workspace.id } });
      present.requireProduct(placeOfProduct(found), 'CONFIGURE');
      found.webhookId = newWebhookId();
      return found;
    });
    await this.#deps.cluster.changed([{ kind: 'product', id: product.id }]);
    return product;
  }

  /**
   * Deletes a product with its devices, fields, decoders, calls and measurements. Once begun it is completed, also
   * after a restart.
   */
  async delete(access: Access, id: string): Promise<string> {
    const product = await this.#deps.database.write(async (em) => {
      const found = await lockProduct(em, access, id, 'CONFIGURE');
      found.deletedAt = this.#deps.now();
      found.authorKey = null;
      await em.execute('update rule set author_key = null where product_key = ?', [found.key], 'run');
      return { id: found.id, key: found.key, workspaceId: found.workspace.id };
    });
    await this.finishDeletion(product);
    return product.id;
  }

  /** Completes deletions that a stop or a failure of the database interrupted; stops between two slices. */
  async finishDeletions(isStopping: () => boolean): Promise<void> {
    const begun = await this.#deps.database
      .read()
      .find(ProductSchema, { deletedAt: { $ne: null } }, { fields: ['id', 'key', 'workspace'] });
    for (const { id, key, workspace } of begun)
      if (!isStopping()) await this.finishDeletion({ id, key, workspaceId: workspace.id }, isStopping);
  }

  /** Completes a deletion that has begun, slice by slice, each a short transaction: other writers do not wait long. */
  async finishDeletion(product: Begun, isStopping = goesOn): Promise<void> {
    const { id, key, workspaceId } = product;
    const { database, cluster, store } = this.#deps;
    // Drop the product from caches first, so that nothing is recorded for a device whose measurements are deleted
    // already.
    await cluster.changed([{ kind: 'product', id }]);
    const versions = { table: 'decoder_version', key: 'version', where: 'product_key = ?', of: [key] };
    await deleteInSlices(database, { ...versions, atOnce: VERSIONS_AT_ONCE });
    // Delete calls while the product exists, so that an interruption is completed later; those that came late follow
    // below.
    await store.removeCalls(Number.MAX_SAFE_INTEGER, key, isStopping);
    for (;;) {
      if (isStopping()) return;
      const { ids, isLast, tell } = await database.write(async (em) => {
        const rows = await em.execute<{ key: number }[]>(
          `select key from device where product_key = ? order by key limit ${DELETED_AT_ONCE}`,
          [key],
        );
        const last = rows.length < DELETED_AT_ONCE;
        const keys = rows.map((row) => row.key);
        const told = await this.#deps.endAlerts(em, keys);
        const gone = await deleteDeviceRows(em, database.dialect, keys);
        if (last) await em.nativeDelete(ProductSchema, { key });
        return { ids: gone, isLast: last, tell: told };
      });
      tell();
      await cluster.changed([changeOfDevices({ productId: id, workspaceId }, ids)]);
      if (isLast) break;
    }
    void store.settlePurges();
    // Run to the end: no later sweep would complete these.
    await store.removeCalls(Number.MAX_SAFE_INTEGER, key, goesOn);
  }
}
