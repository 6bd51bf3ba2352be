import { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import { BoundedStream, type LiveQueue } from '../../scheduling/bounded-stream.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { Slices } from '../../scheduling/yield-to-event-loop.ts';
import { type Cluster, earliestNow } from '../ports/cluster.ts';
import { DeviceStatuses, type StatusSources } from './device-statuses.ts';
import type { StatusChange, StatusEvent, WatchedPlace } from './watched-device.ts';

interface StatusWatchDeps extends StatusSources {
  cluster: Cluster;
  maxWatched?: number;
}

interface Subscriber {
  workspaceIds: ReadonlySet<string>;
  accepts: (device: WatchedPlace) => boolean;
  /** Earlier changes are not its own (ms UTC). */
  since: number;
  stream: BoundedStream<StatusEvent>;
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
  readonly #subscribers = new Set<Subscriber>();
  readonly #unread = new BacklogMemory();
  /** null: nobody subscribes. */
  #statuses: DeviceStatuses | null = null;

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => this.#statuses?.follow(changes));
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
    const stream = new BoundedStream<StatusEvent>({
      sizeOf: () => EVENT_BYTES,
      read: (event) => event,
      maxUnread: MAX_UNREAD,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `devices(online:)`.',
      backlog: this.#unread.of(tenant),
      onEnd: () => {
        this.#subscribers.delete(subscriber);
        if (this.#subscribers.size === 0) this.#rest();
      },
    });
    const since = earliestNow(this.#deps);
    const subscriber: Subscriber = { workspaceIds: new Set(workspaceIds), accepts, since, stream };
    this.#subscribers.add(subscriber);
    const statuses = (this.#statuses ??= new DeviceStatuses({
      maxWatched: MAX_WATCHED,
      ...this.#deps,
      notify: (changes) => this.#notify(changes),
    }));
    try {
      for (const id of workspaceIds) await statuses.watch(id, since, spend);
    } catch (error) {
      await stream.return();
      throw error;
    }
    return stream;
  }

  stop(): void {
    for (const { stream } of this.#subscribers) void stream.return();
  }

  #rest(): void {
    this.#statuses?.end();
    this.#statuses = null;
  }

  /** In slices: thousands may want each. One that subscribes meanwhile gets what changed since it did. */
  async #notify(changes: readonly StatusChange[]): Promise<void> {
    const statuses = this.#statuses;
    const slices = new Slices(NOBODY);
    for (const { event, changedAt } of changes)
      for (const { workspaceIds, accepts, since, stream } of this.#subscribers) {
        if (slices.isOver) await slices.next();
        // All of them have left meanwhile.
        if (this.#statuses !== statuses) return;
        if (changedAt >= since && workspaceIds.has(event.workspaceId) && accepts(event)) slices.offer(stream, event);
      }
  }
}
