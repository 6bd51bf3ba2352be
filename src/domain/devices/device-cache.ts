import type { Database } from '../database.ts';
import type { Cluster } from '../cluster.ts';
import type { Device } from '../entities/device.ts';
import { readDevices } from './device-record.ts';

const MAX_KEPT = 10_000;

/**
 * Device rows for pushed events, which name the same few devices again and again; each is dropped by the commit that
 * changes it. Of its product a row knows which it is.
 */
export class DeviceCache {
  readonly #database: Database;
  readonly #rows = new Map<number, Device>();
  readonly #keyOf = new Map<string, number>();
  #revision = 0;

  constructor(database: Database, cluster: Cluster) {
    this.#database = database;
    cluster.onChanged((changes) => {
      for (const change of changes) {
        if (change.kind === 'token' || change.kind === 'user') continue;
        this.#revision += 1;
        for (const id of change.kind === 'devices' ? change.ids : this.#keyOf.keys()) this.#drop(id);
      }
    });
  }

  /** The row without waiting, when it is in memory. */
  cached(key: number): Device | undefined {
    return this.#rows.get(key);
  }

  /** null: there is no such device (any more). */
  async get(key: number): Promise<Device | null> {
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    const before = this.#revision;
    const [row = null] = await readDevices(this.#database, 'key', [key]);
    // Changed while it was read: good enough for an event of before the change, not for keeping.
    if (row === null || before !== this.#revision) return row;
    const oldest = this.#keyOf.size >= MAX_KEPT ? this.#keyOf.keys().next().value : undefined;
    if (oldest !== undefined) this.#drop(oldest);
    this.#rows.set(key, row);
    this.#keyOf.set(row.id, key);
    return row;
  }

  #drop(id: string): void {
    const key = this.#keyOf.get(id);
    if (key === undefined) return;
    this.#keyOf.delete(id);
    this.#rows.delete(key);
  }
}
