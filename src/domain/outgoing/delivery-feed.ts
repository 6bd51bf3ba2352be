import type { LiveQueue } from '../../scheduling/bounded-stream.ts';
import { LiveFeed } from '../live/live-feed.ts';
import type { Cluster } from '../ports/cluster.ts';
import type { Database } from '../ports/database.ts';
import { type Delivery, readDelivery } from './delivery-rows.ts';

/** Estimate per delivery; at most 10,000 lie unread per subscriber. */
const DELIVERY_BYTES = 300;
const MAX_UNREAD = 10_000 * DELIVERY_BYTES;

/** A delivery that changed. */
interface ChangedDelivery {
  endpointKey: number;
  id: string;
}

interface DeliveryFeedDeps {
  database: Database;
  cluster: Cluster;
  onError: (error: unknown) => void;
}

/** Tells subscribers of deliveries that changed (contract `deliveryChanged`), on every node. */
export class DeliveryFeed {
  readonly #deps: DeliveryFeedDeps;
  readonly #live = new LiveFeed<Delivery, number>(({ endpointKey }) => endpointKey, {
    sizeOf: () => DELIVERY_BYTES,
    read: (delivery) => delivery,
    maxUnread: MAX_UNREAD,
    tooSlow: 'This subscriber reads too slowly; subscribe again and read `deliveries`.',
  });

  constructor(deps: DeliveryFeedDeps) {
    this.#deps = deps;
    deps.cluster.onMessage('delivered', (message) => void this.#tell(JSON.parse(message) as ChangedDelivery[]));
  }

  /** Call after the commit; never waits. */
  publish(changed: readonly ChangedDelivery[]): void {
    if (changed.length === 0) return;
    if (this.#deps.cluster.shared) this.#deps.cluster.publish('delivered', JSON.stringify(changed));
    void this.#tell(changed);
  }

  /** What changes from now on. */
  subscribe(endpointKey: number, tenant: string): LiveQueue<Delivery> {
    const subscription = this.#live.open({ topics: new Set([endpointKey]), wants: () => true }, tenant);
    this.#live.add(subscription);
    return subscription;
  }

  async #tell(changed: readonly ChangedDelivery[]): Promise<void> {
    const { topics } = this.#live;
    const wanted = changed.filter(({ endpointKey }) => topics === null || topics.includes(endpointKey));
    for (const { id } of wanted)
      try {
        const delivery = await readDelivery(this.#deps.database.read(), id);
        if (delivery !== null) await this.#live.notify([delivery]);
      } catch (error) {
        this.#deps.onError(error);
      }
  }
}
