import { lruCache } from '../../scheduling/lru-cache.ts';
import { AppError, noDatabase } from '../../errors.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';

/** Keys of the fields of one moved device, and of its values in the store. */
interface KeysOfDevice {
  /** Key of a field → key in the store; a field that is not there has its own. */
  stored: ReadonlyMap<number, number>;
  /** Key in the store → keys of the fields that have these values, in one product or another. */
  fields: ReadonlyMap<number, readonly number[]>;
}

/** Key of a device → its keys, of moved devices only. */
export type MovedKeys = ReadonlyMap<number, KeysOfDevice>;

interface Row {
  deviceKey: number;
  fieldKey: number;
  storedKey: number;
}

type Asked = readonly { deviceKey: number }[];

const NONE: MovedKeys = new Map();
/** Maximum keys in memory. */
const MAX_KEYS = 500_000;
/** Maximum devices per statement. */
const READ_AT_ONCE = 500;
const ROWS =
  'select device_key as "deviceKey", field_key as "fieldKey", stored_key as "storedKey" from moved_field where device_key';

/**
 * The keys under which the store has the values of moved devices. A move changes no value: the store keeps the keys under
 * which they were recorded, whatever product the device is in. The rows are written, and every node has heard of them,
 * before a device is in its new product, and those of the product that it leaves stay: both products' fields lead to the
 * values at every moment of a move.
 */
export class StoredKeys {
  readonly #database: Database;
  /** Keys of all moved devices; null: to be read. */
  #moved: Set<number> | null = null;
  readonly #known = lruCache<number, KeysOfDevice>(MAX_KEYS, ({ stored }) => stored.size + 1);
  /** Ids of the devices that have moved since. */
  readonly #unread = new Set<string>();
  #revision = 0;
  #refreshing: Promise<void> | null = null;

  constructor(database: Database, cluster: Cluster) {
    this.#database = database;
    cluster.onChanged((changes) => {
      for (const change of changes) {
        if (change.kind === 'everything') this.#moved = null;
        else if (change.kind === 'moved') this.#unread.add(change.id);
        else continue;
        this.#revision += 1;
      }
    });
  }

  /**
   * The keys of those of the devices that were moved, as the last move left them; without waiting where they are in
   * memory. UNAVAILABLE without a database.
   */
  of(asked: Asked): MovedKeys | Promise<MovedKeys> {
    return this.#inMemory(asked) ?? this.#read(asked);
  }

  /** Those of the devices that are in another product than this by now. */
  async left(productKey: number, asked: Asked): Promise<ReadonlySet<number>> {
    const moved = [...(await this.of(asked)).keys()];
    const left = new Set<number>();
    for (let at = 0; at < moved.length; at += READ_AT_ONCE) {
      const some = moved.slice(at, at + READ_AT_ONCE);
      const sql = `select "key" from device where product_key <> ? and "key" in (${placeholders(some)})`;
      const rows = await this.#database.read().execute<{ key: number }[]>(sql, [productKey, ...some]);
      for (const { key } of rows) left.add(key);
    }
    return left;
  }

  /** null: not all are in memory. */
  #inMemory(asked: Asked): MovedKeys | null {
    if (this.#moved === null || this.#unread.size > 0) return null;
    if (this.#moved.size === 0) return NONE;
    const found = new Map<number, KeysOfDevice>();
    for (const { deviceKey } of asked) {
      if (!this.#moved.has(deviceKey) || found.has(deviceKey)) continue;
      const own = this.#known.get(deviceKey);
      if (own === undefined) return null;
      found.set(deviceKey, own);
    }
    return found;
  }

  async #read(asked: Asked): Promise<MovedKeys> {
    try {
      for (;;) {
        while (this.#moved === null || this.#unread.size > 0) {
          this.#refreshing ??= this.#refresh().finally(() => {
            this.#refreshing = null;
          });
          await this.#refreshing;
        }
        const found = this.#inMemory(asked) ?? (await this.#readRows(asked, this.#moved));
        if (found !== null) return found;
      }
    } catch (error) {
      throw error instanceof AppError ? error : noDatabase(error);
    }
  }

  /** Reads which devices were moved: all, or those of which the node has heard since. */
  async #refresh(): Promise<void> {
    const before = this.#revision;
    const ids = [...this.#unread];
    const all = 'select m.device_key as "key" from moved_device m';
    const some = `${all} join device d on d."key" = m.device_key where d.id in (${placeholders(ids)})`;
    const known = this.#moved;
    const em = this.#database.read();
    const rows = await em.execute<{ key: number }[]>(known === null ? all : some, known === null ? [] : ids);
    // Something was moved meanwhile, which may not be among them.
    if (this.#revision !== before) return;
    if (known === null) this.#known.clear();
    for (const { key } of rows) this.#known.delete(key);
    this.#moved = new Set([...(known ?? []), ...rows.map(({ key }) => key)]);
    this.#unread.clear();
  }

  /** null: something was moved meanwhile. */
  async #readRows(asked: Asked, moved: ReadonlySet<number>): Promise<MovedKeys | null> {
    const before = this.#revision;
    const keys = [...new Set(asked.map(({ deviceKey }) => deviceKey))].filter((key) => moved.has(key));
    const found = new Map<number, KeysOfDevice>();
    for (let at = 0; at < keys.length; at += READ_AT_ONCE) {
      const some = keys.slice(at, at + READ_AT_ONCE);
      const rows = await this.#database.read().execute<Row[]>(`${ROWS} in (${placeholders(some)})`, some);
      const byDevice = Map.groupBy(rows, ({ deviceKey }) => deviceKey);
      for (const key of some) found.set(key, keysOf(byDevice.get(key) ?? []));
    }
    if (this.#revision !== before) return null;
    for (const [key, own] of found) this.#known.set(key, own);
    return found;
  }
}

function keysOf(rows: readonly Row[]): KeysOfDevice {
  const fields = new Map<number, number[]>();
  for (const { fieldKey, storedKey } of rows) {
    const others = fields.get(storedKey);
    if (others === undefined) fields.set(storedKey, [fieldKey]);
    else others.push(fieldKey);
  }
  return { stored: new Map(rows.map(({ fieldKey, storedKey }) => [fieldKey, storedKey])), fields };
}
