import { AppError, forbidden, notFound } from '../../errors.ts';
import type { IngestCache, DeviceInfo } from './ingest-cache.ts';
import type { Access } from '../access/access.ts';
import type { TokenScope } from '../entities/token.ts';
import { seenDevice } from './seen-fields.ts';

/**
 * Finds the device that a request names (device id or serial number), among those its token may record for (CONTRACT
 * 3), with the fields that the token covers.
 */
export class DeviceFinder {
  readonly #ingestCache: IngestCache;

  constructor(ingestCache: IngestCache) {
    this.#ingestCache = ingestCache;
  }

  /** Unchanged as long as everything found here is still true. */
  get revision(): number {
    return this.#ingestCache.revision;
  }

  /** The device by id, from memory, when the token may record for it; null: ask `forRecording`. */
  cached(access: Access, id: string): DeviceInfo | null {
    const device = this.#ingestCache.cachedDevice(id);
    return device !== null && access.coversDevice(device) && access.may(device.workspaceId, 'RECORD')
      ? seenDevice(access, device)
      : null;
  }

  /**
   * The named device. FORBIDDEN without scope RECORD, or for a device of the token's workspace that its limits leave
   * out; NOT_FOUND for one that does not exist or is another tenant's; AMBIGUOUS_DEVICE when several visible devices
   * have the serial number.
   */
  forRecording(access: Access, name: string): Promise<DeviceInfo> {
    return this.named(access, name, 'RECORD');
  }

  /** The same for another scope: READ to export values, CONFIGURE to import some (CONTRACT 8). */
  async named(access: Access, name: string, scope: TokenScope): Promise<DeviceInfo> {
    access.workspaceIdsWith(scope);
    const byId = await this.#ingestCache.device(name);
    const found =
      byId !== null && access.seesWorkspace(byId.workspaceId)
        ? [byId]
        : await this.#ingestCache.devicesNamed(access.workspaceIds(), name);
    const visible = visibleOf(access, found);
    const [device] = visible;
    if (device === undefined) throw notFound('device', name);
    if (visible.length > 1)
      throw new AppError(
        'AMBIGUOUS_DEVICE',
        `${visible.length} devices have the serial number "${name.slice(0, 100)}"; use the device id instead.`,
      );
    access.requireDevice(device, scope);
    return seenDevice(access, device);
  }

  /** The devices with a network's identifier that the token covers; none: no device has it. FORBIDDEN as above. */
  async forUplink(access: Access, identifier: string): Promise<DeviceInfo[]> {
    const workspaceIds = access.workspaceIdsWith('RECORD');
    const visible = visibleOf(access, await this.#ingestCache.devicesNamed(workspaceIds, identifier));
    for (const device of visible) access.requireDevice(device, 'RECORD');
    return visible;
  }
}

/** The covered devices; FORBIDDEN when the token's limits leave out all of several. */
function visibleOf(access: Access, found: readonly DeviceInfo[]): DeviceInfo[] {
  const visible = found.filter((device) => access.coversDevice(device));
  if (found.length > 0 && visible.length === 0) throw forbidden('This token is limited to other products or devices.');
  return visible;
}
