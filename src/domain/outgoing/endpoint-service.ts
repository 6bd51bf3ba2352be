import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/sql';
import { badInput, notFound } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import { placeOfEndpoint, requireEndpoints } from '../access/endpoint-place.ts';
import { placeOfProduct } from '../access/find-product.ts';
import { holdRights } from '../access/hold-rights.ts';
import { soleWorkspace } from '../access/sole-workspace.ts';
import { lockWorkspace } from '../accounts/lock-workspace.ts';
import { type Endpoint, EndpointSchema } from '../entities/endpoint.ts';
import { type Product, ProductSchema } from '../entities/product.ts';
import { checkAuthorKey, findByAuthorKey, requireFreeAuthorKey } from '../keys/author-key.ts';
import type { Database } from '../ports/database.ts';
import { requireUnnamed } from '../rules/named-endpoints.ts';
import { deleteInSlices } from '../sql/delete-in-slices.ts';
import { placeholders } from '../sql/long-columns.ts';
import { checkEndpoint, checkEndpointProducts, type EndpointWish } from './endpoint-input.ts';
import { partsOfEndpoint, requireSameEndpoint } from './endpoint-parts.ts';
import { newEndpoint, removeEndpoint, secretFor, setEndpoint } from './endpoint-rows.ts';
import { newWebhookSecret } from './signature.ts';

/** Maximum endpoints per workspace. */
export const MAX_ENDPOINTS = 50;
/** How long the secret before signs beside the new one. */
const BOTH_SECRETS_MS = 86_400_000;
const DELETED_AT_ONCE = 500;

/** An endpoint as a client sends it. */
export interface EndpointInput extends EndpointWish {
  key?: string | null;
  productIds?: readonly string[] | null;
}

/** A new secret is known only here and to the caller; null: the kind has none, or the endpoint was there already. */
export interface CreatedEndpoint {
  endpoint: Endpoint;
  secret: string | null;
}

interface EndpointServiceDeps {
  database: Database;
  /** Whether mails can be sent. */
  sendsMail: boolean;
  /** Called after a change that may let something be sent. */
  onChange: () => void;
  now: () => number;
}

/** Endpoints (CONTRACT 13): for those who may read and configure the whole workspace. */
export class EndpointService {
  readonly #deps: EndpointServiceDeps;

  constructor(deps: EndpointServiceDeps) {
    this.#deps = deps;
  }

  /** The endpoints of the workspace, oldest first. */
  async ofWorkspace(access: Access, workspaceId: string): Promise<Endpoint[]> {
    requireEndpoints(access, workspaceId);
    return this.#deps.database.read().find(EndpointSchema, { workspace: workspaceId }, { orderBy: { key: 'asc' } });
  }

  /** The products that it is limited to and that still exist; null: not limited that way. */
  async productsOf(access: Access, { workspace, productIds }: Endpoint): Promise<Product[] | null> {
    if (productIds == null) return null;
    const where = { id: { $in: productIds }, workspace: workspace.id, deletedAt: null };
    const found = await this.#deps.database.read().find(ProductSchema, where, { orderBy: { key: 'asc' } });
    return found.filter((product) => access.coversProduct(placeOfProduct(product)));
  }

  /**
   * Makes an endpoint. With a key that one has already: that one, unchanged and without its secret, when the input
   * describes it, else CONFLICT (`requireSameInput`).
   */
  async create(access: Access, workspace: string | null | undefined, input: EndpointInput): Promise<CreatedEndpoint> {
    const workspaceId = workspace ?? soleWorkspace(access, 'workspaceId');
    allow(access, workspaceId);
    const { database, sendsMail, now } = this.#deps;
    const authorKey = checkAuthorKey(input.key, 'input.key');
    const checked = checkEndpoint(input, 'input.', sendsMail);
    const productIds = checkEndpointProducts(input.productIds, 'input.productIds');
    const secret = secretFor(checked.kind);
    let isNew = true;
    // Without its secret: the audit log keeps the result of the transaction.
    const endpoint = await database.write(async (em) => {
      allow(await holdRights(em, access, now(), { workspaces: { id: workspaceId } }), workspaceId);
      const held = await lockWorkspace(em, workspaceId);
      const existing = authorKey === null ? null : await findByAuthorKey(em, EndpointSchema, workspaceId, authorKey);
      if (existing !== null) {
        isNew = false;
        await requireSameEndpoint(em, existing, { ...checked, productIds });
        return existing;
      }
      await requireProducts(em, workspaceId, productIds);
      if ((await em.count(EndpointSchema, { workspace: workspaceId })) >= MAX_ENDPOINTS)
        throw badInput(`A workspace has at most ${MAX_ENDPOINTS} endpoints; delete one first.`);
      const createdFrom = authorKey === null ? null : partsOfEndpoint({ ...checked, productIds });
      return newEndpoint(em, { ...checked, workspace: held, productIds, authorKey, createdFrom, secret, now: now() });
    });
    this.#deps.onChange();
    return { endpoint, secret: isNew ? secret : null };
  }

