import { randomBytes } from 'node:crypto';
import { AppError } from '../../errors.ts';
import { BoundedStream } from '../bounded-stream.ts';
import type { Cluster } from '../cluster.ts';
import type { DeviceInfo } from '../ingest-cache/ingest-cache.ts';
import type { Batch, StoredValue } from './store.ts';

/** A recorded batch on its way to subscribers. */
export interface RecordedEvent {
  /** Opaque; `subscribe` with it delivers what came after. */
  cursor: string;
  deviceId: string;
  deviceKey: number;
  productId: string;
  workspaceId: string;
  receivedAt: number;
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

interface FeedSubscription {
  accepts: (event: RecordedEvent) => boolean;
  /** A cursor of this feed; CURSOR_EXPIRED when what came after it is no longer kept. */
  after?: string | undefined;
}

interface Subscriber {
  accepts: (event: RecordedEvent) => boolean;
  stream: BoundedStream<RecordedEvent>;
}

/** Kept for those who come back after a dropped connection: about so many bytes, for so long. */
const KEPT_BYTES = 16 * 1024 * 1024;
const KEPT_MS = 3_600_000;
/** What one subscriber may leave unread before it is closed. */
const UNREAD_BYTES = 4 * 1024 * 1024;

/**
 * Live values (CONTRACT 7): each batch after its commit, in the order of this node's commits. A cursor is good on the
 * node and run that gave it, as far back as memory keeps; any other answers CURSOR_EXPIRED, never a silent gap.
 */
export class Feed {
  readonly #cluster: Cluster;
  readonly #now: () => number;
  readonly #subscribers = new Set<Subscriber>();
  readonly #run = randomBytes(6).toString('base64url');
  readonly #kept: RecordedEvent[] = [];
  #keptFrom = 0;
  #keptBytes = 0;
  #sequence = 0;
  /** Nothing is kept before somebody has subscribed: a server without live dashboards pays nothing. */
  #keepUntil = 0;

  constructor(cluster: Cluster, now: () => number) {
    this.#cluster = cluster;
    this.#now = now;
    cluster.onMessage('recorded', (message) => this.#deliver(JSON.parse(message) as Omit<RecordedEvent, 'cursor'>));
    cluster.onMissed(() => this.#miss());
  }

  publish(device: DeviceInfo, batch: Batch): void {
    if (!this.#cluster.shared && !this.#listening()) {
      this.#skip();
      return;
    }
    const event = {
      deviceId: device.id,
      deviceKey: device.key,
      productId: device.productId,
      workspaceId: device.workspaceId,
      receivedAt: batch.receivedAt,
      fieldKeys: batch.fieldKeys,
      timestamps: batch.timestamps,
      values: batch.values,
    };
    this.#deliver(event);
    if (this.#cluster.shared) this.#cluster.publish('recorded', JSON.stringify(event));
  }

  /** Ends when returned; throws OVERLOADED when the subscriber leaves too much unread. */
  subscribe(subscription: FeedSubscription): AsyncIterableIterator<RecordedEvent> {
    const missed = subscription.after === undefined ? [] : this.#since(subscription.after);
    const { accepts } = subscription;
    const stream = new BoundedStream<RecordedEvent>({
      initial: missed.filter(accepts),
      sizeOf: bytesOf,
      read: (event) => event,
      maxUnread: UNREAD_BYTES,
      tooSlow: 'This subscriber reads too slowly; subscribe again with "after".',
      onEnd: () => {
        this.#subscribers.delete(subscriber);
        this.#keepUntil = this.#now() + KEPT_MS;
      },
    });
    const subscriber = { accepts, stream };
    this.#subscribers.add(subscriber);
    return stream;
  }

  /** Values of other nodes may be missing after what was delivered so far: nobody goes on as if there were none. */
  #miss(): void {
    this.#skip();
    const error = new AppError('UNAVAILABLE', 'Live values of other nodes were missed; subscribe again with "after".');
    for (const { stream } of this.#subscribers) stream.fail(error);
  }

  #listening(): boolean {
    return this.#subscribers.size > 0 || (this.#keepUntil > 0 && this.#now() < this.#keepUntil);
  }

  #deliver(content: Omit<RecordedEvent, 'cursor'>): void {
    if (!this.#listening()) {
      this.#skip();
      return;
    }
    this.#sequence += 1;
    const event = { cursor: `${this.#run}.${this.#sequence}`, ...content };
    this.#keep(event);
    for (const { accepts, stream } of this.#subscribers) if (accepts(event)) stream.offer(event);
  }

  /** Nobody listens. What was kept would have a gap after it, so it goes. */
  #skip(): void {
    this.#sequence += 1;
    if (this.#kept.length > 0) this.#forgetAll();
  }

  #keep(event: RecordedEvent): void {
    if (this.#kept.length === this.#keptFrom) this.#forgetAll();
    this.#kept.push(event);
    this.#keptBytes += bytesOf(event);
    const oldest = this.#now() - KEPT_MS;
    for (;;) {
      const first = this.#kept[this.#keptFrom];
      if (first === undefined || (this.#keptBytes <= KEPT_BYTES && first.receivedAt >= oldest)) break;
      this.#keptBytes -= bytesOf(first);
      this.#keptFrom += 1;
    }
    // Cut now and then, so that dropping the oldest stays cheap.
    if (this.#keptFrom > 1024 && this.#keptFrom * 2 > this.#kept.length) {
      this.#kept.splice(0, this.#keptFrom);
      this.#keptFrom = 0;
    }
  }

  #forgetAll(): void {
    this.#kept.length = 0;
    this.#keptFrom = 0;
    this.#keptBytes = 0;
  }

  #since(cursor: string): RecordedEvent[] {
    const [run, text] = cursor.split('.');
    const sequence = Number(text);
    if (run === undefined || !Number.isSafeInteger(sequence) || sequence < 0)
      throw new AppError('BAD_USER_INPUT', '"after" is no cursor of measurementsRecorded.');
    if (run === this.#run && sequence === this.#sequence) return [];
    const first = this.#kept[this.#keptFrom];
    if (run !== this.#run || first === undefined || sequence < sequenceOf(first) - 1 || sequence > this.#sequence)
      throw new AppError(
        'CURSOR_EXPIRED',
        'What was recorded after this cursor is no longer kept here; read it with history and subscribe without "after".',
      );
    return this.#kept.slice(this.#keptFrom + (sequence - sequenceOf(first) + 1));
  }
}

function sequenceOf(event: RecordedEvent): number {
  return Number(event.cursor.slice(event.cursor.indexOf('.') + 1));
}

/** About what an event takes in memory. */
function bytesOf(event: RecordedEvent): number {
  let bytes = 500 + event.fieldKeys.length * 48;
  for (const value of event.values) if (typeof value === 'string') bytes += value.length * 2;
  return bytes;
}
