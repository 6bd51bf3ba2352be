import type { Database } from '../ports/database.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Device } from '../entities/device.ts';
import { readDevices } from './device-record.ts';

const MAX_KEPT = 10_000;
/** Maximum rows per statement. */
const READ_AT_ONCE = 200;

/**
 * Device rows for pushed events, which name the same few devices again and again; the commit that changes a device
 * drops its row. Rows know the key and id of their product only.
 */
export class DeviceCache {
  readonly #database: Database;
  readonly #rows = new Map<number, Device>();
  readonly #keyOf = new Map<string, number>();
  /** Keys without a device; a key is never reused. */
  readonly #gone = new Set<number>();
  /** Keys requested in this tick, read together. */
  #asked: { keys: Set<number>; rows: Promise<Map<number, Device>> } | null = null;
  #revision = 0;

  constructor(database: Database, cluster: Cluster) {
    this.#database = database;
    cluster.onChanged((changes) => {
      for (const change of changes) {
        if (change.kind === 'token' || change.kind === 'user' || change.kind === 'moved') continue;
        this.#revision += 1;
        if (change.kind === 'devices') for (const id of change.ids) this.#drop(id);
        else this.#dropAll();
      }
    });
  }

  /** The row without waiting, when it is in memory; null: no such device (any more). */
  cached(key: number): Device | null | undefined {
    return this.#rows.get(key) ?? (this.#gone.has(key) ? null : undefined);
  }

  /** The row; null: no such device (any more). Reads all keys of one tick together. */
  async get(key: number): Promise<Device | null> {
    const known = this.cached(key);
    if (known !== undefined) return known;
    if (this.#asked === null) {
      const keys = new Set<number>();
      const rows = Promise.resolve().then(() => {
        this.#asked = null;
        return this.#read([...keys]);
      });
      this.#asked = { keys, rows };
    }
    this.#asked.keys.add(key);
    return (await this.#asked.rows).get(key) ?? null;
  }

  async #read(keys: readonly number[]): Promise<Map<number, Device>> {
    const found = new Map<number, Device>();
    for (let from = 0; from < keys.length; from += READ_AT_ONCE) {
      const some = keys.slice(from, from + READ_AT_ONCE);
      const before = this.#revision;
      for (const row of await readDevices(this.#database, 'key', some)) {
        found.set(row.key, row);
        // Changed while it was read: good enough for an event from before the change, but not kept.
        if (before === this.#revision) this.#keep(row);
      }
      for (const key of some) if (!found.has(key)) this.#isGone(key);
    }
    return found;
  }

  #keep(row: Device): void {
    const oldest = this.#keyOf.size >= MAX_KEPT ? this.#keyOf.keys().next().value : undefined;
    if (oldest !== undefined) this.#drop(oldest);
    this.#rows.set(row.key, row);
    this.#keyOf.set(row.id, row.key);
  }

  #isGone(key: number): void {
    if (this.#gone.size >= MAX_KEPT) this.#gone.clear();
    this.#gone.add(key);
  }

  #dropAll(): void {
    this.#rows.clear();
    this.#keyOf.clear();
  }

  #drop(id: string): void {
    const key = this.#keyOf.get(id);
    if (key === undefined) return;
    this.#keyOf.delete(id);
    this.#rows.delete(key);
  }
}
