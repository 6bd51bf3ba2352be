import { lruCache } from '../../scheduling/lru-cache.ts';
import type { Database } from '../ports/database.ts';
import type { Change, Cluster } from '../ports/cluster.ts';
import type { ConfigurationFieldInfo } from './device-configuration.ts';
import type { FieldWords, Meant, ReadAs } from '../entities/field.ts';
import { type DeviceType, ProductSchema } from '../entities/product.ts';
import { BatchedFlight } from '../../scheduling/batched-flight.ts';
import { deviceIdentity } from '../text/device-identity.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import type { ChargedTurns } from '../../scheduling/charged-turns.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { Keeps, KeepsOf } from './keeps.ts';
import { DeviceNames, isPossibleSerial } from './device-names.ts';
import { type DeviceRow, named, readDeviceRows, weightOfDevice, withIds } from './device-rows.ts';
import { ProductCache } from './product-cache.ts';
import { type ProductAnswers, readProduct } from './product-rows.ts';
import { VersionCounter } from '../../scheduling/version-counter.ts';
import { serialsText } from './serials-text.ts';
import { isUuid } from '../text/uuid.ts';

/** A field as recording and reading need it; `key` is the small number that measurements carry. */
export interface FieldInfo extends FieldWords, ReadAs, Meant {
  key: number;
  identifier: string;
}

/** An immutable snapshot of a product with its fields and active decoder; a change makes a new one. */
export interface ProductInfo {
  key: number;
  id: string;
  workspaceId: string;
  name: string;
  deviceType: DeviceType;
  webhookId: string;
  offlineAfterSeconds: number | null;
  /** True when the place (0,0) means no fix. */
  ignoreZeroPlaces: boolean;
  /** IANA zone of times without one; null: UTC. */
  timeZone: string | null;
  fields: Map<string, FieldInfo>;
  fieldsByKey: Map<number, FieldInfo>;
  configuration: ConfigurationFieldInfo[];
  decoder: { version: number; source: string } | null;
  answers: ProductAnswers;
  /** Nearest write rate above the device: the product's, else the workspace's, else null (the server's default). */
  writeRate: number | null;
  /** The product with all fields, where a token limited to some sees it (`seenProduct`); left out: these are all. */
  whole?: ProductInfo;
}

/** A snapshot of a device and its product; a change of either makes a new one. */
export interface DeviceInfo {
  key: number;
  id: string;
  workspaceId: string;
  productId: string;
  product: ProductInfo;
  name: string;
  serialNumber: string;
  identity: string;
  /** Key of a configuration field → the device's own value. */
  configuration: Record<string, unknown>;
  /** Retention of its plan; null: for ever. */
  keeps: Keeps | null;
  /** Milliseconds between two accepted writes of one field (CONTRACT 3); 0: no limit. */
  writeIntervalMs: number;
}

const [MAX_PRODUCTS, MAX_DEVICES, MAX_NAMES, LOADED_AT_ONCE] = [100_000, 200_000, 400_000, 500];
/** Maximum reads of something that changes meanwhile; then the last one is returned, and not kept. */
const MOST_LOOKS = 3;
/** Maximum devices of one change that invalidates them alone, and not all devices of the product. */
const FEW_CHANGED = 100;

/**
 * Everything that ingest reads, in memory: products with fields and decoder, devices, and the ways to find them. The
 * commit that changes an entry drops it, on every node, before the mutation answers: the next request sees the change
 * (CONTRACT 1).
 */
