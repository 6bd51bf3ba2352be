import { AppError } from '../../errors.ts';
import { BoundedStream } from '../bounded-stream.ts';
import type { Cluster } from '../cluster.ts';
import type { CallRow, MeasurementStore } from '../measurements/store.ts';
import { type LoggedCall, toLoggedCall } from './logged-call.ts';

/** What one subscriber may leave unread before it is closed. */
const UNREAD_CHARACTERS = 8_000_000;

/**
 * The live call log (contract `webhookCalled`). Other nodes are told the id only and read the row when somebody there
 * listens: it is committed by then.
 */
export class CallFeed {
  readonly #cluster: Cluster;
  readonly #store: MeasurementStore;
  readonly #streams = new Map<string, Set<BoundedStream<CallRow, LoggedCall>>>();

  constructor(cluster: Cluster, store: MeasurementStore) {
    this.#cluster = cluster;
    this.#store = store;
    cluster.onMessage('called', (message) => void this.#heard(message).catch(() => {}));
    const missed = new AppError('UNAVAILABLE', 'Calls to other nodes were missed; subscribe again and read `calls`.');
    cluster.onMissed(() => {
      for (const streams of this.#streams.values()) for (const stream of streams) stream.fail(missed);
    });
  }

  /** Call after the commit of the row. Never waits. */
  publish(productId: string, row: CallRow): void {
    this.#deliver(productId, row);
    if (this.#cluster.shared)
      this.#cluster.publish('called', JSON.stringify({ productId, productKey: row.productKey, id: row.id }));
  }

  subscribe(productId: string): AsyncIterableIterator<LoggedCall> {
    const stream = new BoundedStream<CallRow, LoggedCall>({
      sizeOf,
      read: toLoggedCall,
      maxUnread: UNREAD_CHARACTERS,
      tooSlow: 'This subscriber reads too slowly; subscribe again and read `calls`.',
      onEnd: () => {
        const others = this.#streams.get(productId);
        others?.delete(stream);
        if (others?.size === 0) this.#streams.delete(productId);
      },
    });
    const streams = this.#streams.get(productId) ?? new Set();
    this.#streams.set(productId, streams.add(stream));
    return stream;
  }

  #deliver(productId: string, row: CallRow): void {
    const streams = this.#streams.get(productId);
    if (streams === undefined) return;
    for (const stream of streams) stream.offer(row);
  }

  async #heard(message: string): Promise<void> {
    const { productId, productKey, id } = JSON.parse(message) as { productId: string; productKey: number; id: string };
    if (!this.#streams.has(productId)) return;
    const row = await this.#store.call(productKey, id);
    if (row !== null) this.#deliver(productId, row);
  }
}

function sizeOf(row: CallRow): number {
  // The fixed part stands for what every call costs: some thousand small ones are enough.
  return 8_000 + row.body.length + row.headers.length + (row.run?.length ?? 0);
}
