import type { Access } from '../../domain/access/access.ts';
import { placeOfDevice } from '../../domain/access/find-device.ts';
import { type AlertChange, type AlertFeed, cursorOf } from '../../domain/alerts/alert-feed.ts';
import type { DeviceCache } from '../../domain/devices/device-cache.ts';
import type { IngestCache } from '../../domain/ingest-cache/ingest-cache.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { AlertEventObject } from '../types/alert.ts';
import { LiveStream } from './live-stream.ts';
import { type LiveChoice, narrowed } from './narrowed.ts';

/** A subscriber's choice of alerts. */
export interface LiveAlertsQuery extends LiveChoice {
  after?: string | null;
}

/** The stream behind `alertChanged` (CONTRACT 12): the part of it that the token may read. */
export class LiveAlerts {
  readonly #feed: AlertFeed;
  readonly #ingestCache: IngestCache;
  readonly #devices: DeviceCache;
  readonly #shares: FairScheduler;

  constructor(feed: AlertFeed, ingestCache: IngestCache, devices: DeviceCache, shares: FairScheduler) {
    this.#feed = feed;
    this.#ingestCache = ingestCache;
    this.#devices = devices;
    this.#shares = shares;
  }

  /** The errors of `narrowed`, and those of the feed. */
  async open(access: Access, query: LiveAlertsQuery): Promise<LiveStream<AlertChange>> {
    const { workspaceIds, deviceKeys, accepts } = await narrowed(access, this.#ingestCache, query);
    const reader = { party: access, turns: this.#shares.turnsOf(access, { patient: true }) };
    const events = await this.#feed.subscribe({ workspaceIds, deviceKeys, after: query.after, reader });
    const toEvent = async (change: AlertChange): Promise<AlertEventObject | null> => {
      const device = await this.#devices.get(change.deviceKey);
      if (device === null || !accepts(placeOfDevice(device))) return null;
      return { cursor: cursorOf(change), alert: change.alert };
    };
    return new LiveStream(events, (change) => ({ of: change, value: () => toEvent(change) }));
  }
}
