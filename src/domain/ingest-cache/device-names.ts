import { lruCache } from '../../scheduling/lru-cache.ts';
import type { Database } from '../ports/database.ts';
import { VersionCounter } from '../../scheduling/version-counter.ts';
import { SingleFlight } from '../../scheduling/single-flight.ts';
import { MAX_NAMED, readIdsNamed } from './device-rows.ts';

const MAX_NAMES = 400_000;
/** Maximum names without a device in memory: senders make them up, of up to 200 characters. */
const MAX_UNKNOWN = 50_000;

interface Named {
  ids: string[];
  /** Revision at which it was read; a later change of the workspace's devices invalidates it. */
  revision: number;
}

/** The devices of each name in a workspace, in memory, until any of the workspace's devices changes. */
export class DeviceNames {
  readonly #database: Database;
  /** `workspaceId identity` → device ids. */
  readonly #ids = lruCache<string, Named>(MAX_NAMES, ({ ids }) => ids.length);
  /** Keys of names that no device of the workspace has → revision at which that was read. */
  readonly #unknown = lruCache<string, number>(MAX_UNKNOWN);
  readonly #loads = new SingleFlight<string[]>();
  /** Revisions by workspace: devices of others may change all the time. */
  readonly #revisions = new VersionCounter();

  constructor(database: Database) {
    this.#database = database;
  }

  get size(): number {
    return this.#ids.size;
  }

  /**
   * Ids of the devices of that identity (`deviceIdentity`) in the workspaces. Reads all that are not in memory in one
   * query.
   */
  async idsOf(workspaceIds: readonly string[], identity: string): Promise<string[]> {
    if (!isPossibleSerial(identity)) return [];
    const ids: string[] = [];
    const unread: string[] = [];
    for (const workspaceId of workspaceIds) {
      const key = keyOf(workspaceId, identity);
      const known = this.#ids.get(key);
      if (known !== undefined && this.#holds(workspaceId, known.revision)) ids.push(...known.ids);
      else if (!this.#holds(workspaceId, this.#unknown.get(key))) unread.push(workspaceId);
    }
    if (unread.length === 0) return ids;
    const load = (): Promise<string[]> => this.#read(unread, identity);
    return [...ids, ...(await this.#loads.of(keyOf(unread.join(','), identity), load))];
  }

  /** Forgets a name of which a device is gone: another device may have it by now. */
  forget(workspaceIds: readonly string[], identity: string): void {
    for (const workspaceId of workspaceIds) this.#ids.delete(keyOf(workspaceId, identity));
    this.#loads.forget();
  }

  /** Forgets a workspace whose devices changed; reads in progress are not kept, and later ones do not join them. */
  drop(workspaceId: string): void {
    this.#revisions.changed(workspaceId);
    this.#loads.forget();
  }

  clear(): void {
    this.#revisions.changedAll();
    this.#loads.forget();
    this.#ids.clear();
    this.#unknown.clear();
  }

  #holds(workspaceId: string, revision: number | undefined): boolean {
    return revision !== undefined && !this.#revisions.hasChanged([workspaceId], revision);
  }

  async #read(workspaceIds: readonly string[], identity: string): Promise<string[]> {
    const revision = this.#revisions.now;
    const rows = await readIdsNamed(this.#database, workspaceIds, identity);
    const ids = rows.map(({ id }) => id);
    // At the maximum, devices of a workspace may be missing: keep nothing.
    if (rows.length === MAX_NAMED) return ids;
    const byWorkspace = Map.groupBy(rows, ({ workspaceId }) => workspaceId);
    for (const workspaceId of workspaceIds) {
      // Skip what changed while it was read.
      if (!this.#holds(workspaceId, revision)) continue;
      const own = byWorkspace.get(workspaceId)?.map(({ id }) => id);
      const key = keyOf(workspaceId, identity);
      if (own === undefined) this.#unknown.set(key, revision);
      else this.#ids.set(key, { ids: own, revision });
    }
    return ids;
  }
}

function keyOf(workspaceId: string, identity: string): string {
  return `${workspaceId} ${identity}`;
}

/** True when a device may have this serial number: neither too long nor with NUL, which no database takes. */
export function isPossibleSerial(name: string): boolean {
  return name.length <= 200 && !name.includes('\0');
}
