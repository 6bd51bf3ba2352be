import type { Access } from '../../domain/access/access.ts';
import type { StatusEvent } from '../../domain/device-status/watched-device.ts';
import type { StatusWatch } from '../../domain/device-status/status-watch.ts';
import type { IngestCache } from '../../domain/ingest-cache/ingest-cache.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { DeviceStatus } from '../types/device.ts';
import type { DeviceCache } from '../../domain/devices/device-cache.ts';
import { LiveStream } from './live-stream.ts';
import { type LiveChoice, narrowed } from './narrowed.ts';

/** The stream behind `deviceStatusChanged` (CONTRACT 7): the part of it that the token may read. */
export class LiveStatus {
  readonly #watch: StatusWatch;
  readonly #ingestCache: IngestCache;
  readonly #devices: DeviceCache;
  readonly #shares: FairScheduler;

  constructor(watch: StatusWatch, ingestCache: IngestCache, devices: DeviceCache, shares: FairScheduler) {
    this.#watch = watch;
    this.#ingestCache = ingestCache;
    this.#devices = devices;
    this.#shares = shares;
  }

  /** The errors of `narrowed`. */
  async open(access: Access, choice: LiveChoice): Promise<LiveStream<StatusEvent>> {
    const { workspaceIds, accepts } = await narrowed(access, this.#ingestCache, choice);
    const events = await this.#watch.subscribe(
      workspaceIds,
      ({ deviceId: id, ...place }) => accepts({ id, ...place }),
      this.#shares.turnsOf(access, { patient: true }),
      access.tenant,
    );
    const changeOf = async ({ deviceKey, online, at }: StatusEvent): Promise<DeviceStatus | null> => {
      const device = await this.#devices.get(deviceKey);
      return device && { device, online, at };
    };
    return new LiveStream(events, (event) => {
      // Devices of events that are taken together are read together: there may be as many as a workspace has.
      const isKnown = this.#devices.cached(event.deviceKey) !== undefined;
      const read = isKnown ? null : this.#devices.get(event.deviceKey).catch(() => null);
      return { of: event, value: () => (read === null ? changeOf(event) : read.then(() => changeOf(event))) };
    });
  }
}