export class IngestCache {
  readonly #revisions = new VersionCounter();
  readonly #database: Database;
  /** Defaults and plans that say what a device may write, and what is kept of it. */
  readonly #limits: { defaultWriteRate: number; keepsOf: KeepsOf };
  readonly #products: ProductCache<ProductInfo>;
  readonly #devices = {
    byId: lruCache<string, DeviceRow>(MAX_DEVICES, weightOfDevice),
    /** `productId NUL identity` → device id; devices found only. */
    idByIdentity: lruCache<string, string>(MAX_NAMES),
  };
  readonly #names: DeviceNames;
  readonly #deviceLoads = new BatchedFlight<DeviceInfo>((ids) => this.#readDevices(ids));
  /** Revision of the first read of a product's serial numbers since the last change of its devices. */
  readonly #serialsVersions = lruCache<string, string>(MAX_PRODUCTS);

  constructor(database: Database, cluster: Cluster, defaultWriteRate: number, keepsOf: KeepsOf) {
    this.#database = database;
    this.#limits = { defaultWriteRate, keepsOf };
    this.#names = new DeviceNames(database);
    this.#products = new ProductCache<ProductInfo>({
      revisions: this.#revisions,
      read: (id) => readProduct(database, id),
      idOfWebhook: async (webhookId) => {
        const row = await database.read().findOne(ProductSchema, { webhookId }, { fields: ['id'] });
        return row?.id ?? null;
      },
    });
    cluster.onChanged((changes) => {
      for (const change of changes) this.#drop(change);
    });
  }

  /** Number of entries in memory, by kind. */
  get sizes(): Record<string, number> {
    return {
      products: this.#products.size,
      devices: this.#devices.byId.size,
      serials: this.#devices.idByIdentity.size,
      names: this.#names.size,
    };
  }

  /** Changes whenever anything kept here is dropped: as long as it stays, everything found is still true. */
  get revision(): number {
    return this.#revisions.now;
  }

  /** True when the product, its workspace or any of its devices has changed since that revision. */
  hasChanged(product: Pick<ProductInfo, 'id' | 'workspaceId'>, since: number): boolean {
    return this.#revisions.hasChanged([product.id, product.workspaceId, devicesOf(product.id)], since);
  }

  async product(id: string): Promise<ProductInfo | null> {
    return this.#products.get(id);
  }

  async productByWebhook(webhookId: string): Promise<ProductInfo | null> {
    return this.#products.byWebhook(webhookId);
  }

  /** The product of a webhook without waiting, when both are in memory. */
  cachedByWebhook(webhookId: string): ProductInfo | null {
    return this.#products.cachedByWebhook(webhookId);
  }

  /** The device without waiting, when it and its product are in memory. */
  cachedDevice(id: string): DeviceInfo | null {
    const cached = this.#devices.byId.get(id);
    if (cached === undefined) return null;
    const product = this.#products.cached(cached.productId);
    return product === undefined ? null : this.#withProduct(cached, product);
  }

  async device(id: string): Promise<DeviceInfo | null> {
    const cached = this.cachedDevice(id);
    if (cached !== null || !isUuid(id)) return cached;
    return this.#deviceLoads.of(id.toLowerCase());
  }

  async #readDevices(ids: readonly string[]): Promise<Map<string, DeviceInfo>> {
    const found = new Map<string, DeviceInfo>();
    for (let at = 0, looks = 1; at < ids.length; looks += 1) {
      const before = this.#revisions.now;
      if (at > 0) await yieldToEventLoop();
      const some = ids.slice(at, at + LOADED_AT_ONCE);
      const rows = await readDeviceRows(this.#database, withIds(some));
      const products = new Map<string, ProductInfo>();
      for (const id of new Set(rows.map(({ productId }) => productId))) {
        const product = await this.product(id);
        if (product !== null) products.set(id, product);
      }
      const isStale = this.#isStale(products.values(), some, before);
      if (isStale && looks < MOST_LOOKS) continue;
      for (const row of rows) {
        const product = products.get(row.productId);
        if (product !== undefined) found.set(row.id, this.#remember(row, product, !isStale));
      }
      at += LOADED_AT_ONCE;
      looks = 0;
    }
    return found;
  }

  /**
   * The product's devices with these names (serial numbers or ids), in few queries however many there are. Names
   * without a device are absent; null: several devices have the name.
   */
  async devicesOfProduct(product: ProductInfo, names: Iterable<string>): Promise<Map<string, DeviceInfo | null>> {
    const found = new Map<string, DeviceInfo | null>();
    const unknown: string[] = [];
    for (const name of new Set(names)) {
      const device = this.#cachedOfProduct(product, name);
      if (device !== null) found.set(name, device);
      else if (isPossibleSerial(name)) unknown.push(name);
    }
    for (let at = 0; at < unknown.length; at += LOADED_AT_ONCE) {
      if (at > 0) await yieldToEventLoop();
      await this.#loadOfProduct(product, unknown.slice(at, at + LOADED_AT_ONCE), found);
    }
    return found;
  }

  /** Every device of the workspaces that has this serial number, as `deviceIdentity` compares them. */
  async devicesNamed(workspaceIds: readonly string[], serialNumber: string): Promise<DeviceInfo[]> {
    const identity = deviceIdentity(serialNumber);
    for (let looks = 1; ; looks += 1) {
      const ids = await this.#names.idsOf(workspaceIds, identity);
      const devices = await Promise.all(ids.map((id) => this.device(id)));
      if (!devices.includes(null) || looks === MOST_LOOKS) return devices.filter((device) => device !== null);
      this.#names.forget(workspaceIds, identity);
    }
  }

  /**
   * JSON text of serial number → device id of all devices of the product, in pieces read in `turns`; `version` changes
   * with them.
   */
  serials(product: ProductInfo): {
    version: string;
    load: (maxBytes: number, turns: ChargedTurns) => Promise<readonly Buffer[] | null>;
  } {
    const version = this.#serialsVersions.get(product.id) ?? String(this.#revisions.now);
    this.#serialsVersions.set(product.id, version);
    const load = (maxBytes: number, turns: ChargedTurns): Promise<readonly Buffer[] | null> =>
      runAs({ tokenId: product.id, tenant: product.workspaceId }, () =>
        serialsText(this.#database, turns, product.key, maxBytes),
      );
    return { version, load };
  }

  #cachedOfProduct(product: ProductInfo, name: string): DeviceInfo | null {
    const identity = deviceIdentity(name);
    const known = this.#devices.idByIdentity.get(`${product.id}\0${identity}`);
    const id = known ?? (isUuid(name) ? name.toLowerCase() : null);
    const device = id === null ? null : this.cachedDevice(id);
    // Check a cached serial number: the device may have another by now.
    const named = device?.identity === identity || device?.id === name.toLowerCase();
    return named && device?.productId === product.id ? device : null;
  }

  async #loadOfProduct(product: ProductInfo, names: string[], found: Map<string, DeviceInfo | null>): Promise<void> {
    const ids = names.filter(isUuid).map((id) => id.toLowerCase());
    const identities = [...new Set(names.map(deviceIdentity))];
    for (let looks = 1; ; looks += 1) {
      const before = this.#revisions.now;
      const current = await this.product(product.id);
      if (current === null) return;
      const rows = await readDeviceRows(this.#database, named(product, identities, ids));
      const isStale = this.#isStale([current], rows.map(({ id }) => id), before); // oxfmt-ignore
      if (isStale && looks < MOST_LOOKS) continue;
      const [byId, byIdentity] = [new Map<string, DeviceInfo>(), new Map<string, DeviceInfo | null>()];
      for (const row of rows) {
        const device = this.#remember(row, current, !isStale);
        byId.set(row.id, device);
        byIdentity.set(row.identity, byIdentity.has(row.identity) ? null : device);
      }
      for (const name of names) {
        const identity = deviceIdentity(name);
        const device = byId.get(name.toLowerCase()) ?? byIdentity.get(identity);
        if (device !== undefined) found.set(name, device);
        if (!isStale && device?.identity === identity)
          this.#devices.idByIdentity.set(`${product.id}\0${identity}`, device.id);
      }
      return;
    }
  }

  #remember(row: DeviceRow, product: ProductInfo, isKept: boolean): DeviceInfo {
    if (isKept) this.#devices.byId.set(row.id, row);
    return this.#withProduct(row, product);
  }

  #withProduct(row: DeviceRow, product: ProductInfo): DeviceInfo {
    const { key, id, productId, name, serialNumber, identity, configuration } = row;
    const rate = row.writeRate ?? product.writeRate ?? this.#limits.defaultWriteRate;
    const own = {
      key,
      id,
      productId,
      name,
      serialNumber,
      identity,
      configuration,
      keeps: this.#limits.keepsOf(row.plan),
    };
    return { ...own, product, workspaceId: product.workspaceId, writeIntervalMs: rate > 0 ? 1000 / rate : 0 };
  }

  /**
   * True when devices that were read may have changed since: they, their workspaces, or many of their product at once.
   */
  #isStale(products: Iterable<ProductInfo>, deviceIds: readonly string[], since: number): boolean {
    const ofProducts = [...products].flatMap(({ id, workspaceId }) => [workspaceId, manyOf(id)]);
    return this.#revisions.hasChanged([...ofProducts, ...deviceIds], since);
  }

  #drop(change: Change): void {
    if (change.kind === 'token' || change.kind === 'user' || change.kind === 'moved') return;
    if (change.kind === 'devices') return this.#dropDevices(change);
    // Let no later request join a read that began before the change.
    this.#deviceLoads.forget();
    this.#products.drop(change);
    if (change.kind !== 'everything') return this.#revisions.changed(change.id);
    this.#revisions.changedAll();
    this.#devices.byId.clear();
    this.#devices.idByIdentity.clear();
    this.#names.clear();
    this.#serialsVersions.clear();
  }

  /** Drops devices, and not their product. */
  #dropDevices(change: Extract<Change, { kind: 'devices' }>): void {
    const { productId, ids } = change;
    const workspaceId = change.workspaceId ?? this.#products.cached(productId)?.workspaceId;
    if (workspaceId === undefined) this.#names.clear();
    else this.#names.drop(workspaceId);
    this.#serialsVersions.delete(productId);
    for (const id of ids) this.#devices.byId.delete(id);
    for (const id of ids) this.#deviceLoads.forget(id);
    for (const id of ids.length > FEW_CHANGED ? [manyOf(productId)] : ids) this.#revisions.changed(id);
    this.#revisions.changed(devicesOf(productId));
  }
}

/** Revision key for a change of any of a product's devices. */
const devicesOf = (productId: string): string => `devices of ${productId}`;
/** Revision key for a change of many of them at once. */
const manyOf = (productId: string): string => `many of ${productId}`;
