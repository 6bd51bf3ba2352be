import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { LiveFeed } from '../live/live-feed.ts';
import { type Cluster, earliestNow } from '../ports/cluster.ts';
import { DeviceStatuses, type StatusSources } from './device-statuses.ts';
import type { StatusChange, StatusEvent, WatchedPlace } from './watched-device.ts';

interface StatusWatchDeps extends StatusSources {
  cluster: Cluster;
  maxWatched?: number;
}

/** Everything that goes on while anybody subscribes. */
interface Watch {
  live: LiveFeed<StatusChange, string, StatusEvent>;
  statuses: DeviceStatuses;
}

/** Maximum devices watched at once, of some 400 bytes each. */
const MAX_WATCHED = 400_000;
/** Estimate per event; at most 10,000 events lie unread per subscriber. */
const EVENT_BYTES = 200;
const MAX_UNREAD = 10_000 * EVENT_BYTES;

/**
 * Notifies when devices go silent and when they are heard again (contract `deviceStatusChanged`), once each. Works from
 * the server's clock and the last receipt in the database, so a restart changes nothing. Without subscribers nothing is
 * watched.
 */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  /** null: nobody subscribes. */
  #watch: Watch | null = null;

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => this.#watch?.statuses.follow(changes));
  }

  /** Changes in these workspaces from now on; ends when returned. OVERLOADED when they have too many devices. */
  async subscribe(
    workspaceIds: readonly string[],
    accepts: (device: WatchedPlace) => boolean,
    { next, spend }: Turns,
    tenant: string,
  ): Promise<LiveQueue<StatusEvent>> {
    // Reading all devices again for each that leaves and comes back is paid for by its turn.
    await next();
    const watch = (this.#watch ??= this.#begin());
    const since = earliestNow(this.#deps);
    const subscription = watch.live.open(
      {
        topics: new Set(workspaceIds),
        // Earlier changes are those of others.
        wants: ({ event, changedAt }) => changedAt >= since && accepts(event),
      },
      tenant,
      () => {
        if (watch.live.size === 0) this.#end(watch);
      },
    );
    watch.live.add(subscription);
    try {
      for (const id of workspaceIds) await watch.statuses.watch(id, since, spend);
    } catch (error) {
      await subscription.return();
      throw error;
    }
    return subscription;
  }

  stop(): void {
    if (this.#watch !== null) this.#end(this.#watch);
  }

  #begin(): Watch {
    const live = new LiveFeed<StatusChange, string, StatusEvent>(({ event }) => event.workspaceId, {
      sizeOf: () => EVENT_BYTES,
      read: ({ event }) => event,
      maxUnread: MAX_UNREAD,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `devices(online:)`.',
    });
    const notify = (changes: readonly StatusChange[]): Promise<void> => live.notify(changes);
    return { live, statuses: new DeviceStatuses({ maxWatched: MAX_WATCHED, ...this.#deps, notify }) };
  }

  #end(watch: Watch): void {
    watch.statuses.end();
    if (this.#watch === watch) this.#watch = null;
  }
}