  /**
   * Changes what is given; the rest, and the kind, stay. `enabled: true` forgets why it was off, and what waits is sent.
   */
  async update(access: Access, id: string, input: EndpointInput): Promise<Endpoint> {
    const { database, sendsMail } = this.#deps;
    const endpoint = await database.write(async (em) => {
      const found = await this.#lock(em, access, id);
      const workspaceId = found.workspace.id;
      if (input.kind !== found.kind)
        throw badInput(`input.kind: it is ${found.kind} and stays so; create another endpoint for ${input.kind}.`);
      if (input.key !== undefined) {
        const key = checkAuthorKey(input.key, 'input.key');
        const wanted = { workspaceId, own: found.id, what: 'endpoint', path: 'input.key' };
        if (key !== null && key !== found.authorKey) {
          await lockWorkspace(em, workspaceId);
          await requireFreeAuthorKey(em, EndpointSchema, { ...wanted, key });
        }
        found.authorKey = key;
      }
      const present = { url: found.url ?? null, addresses: found.addresses ?? null, tags: found.tags };
      const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
      const wish: EndpointInput = { ...input, ...present, enabled: found.enabled, ...given };
      // One that exists may be changed while the server cannot send mails.
      setEndpoint(found, checkEndpoint(wish, 'input.', sendsMail || found.kind === 'EMAIL'));
      if (input.productIds !== undefined) {
        const productIds = checkEndpointProducts(input.productIds, 'input.productIds');
        await requireProducts(em, workspaceId, productIds);
        found.productIds = productIds;
      }
      return found;
    });
    this.#deps.onChange();
    return endpoint;
  }

  /** Another secret for a WEBHOOK; the one before signs too for a day, and one before that no more. */
  async rotateSecret(access: Access, id: string): Promise<CreatedEndpoint> {
    const { database, now } = this.#deps;
    const secret = newWebhookSecret();
    const endpoint = await database.write(async (em) => {
      const found = await this.#lock(em, access, id);
      if (found.kind !== 'WEBHOOK') throw badInput(`id: only a WEBHOOK signs; ${found.kind} has no secret.`);
      await em.populate(found, ['secret', 'previousSecret', 'previousUntil']);
      found.previousSecret = found.secret ?? null;
      found.previousUntil = now() + BOTH_SECRETS_MS;
      found.secret = secret;
      return found;
    });
    return { endpoint, secret };
  }

  /** Deletes an endpoint with its deliveries; the sweep takes what is written meanwhile. */
  async delete(access: Access, id: string): Promise<string> {
    const { database } = this.#deps;
    const endpoint = await database.write(async (em) => {
      const found = await this.#lock(em, access, id);
      await requireUnnamed(em, found);
      await removeEndpoint(em, found);
      return { id: found.id, key: found.key };
    });
    const of = { where: 'endpoint_key = ?', of: [endpoint.key], atOnce: DELETED_AT_ONCE };
    await deleteInSlices(database, { ...of, table: 'delivery_lane', key: 'lane' });
    await deleteInSlices(database, { ...of, table: 'firing_alert', key: 'alert' });
    await deleteInSlices(database, { ...of, table: 'delivery', key: '"key"' });
    return endpoint.id;
  }

  /** The endpoint, for those who may see it; NOT_FOUND or FORBIDDEN else. */
  async get(access: Access, id: string): Promise<Endpoint> {
    const endpoint = await findEndpoint(this.#deps.database.read(), id);
    if (endpoint === null || !access.seesWorkspace(endpoint.workspace.id)) throw notFound('endpoint', id);
    requireEndpoints(access, endpoint.workspace.id);
    return endpoint;
  }

  /** The endpoint, for those who may change it; NOT_FOUND or FORBIDDEN else. */
  async getForChange(access: Access, id: string): Promise<Endpoint> {
    const endpoint = await this.get(access, id);
    allow(access, endpoint.workspace.id);
    return endpoint;
  }

  /** The same, locked until the transaction ends. */
  async #lock(em: EntityManager, access: Access, id: string): Promise<Endpoint> {
    const seen = await findEndpoint(em, id);
    if (seen === null || !access.seesWorkspace(seen.workspace.id)) throw notFound('endpoint', id);
    const { workspaceId } = placeOfEndpoint(seen);
    allow(access, workspaceId);
    allow(await holdRights(em, access, this.#deps.now(), { workspaces: { id: workspaceId } }), workspaceId);
    const lock = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
    const found = await em.findOne(EndpointSchema, { key: seen.key }, lock);
    if (found === null) throw notFound('endpoint', id);
    return found;
  }
}

/** An endpoint shows values of any device to whoever has its URL: it needs READ beside CONFIGURE, without limits. */
function allow(access: Access, workspaceId: string): void {
  access.requireWorkspace(workspaceId, 'CONFIGURE');
  access.requireWorkspace(workspaceId, 'READ');
}

async function findEndpoint(em: EntityManager, id: string): Promise<Endpoint | null> {
  return id.includes('\0') ? null : em.findOne(EndpointSchema, { id: id.toLowerCase() });
}

async function requireProducts(em: EntityManager, workspaceId: string, ids: readonly string[] | null): Promise<void> {
  if (ids === null) return;
  const asked = ids.filter((id) => !id.includes('\0'));
  const rows = await em.execute<{ id: string; workspaceId: string }[]>(
    `select id, workspace_id as "workspaceId" from product where id in (${placeholders(asked) || 'null'}) and deleted_at is null`,
    [...asked],
  );
  const found = new Set(rows.flatMap((row) => (row.workspaceId === workspaceId ? [row.id] : [])));
  const missing = ids.find((id) => !found.has(id));
  if (missing !== undefined) throw notFound('product', missing);
}
