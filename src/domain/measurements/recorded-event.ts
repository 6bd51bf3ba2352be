import { encodeCursor } from './feed-cursor.ts';
import type { RecordedPage, RecordedReading, StoredValue } from './store.ts';

/** What a device recorded in one commit, on its way to subscribers: three columns of equal length, times in ms UTC. */
export interface RecordedEvent {
  /** `subscribe` with it delivers what came after. */
  cursor: string;
  deviceKey: number;
  receivedAt: number;
  fieldKeys: number[];
  timestamps: number[];
  values: StoredValue[];
}

/** A device that sends years at once sends several events. */
const MAX_VALUES = 2_000;

/** The page's readings, those of one device in one commit together. `after`: the position that the page begins at. */
export function toEvents({ readings, upTo, complete }: RecordedPage, after: string): RecordedEvent[] {
  const events: RecordedEvent[] = [];
  let first: RecordedReading | null = null;
  let event: RecordedEvent | null = null;
  readings.forEach((reading, at) => {
    const { seq, deviceKey, timestamp, storedAt, fieldKeys, values } = reading;
    if (event === null || first?.seq !== seq || first.deviceKey !== deviceKey || event.values.length >= MAX_VALUES) {
      event = { cursor: '', deviceKey, receivedAt: storedAt, fieldKeys: [], timestamps: [], values: [] };
      events.push(event);
      first = reading;
    }
    event.fieldKeys.push(...fieldKeys);
    event.values.push(...values);
    for (let count = fieldKeys.length; count > 0; count -= 1) event.timestamps.push(timestamp);
    const isLast = complete && at === readings.length - 1;
    const place = { seq, deviceKey, timestamp };
    event.cursor = isLast
      ? encodeCursor({ after: upTo, between: null })
      : encodeCursor({ after, between: { upTo, place } });
  });
  return events;
}

/** About what an event takes in memory. */
export function bytesOfEvent(event: RecordedEvent): number {
  let bytes = 500 + event.fieldKeys.length * 48;
  for (const value of event.values) if (typeof value === 'string') bytes += value.length * 2;
  return bytes;
}
