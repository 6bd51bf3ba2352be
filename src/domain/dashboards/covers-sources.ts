import { Access } from '../access/access.ts';
import type { DeviceList } from '../devices/device-list.ts';
import type { Asker } from '../devices/device-scan.ts';
import type { Database } from '../ports/database.ts';
import { placeholders } from '../sql/long-columns.ts';
import type { NamedSources } from './source.ts';

/**
 * True when a token limited to products or devices covers everything that a dashboard shows: each product named, and
 * each device that is named or has the tags at present. False when the dashboard names nothing, or tags of no device.
 */
export async function coversSources(
  { database, devices }: { database: Database; devices: DeviceList },
  access: Access,
  workspaceId: string,
  { deviceIds, productIds, tags }: NamedSources,
  asker?: Asker,
): Promise<boolean> {
  if (deviceIds.length + productIds.length + tags.length === 0) return false;
  if (productIds.some((id) => !access.coversProduct({ id, workspaceId }))) return false;
  if (deviceIds.length > 0) {
    const asked = deviceIds.filter((id) => !id.includes('\0'));
    const [row] = await database
      .read()
      .execute<{ count: number | string }[]>(
        `select count(*) as count from device where workspace_id = ? and id in (${placeholders(asked)})`,
        [workspaceId, ...asked],
      );
    if ((await devices.count(access, { workspaceId, ids: asked }, asker)) < Number(row?.count ?? 0)) return false;
  }
  const everybody = unlimited(access, workspaceId);
  for (const some of tags) {
    const all = await devices.count(everybody, { workspaceId, tags: some }, asker);
    if (all === 0 || (await devices.count(access, { workspaceId, tags: some }, asker)) < all) return false;
  }
  return true;
}

/** The rights of the same token, were it not limited: to count by, never to show anything. */
function unlimited({ tokenId, kind, userId }: Access, workspaceId: string): Access {
  return new Access({
    tokenId,
    kind,
    userId,
    operator: false,
    scopes: new Map([[workspaceId, new Set(['READ'])]]),
    productIds: null,
    deviceIds: null,
    fields: null,
    expiresAt: null,
    signedIn: false,
  });
}
