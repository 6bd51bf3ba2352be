import { AppError } from '../../errors.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import { DEFAULT_OFFLINE_AFTER_SECONDS } from '../devices/offline-after.ts';
import type { Conditions } from '../devices/device-scan.ts';

/** Rows that are read at once. */
export const PAGE = 2_000;
/** What reading a device takes, and asking for it once more. */
export const DEVICE_MS = 0.02;

/** Of which all devices are read, and who pays for that. */
export interface WholeWorkspace {
  id: string;
  since: number;
  spend: (milliseconds: number) => void;
}

/** Where a device belongs whose status somebody watches. */
export interface WatchedPlace {
  deviceKey: number;
  deviceId: string;
  productId: string;
  workspaceId: string;
}

/** A device whose status somebody watches, with what is known of it. */
export interface Watched extends WatchedPlace {
  limitMs: number;
  /** Else its limit is that of its product. */
  hasOwnLimit: boolean;
  /** Receipt time of what it sent last; -Infinity: nothing ever. */
  heardAt: number;
  online: boolean;
  /** Which reading of a workspace had begun when it was read last. */
  reading: number;
}

/** A device went silent, or is heard again; `at` in milliseconds: when the silence was too long, or its end. */
export interface StatusEvent extends WatchedPlace {
  online: boolean;
  at: number;
}

/** The device's own seconds count, else its product's. */
export interface PlaceRow extends WatchedPlace {
  ownSeconds: number | null;
  productSeconds: number | null;
}

interface ProductRow {
  id: string;
  workspaceId: string;
  offlineAfterSeconds: number | null;
}

/** A page of the devices after a key. No entities: 2,000 kept the event loop for 40 ms. */
export function readPlaces(database: Database, { sql, values }: Conditions, after: number): Promise<PlaceRow[]> {
  return database.read().execute<PlaceRow[]>(
    `select d."key" as "deviceKey", d.id as "deviceId", p.id as "productId", d.workspace_id as "workspaceId",
       d.offline_after_seconds as "ownSeconds", p.offline_after_seconds as "productSeconds"
     from device d join product p on p."key" = d.product_key
     where ${sql.join(' and ')} and d."key" > ? order by d."key" limit ${PAGE}`,
    [...values, after],
  );
}

/** Those of the products that are there. */
export async function readProducts(database: Database, ids: readonly string[]): Promise<ProductRow[]> {
  const found: ProductRow[] = [];
  for (let at = 0; at < ids.length; at += PAGE) {
    const page = ids.slice(at, at + PAGE);
    const rows = await database.read().execute<ProductRow[]>(
      `select id, workspace_id as "workspaceId", offline_after_seconds as "offlineAfterSeconds"
       from product where id in (${placeholders(page)})`,
      page,
    );
    found.push(...rows);
  }
  return found;
}

/** For how long a device may be silent and counts as online, in milliseconds; null: as long as usual. */
export function limitOf(offlineAfterSeconds: number | null): number {
  return (offlineAfterSeconds ?? DEFAULT_OFFLINE_AFTER_SECONDS) * 1000;
}

/** Whether it has been silent for longer than it may. */
export function isOverdue({ heardAt, limitMs }: Pick<Watched, 'heardAt' | 'limitMs'>, now: number): boolean {
  return heardAt + limitMs < now;
}

/** Those of each workspace, of the one with most of them last: few do not wait for a hundred thousand. */
export function smallestFirst(ofWorkspaces: ReadonlyMap<string, Watched[]>): Watched[] {
  return [...ofWorkspaces.values()].sort((some, others) => some.length - others.length).flat();
}

/** Too many devices are so a second later, too. */
export function isWorthARetry(error: unknown): boolean {
  return !(error instanceof AppError && error.code === 'OVERLOADED');
}
