import { lruCache } from '../../scheduling/lru-cache.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import type { VersionCounter } from '../../scheduling/version-counter.ts';
import type { Change } from '../ports/cluster.ts';

/** A product as the cache needs it. */
interface CachedProduct {
  id: string;
  workspaceId: string;
  webhookId: string;
  fields: ReadonlyMap<string, { description?: string | null | undefined }>;
  configuration: readonly unknown[];
  decoder: { source: string } | null;
}

interface ProductCacheDeps<Product> {
  /** Counts the changes of products and their workspaces. */
  revisions: VersionCounter;
  read: (id: string) => Promise<Product | null>;
  /** Id of the product with this webhook; null: there is none. */
  idOfWebhook: (webhookId: string) => Promise<string | null>;
}

/** Maximum bytes of products in memory: a source has up to 256 KiB. */
const MAX_BYTES = 128 * 1024 * 1024;
const MAX_WEBHOOKS = 100_000;
/** Maximum reads of something that changes meanwhile; then the last one is returned, and not kept. */
const MOST_LOOKS = 3;

/** Products in memory, found by their ids and webhooks. */
export class ProductCache<Product extends CachedProduct> {
  readonly #deps: ProductCacheDeps<Product>;
  readonly #products = lruCache<string, Product>(MAX_BYTES, bytesOfProduct);
  readonly #idByWebhook = lruCache<string, string>(MAX_WEBHOOKS);
  readonly #loads = new SingleFlight<Product | null>();

  constructor(deps: ProductCacheDeps<Product>) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#products.size;
  }

  /** The product without waiting, when it is in memory. */
  cached(id: string): Product | undefined {
    return this.#products.get(id);
  }

  /** The product of a webhook without waiting, when both are in memory. */
  cachedByWebhook(webhookId: string): Product | null {
    return this.#products.get(this.#idByWebhook.get(webhookId) ?? '') ?? null;
  }

  async get(id: string): Promise<Product | null> {
    return this.#products.get(id) ?? this.#loads.of(id, () => this.#read(id));
  }

  async byWebhook(webhookId: string): Promise<Product | null> {
    const known = this.#idByWebhook.get(webhookId);
    const remembered = known === undefined ? null : await this.get(known);
    if (remembered?.webhookId === webhookId) return remembered;
    const id = await this.#deps.idOfWebhook(webhookId);
    if (id === null) return null;
    const product = await this.get(id);
    // The webhook was rotated between the two reads: the old id is unknown.
    if (product?.webhookId !== webhookId) return null;
    this.#idByWebhook.set(webhookId, id);
    return product;
  }

  drop(change: Extract<Change, { kind: 'everything' | 'workspace' | 'product' }>): void {
    // Let no later request join a read that began before the change.
    this.#loads.forget(change.kind === 'product' ? change.id : undefined);
    if (change.kind === 'everything') {
      this.#products.clear();
      this.#idByWebhook.clear();
    } else if (change.kind === 'workspace') {
      for (const [id, product] of this.#products) if (product.workspaceId === change.id) this.#products.delete(id);
    } else {
      const product = this.#products.get(change.id);
      this.#products.delete(change.id);
      if (product !== undefined) this.#idByWebhook.delete(product.webhookId);
    }
  }

  async #read(id: string): Promise<Product | null> {
    const { revisions, read } = this.#deps;
    for (let looks = 1; ; looks += 1) {
      const before = revisions.now;
      const product = await read(id);
      if (product === null) return null;
      // Keep nothing that changed while it was read: it may mix old and new.
      const isStale = revisions.hasChanged([id, product.workspaceId], before);
      if (!isStale) this.#products.set(id, product);
      if (!isStale || looks === MOST_LOOKS) return product;
    }
  }
}

/** Approximate memory of a product: each field is an object in two maps, each character takes up to two bytes. */
function bytesOfProduct({ fields, configuration, decoder }: CachedProduct): number {
  let characters = decoder?.source.length ?? 0;
  for (const { description } of fields.values()) characters += description?.length ?? 0;
  return 2_000 + 500 * (fields.size + configuration.length) + 2 * characters;
}
