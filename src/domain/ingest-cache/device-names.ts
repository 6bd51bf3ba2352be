import type { Database } from '../database.ts';
import { LruMap } from '../lru-map.ts';
import { SharedLoads } from '../shared-loads.ts';
import { MAX_NAMED, type NameColumn, readIdsNamed } from './device-rows.ts';
import { isPossibleSerial } from './possible-serial.ts';

const MAX_NAMES = 400_000;
/** Anybody makes them up, of up to 200 characters. */
const MAX_UNKNOWN = 50_000;

/** Which devices of a workspace have a name, in memory; all is dropped when any device or product changes. */
export class DeviceNames {
  readonly #database: Database;
  /** `workspaceId column name` → device ids. */
  readonly #ids = new LruMap<string, string[]>({ most: MAX_NAMES, sizeOf: (ids) => ids.length });
  /** The keys of names that no device of the workspace has. */
  readonly #unknown = new LruMap<string, string>({ most: MAX_UNKNOWN });
  readonly #loads = new SharedLoads<string[]>();
  #drops = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  get size(): number {
    return this.#ids.size;
  }

  /** Ids of the devices of that name in the workspaces. What is not in memory is one query, however many they are. */
  async idsOf(workspaceIds: readonly string[], column: NameColumn, name: string): Promise<string[]> {
    if (!isPossibleSerial(name)) return [];
    const ids: string[] = [];
    const unread: string[] = [];
    for (const workspaceId of workspaceIds) {
      const key = keyOf(workspaceId, column, name);
      const known = this.#ids.get(key);
      if (known !== undefined) ids.push(...known);
      else if (this.#unknown.get(key) === undefined) unread.push(workspaceId);
    }
    if (unread.length === 0) return ids;
    const load = (): Promise<string[]> => this.#read(unread, column, name);
    return [...ids, ...(await this.#loads.of(keyOf(unread.join(','), column, name), load))];
  }

  /** One of the devices is gone since its name was read, and another may have that by now. */
  forget(workspaceIds: readonly string[], column: NameColumn, name: string): void {
    for (const workspaceId of workspaceIds) this.#ids.delete(keyOf(workspaceId, column, name));
    this.#loads.forget();
  }

  /** What is read just now is not kept, and nobody joins those who read it. */
  stopReading(): void {
    this.#drops += 1;
    this.#loads.forget();
  }

  clear(): void {
    this.stopReading();
    this.#ids.clear();
    this.#unknown.clear();
  }

  async #read(workspaceIds: readonly string[], column: NameColumn, name: string): Promise<string[]> {
    const before = this.#drops;
    const rows = await readIdsNamed(this.#database, workspaceIds, column, name);
    const ids = rows.map(({ id }) => id);
    // Of as many as are read, those of a workspace may be missing.
    if (before !== this.#drops || rows.length === MAX_NAMED) return ids;
    const byWorkspace = Map.groupBy(rows, ({ workspaceId }) => workspaceId);
    for (const workspaceId of workspaceIds) {
      const own = byWorkspace.get(workspaceId)?.map(({ id }) => id);
      const key = keyOf(workspaceId, column, name);
      if (own === undefined) this.#unknown.set(key, name);
      else this.#ids.set(key, own);
    }
    return ids;
  }
}

function keyOf(workspaceId: string, column: NameColumn, name: string): string {
  return `${workspaceId} ${column} ${name}`;
}
