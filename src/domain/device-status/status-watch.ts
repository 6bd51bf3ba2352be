import type { BoundedStream, LiveQueue } from '../../scheduling/bounded-stream.ts';
import { type Cluster, earliestNow } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import type { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { Feed } from '../live/feed.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { pause } from '../../scheduling/pause.ts';
import type { Turns } from '../../scheduling/turns.ts';
import { BacklogMemory } from '../../scheduling/backlog-memory.ts';
import { DeviceStatuses, EVERY_MS } from './device-statuses.ts';
import type { Turned } from './status-judge.ts';
import type { StatusEvent, WatchedPlace } from './status-rows.ts';
import { statusStream } from './status-stream.ts';

interface StatusWatchDeps {
  database: Database;
  store: MeasurementStore;
  feed: Feed;
  cluster: Cluster;
  now: () => number;
  /** A look at the database that failed; it is tried again a second later. */
  onError: (error: unknown) => void;
}

interface Subscriber {
  workspaceIds: ReadonlySet<string>;
  accepts: (device: WatchedPlace) => boolean;
  /** What changed earlier is told to others only. */
  since: number;
  stream: BoundedStream<StatusEvent>;
}

/**
 * Tells when devices go silent and when they are heard again (contract `deviceStatusChanged`), each once. Works from the
 * server's clock and what the database says of the last receipt, so a restart changes nothing. While nobody subscribes
 * nothing is watched.
 */
export class StatusWatch {
  readonly #deps: StatusWatchDeps;
  readonly #subscribers = new Set<Subscriber>();
  readonly #unread = new BacklogMemory();
  /** While anybody subscribes. */
  #statuses: DeviceStatuses | null = null;
  #timer: NodeJS.Timeout | undefined;
  #endListening = (): void => {};

  constructor(deps: StatusWatchDeps) {
    this.#deps = deps;
    deps.cluster.onChanged((changes) => this.#statuses?.remember(changes));
  }

  /** What changes from now on in these workspaces; ends when returned. OVERLOADED when there are too many devices. */
  async subscribe(
    workspaceIds: readonly string[],
    accepts: (device: WatchedPlace) => boolean,
    { next, spend }: Turns,
    tenant: string,
  ): Promise<LiveQueue<StatusEvent>> {
    // Whoever leaves and comes again has all of them read again. What changes while it waits is not told.
    await next();
    const stream = statusStream(this.#unread.of(tenant), () => {
      this.#subscribers.delete(subscriber);
      if (this.#subscribers.size === 0) this.#rest();
    });
    const since = earliestNow(this.#deps);
    const subscriber = { workspaceIds: new Set(workspaceIds), accepts, since, stream };
    this.#subscribers.add(subscriber);
    const statuses = this.#statuses ?? this.#wake();
    try {
      for (const id of workspaceIds) await statuses.load({ id, since, spend });
    } catch (error) {
      await stream.return();
      throw error;
    }
    return stream;
  }

  stop(): void {
    for (const { stream } of this.#subscribers) void stream.return();
  }

  #wake(): DeviceStatuses {
    const statuses = new DeviceStatuses({ ...this.#deps, tell: (...told) => this.#tell(...told) });
    this.#statuses = statuses;
    this.#timer = setInterval(() => statuses.look(), EVERY_MS).unref();
    void this.#listen(statuses);
    return statuses;
  }

  /** Whoever comes amid it is told of what changed since then, and whoever left is not. */
  *#tell(slices: Slices, ...[device, event, changedAt]: Turned): Generator<void, void> {
    yield;
    for (const { workspaceIds, accepts, since, stream } of this.#subscribers) {
      if (changedAt < since || !workspaceIds.has(device.workspaceId) || !accepts(device)) continue;
      slices.offer(stream, event);
      yield;
    }
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#endListening();
    this.#endListening = () => {};
    this.#statuses?.end();
    this.#statuses = null;
  }

  /** Hears what is recorded, until nobody subscribes any more. */
  async #listen(statuses: DeviceStatuses): Promise<void> {
    const accepts = (deviceKey: number): boolean => statuses.isWatched(deviceKey);
    while (this.#statuses === statuses) {
      try {
        const events = await this.#deps.feed.subscribe({ accepts });
        // The last subscriber has gone meanwhile, and had nothing to end yet.
        if (this.#statuses !== statuses) return void (await events.return());
        this.#endListening = () => void events.return();
        statuses.stirAll();
        for await (const { deviceKey } of events) statuses.hear(deviceKey);
      } catch (error) {
        // Too much at once, or the database is away: it knows, and is asked again.
        this.#deps.onError(error);
        await pause(EVERY_MS);
      }
    }
  }
}
