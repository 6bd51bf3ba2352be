import { AppError } from '../../errors.ts';
import { Alarm } from '../../scheduling/alarm.ts';
import { encodeCursor } from '../live/feed-cursor.ts';
import type { RecordedEvent } from '../live/recorded-event.ts';
import type { RecordedFeed } from '../live/recorded-feed.ts';
import type { MeasurementStore } from '../ports/store.ts';
import { bodyOf, messageIdOf } from './outbox.ts';
import type { ReaderLeases, ReaderPlace } from './reader-leases.ts';
import type { Recipient } from './recipients.ts';
import { Batches, ENTRIES_AT_ONCE } from './recorded-batch.ts';
import type { RecordedEntries } from './recorded-entries.ts';
import { delayBehind } from './retry-times.ts';
import type { Message } from './transmit.ts';

/** Maximum delay behind a failure: what is recorded meanwhile is kept in order for an hour. */
const LONGEST_DELAY_MS = 300_000;
/** Time without values after which the cursor is moved on: it would expire, and nothing would have been missed. */
const IDLE_MS = 15_000;
/** Delay behind a failure of the feed or the database. */
const FAILED_MS = 1_000;

/** What a follower needs. */
export interface FollowerDeps {
  feed: Pick<RecordedFeed, 'subscribe'>;
  store: Pick<MeasurementStore, 'position'>;
  entries: RecordedEntries;
  leases: ReaderLeases;
  /** Sends a message once, and notes the health of the endpoint; resolves with null, or the delay that was asked for. */
  send: (message: Message) => Promise<{ isDone: boolean; retryAfterMs: number | null }>;
  /** BASE_URL without a final slash. */
  baseUrl: () => string;
  now: () => number;
  onError: (error: unknown) => void;
}

/** Sends what is recorded to one endpoint, in order and from a cursor that is kept (CONTRACT 13). */
export class RecordedFollower {
  recipient: Recipient;
  readonly #deps: FollowerDeps;
  readonly #name: string;
  readonly #alarm = new Alarm();
  #place: ReaderPlace;
  #isStopped = false;
  readonly #running: Promise<void>;

  /** `name`: of its lease, which this node has. */
  constructor(name: string, recipient: Recipient, place: ReaderPlace, deps: FollowerDeps) {
    this.#name = name;
    this.recipient = recipient;
    this.#place = place;
    this.#deps = deps;
    this.#running = this.#run();
  }

  /** True when it has stopped, as by another node that reads now. */
  get isOver(): boolean {
    return this.#isStopped;
  }

  /** Ends after the call in progress. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#alarm.ring();
    return this.#running;
  }

  async #run(): Promise<void> {
    const { store, onError } = this.#deps;
    while (!this.#isStopped)
      try {
        // A new endpoint gets what is recorded from now on.
        if (this.#place.position === null)
          await this.#moveTo(encodeCursor({ after: await store.position(), between: null }));
        await this.#follow();
      } catch (error) {
        if (error instanceof AppError && error.code === 'CURSOR_EXPIRED') await this.#tellGap().catch(onError);
        // One that fell behind goes on from its cursor.
        else if (!(error instanceof AppError) || error.code !== 'OVERLOADED') onError(error);
        if (!this.#isStopped) await this.#alarm.sleep(FAILED_MS);
      }
  }

  async #follow(): Promise<void> {
    const { feed, store, entries } = this.#deps;
    const { workspaceId } = this.recipient;
    const stream = await feed.subscribe({
      accepts: (deviceKey) => entries.isOf(workspaceId, deviceKey),
      after: this.#place.position ?? undefined,
    });
    try {
      const batches = new Batches<RecordedEvent>(stream);
      let idleAt: string | null = null;
      while (!this.#isStopped) {
        const batch = await batches.next(idleAt === null ? 1_000 : IDLE_MS);
        if (batch === null) return;
        const last = batch.at(-1);
        if (last === undefined) {
          // Nothing came since that position was taken: all before it was looked through.
          if (idleAt !== null) await this.#moveTo(idleAt);
          idleAt = encodeCursor({ after: await store.position(), between: null });
          continue;
        }
        idleAt = null;
        await this.#tell(batch, last.cursor);
      }
    } finally {
      await stream.return();
    }
  }

  async #tell(batch: readonly RecordedEvent[], cursor: string): Promise<void> {
    const told = await this.#deps.entries.of(batch, this.recipient);
    for (let at = 0; at < told.length && !this.#isStopped; at += ENTRIES_AT_ONCE) {
      const entries = told.slice(at, at + ENTRIES_AT_ONCE);
      const times = entries.map(({ timestamp }) => timestamp).toSorted();
      await this.#send({ entries, from: times[0], to: times.at(-1) }, `${cursor} ${at}`);
    }
    if (!this.#isStopped) await this.#moveTo(cursor);
  }

  /** What was recorded since then is no longer kept in its order: the endpoint is told where it can be read. */
  async #tellGap(): Promise<void> {
    const { store, now, baseUrl } = this.#deps;
    const position = encodeCursor({ after: await store.position(), between: null });
    const [from, to] = [this.#place.at, now()].map((ms) => new Date(ms).toISOString());
    const { workspaceId, productIds } = this.recipient;
    const query = new URLSearchParams({ workspace: workspaceId, from: from!, to: to! });
    if (productIds?.length === 1) query.set('product', productIds[0]!);
    const url = `${baseUrl()}/v1/export.ndjson?${query.toString()}`;
    await this.#send({ gap: { from, to, url } }, `gap ${position}`);
    if (!this.#isStopped) await this.#moveTo(position);
  }

  /** Sends until it is taken, with the same id. */
  async #send(data: Record<string, unknown>, key: string): Promise<void> {
    const { send, now } = this.#deps;
    const type = 'measurements.recorded';
    const message = {
      messageId: messageIdOf(this.recipient.workspaceId, `${type} ${this.recipient.id} ${key}`),
      type,
      body: bodyOf(type, new Date(now()), data),
    };
    for (let tries = 1; !this.#isStopped; tries += 1) {
      const { isDone, retryAfterMs } = await send(message);
      if (isDone) return;
      const delay = delayBehind(Math.min(tries, 2), retryAfterMs) ?? LONGEST_DELAY_MS;
      await this.#alarm.sleep(Math.min(delay, LONGEST_DELAY_MS));
    }
  }

  async #moveTo(position: string): Promise<void> {
    if (!(await this.#deps.leases.moveTo(this.#name, position))) this.#isStopped = true;
    this.#place = { position, at: this.#deps.now() };
  }
}
