import { AppError } from '../../errors.ts';
import { BoundedStream, type LiveQueue } from '../bounded-stream.ts';
import type { Cluster } from '../cluster.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import type { CallRow, CallStatus, MeasurementStore } from '../measurements/store.ts';
import { LoggedCall } from './logged-call.ts';

/** What one subscriber may leave unread before it is closed. */
const UNREAD_CHARACTERS = 8_000_000;

type CallStream = BoundedStream<CallRow, LoggedCall>;

/** `last`: how many of the newest calls come first; `statuses` null: all. */
export interface LiveCallChoice {
  last: number;
  statuses: CallStatus[] | null;
}

/**
 * The live call log (contract `webhookCalled`). Other nodes are told the id only and read the row when somebody there
 * listens: it is committed by then.
 */
export class CallFeed {
  readonly #cluster: Cluster;
  readonly #store: MeasurementStore;
  /** By the product's id. */
  readonly #streams = new Map<string, { productKey: number; accepting: Map<CallStream, (row: CallRow) => boolean> }>();

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    cluster.onMessage('called', (message) => void this.#heard(message).catch(() => {}));
    const missed = new AppError('UNAVAILABLE', 'Calls to other nodes were missed; subscribe again and read `calls`.');
    cluster.onMissed(() => {
      for (const { accepting } of this.#streams.values()) for (const stream of accepting.keys()) stream.fail(missed);
    });
  }

  /** Call after the commit of the row. Never waits. */
  publish(productId: string, row: CallRow): void {
    this.#deliver(productId, row);
    if (this.#cluster.shared) this.#cluster.publish('called', JSON.stringify({ productId, id: row.id }));
  }

  /** Begins with the newest `last` calls, oldest of them first; each call comes once. */
  async subscribe(
    { id: productId, key: productKey }: Pick<ProductInfo, 'id' | 'key'>,
    { last, statuses }: LiveCallChoice,
  ): Promise<LiveQueue<LoggedCall>> {
    const accepts = ({ status }: CallRow): boolean => statuses === null || statuses.includes(status);
    const stream = new BoundedStream<CallRow, LoggedCall>({
      sizeOf,
      read: (row) => new LoggedCall(row),
      maxUnread: UNREAD_CHARACTERS,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `calls`.',
      onEnd: () => {
        const others = this.#streams.get(productId);
        others?.accepting.delete(stream);
        if (others?.accepting.size === 0) this.#streams.delete(productId);
      },
    });
    const streams = this.#streams.get(productId) ?? { productKey, accepting: new Map() };
    streams.accepting.set(stream, accepts);
    this.#streams.set(productId, streams);
    if (last === 0) return stream;
    // Listening first: what is logged while the log is read is in both, and told once.
    try {
      const rows = await this.#store.calls({ productKey, ...(statuses === null ? {} : { statuses }), limit: last });
      const ids = new Set(rows.map(({ id }) => id));
      stream.begin(rows.reverse(), ({ id }) => ids.has(id));
    } catch (error) {
      await stream.return();
      throw error;
    }
    return stream;
  }

  #deliver(productId: string, row: CallRow): void {
    const streams = this.#streams.get(productId);
    if (streams === undefined) return;
    for (const [stream, accepts] of streams.accepting) if (accepts(row)) stream.offer(row);
  }

  async #heard(message: string): Promise<void> {
    const { productId, id } = JSON.parse(message) as { productId: string; id: string };
    // Whatever Redis says, a product's subscribers see its calls and no others.
    const productKey = this.#streams.get(productId)?.productKey;
    const row = productKey === undefined ? null : await this.#store.call(productKey, id);
    if (row !== null) this.#deliver(productId, row);
  }
}

function sizeOf(row: CallRow): number {
  // The fixed part stands for what every call costs: some thousand small ones are enough.
  return 8_000 + row.body.length + row.headers.length + (row.run?.length ?? 0);
}
