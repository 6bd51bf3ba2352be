import { badInput } from '../../errors.ts';
import type { RecordedPage, RecordedPlace, RecordedQuery } from '../ports/store.ts';

/**
 * How far a subscriber has come: all that was recorded before `after`, and, when it stands between two positions, up to
 * a place.
 */
export interface FeedCursor {
  after: string;
  between: { upTo: string; place: RecordedPlace } | null;
}

/** Asks for readings behind the cursor, of these devices (null: any), and not behind `upTo` (null: until now). */
export function queryBehind(
  { after, between }: FeedCursor,
  deviceKeys: Iterable<number> | null,
  limit: number,
  upTo: string | null = null,
): RecordedQuery {
  const place = between?.place ?? null;
  return { after, upTo: between?.upTo ?? upTo, place, deviceKeys: deviceKeys && [...deviceKeys], limit };
}

/** The cursor behind the page that was read from the cursor on. */
export function behind({ after }: FeedCursor, { upTo, readings, complete }: RecordedPage): FeedCursor {
  const last = readings.at(-1);
  if (complete || last === undefined) return { after: upTo, between: null };
  const { seq, deviceKey, timestamp } = last;
  return { after, between: { upTo, place: { seq, deviceKey, timestamp } } };
}

/** In characters: two positions of 200 transactions in progress on PostgreSQL take 11,000. */
const MAX_TEXT = 12_000;

/** Opaque text (CONTRACT 7), good on every node and after a restart. */
export function encodeCursor({ after, between }: FeedCursor): string {
  const parts = between && [between.upTo, between.place.seq, between.place.deviceKey, between.place.timestamp];
  return Buffer.from(JSON.stringify(parts === null ? [after] : [after, ...parts])).toString('base64url');
}

/** BAD_USER_INPUT for what is no cursor. Its positions are checked by the store. */
export function decodeCursor(text: string): FeedCursor {
  const parts = parse(text);
  const [after, upTo, seq, deviceKey, timestamp] = parts;
  if (typeof after === 'string' && parts.length === 1) return { after, between: null };
  if (
    parts.length !== 5 ||
    typeof after !== 'string' ||
    typeof upTo !== 'string' ||
    typeof seq !== 'string' ||
    !/^\d{1,19}$/.test(seq) ||
    !isKey(deviceKey) ||
    !Number.isSafeInteger(timestamp)
  )
    throw badInput('"after" is no cursor of measurementsRecorded.');
  return { after, between: { upTo, place: { seq, deviceKey, timestamp: timestamp as number } } };
}

function isKey(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
}

function parse(text: string): unknown[] {
  if (text.length > MAX_TEXT) return [];
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
