import { encodeCursor, type FeedCursor } from './feed-cursor.ts';
import type { RecordedPage, RecordedReading, StoredValue } from '../ports/store.ts';

/**
 * Values that a device recorded in one commit, or quickly one after the other, on their way to subscribers: three columns of
 * equal length, times in ms UTC.
 */
export class RecordedEvent {
  readonly deviceKey: number;
  readonly receivedAt: number;
  readonly fieldKeys: number[] = [];
  readonly timestamps: number[] = [];
  readonly values: StoredValue[] = [];
  /** How far a subscriber is who has it. */
  place: FeedCursor;
  #bytes = 0;

  constructor({ deviceKey, storedAt }: RecordedReading, place: FeedCursor) {
    this.deviceKey = deviceKey;
    this.receivedAt = storedAt;
    this.place = place;
  }

  /** About what it takes in memory, once it is complete: each who is told of it counts that. */
  get bytes(): number {
    if (this.#bytes > 0) return this.#bytes;
    this.#bytes = 500 + this.fieldKeys.length * 48;
    for (const value of this.values) if (typeof value === 'string') this.#bytes += value.length * 2;
    return this.#bytes;
  }

  /** `subscribe` with it delivers what came after. */
  get cursor(): string {
    return encodeCursor(this.place);
  }
}

/** A device that sends years at once sends several events. */
const MAX_VALUES = 2_000;

/**
 * The page's readings, those of one device in one commit together. `after`: the position that the page begins at.
 * `apartMs`: what one device recorded without others in between, and not farther apart, is together too.
 */
export function toEvents(
  { readings, upTo, complete }: RecordedPage,
  after: string,
  apartMs = -Infinity,
): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  let first: RecordedReading | null = null;
  let event: RecordedEvent | null = null;
  readings.forEach((reading, at) => {
    const { seq, deviceKey, timestamp, storedAt, fieldKeys, values } = reading;
    const isLast = complete && at === readings.length - 1;
    const place: FeedCursor = isLast
      ? { after: upTo, between: null }
      : { after, between: { upTo, place: { seq, deviceKey, timestamp } } };
    const isTogether =
      first?.deviceKey === deviceKey && (first.seq === seq || Math.abs(storedAt - first.storedAt) <= apartMs);
    if (event === null || !isTogether || event.values.length >= MAX_VALUES) {
      event = new RecordedEvent(reading, place);
      events.push(event);
      first = reading;
    }
    event.fieldKeys.push(...fieldKeys);
    event.values.push(...values);
    for (let count = fieldKeys.length; count > 0; count -= 1) event.timestamps.push(timestamp);
    event.place = place;
  });
  return events;
}
