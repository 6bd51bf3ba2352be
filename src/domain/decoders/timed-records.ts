type JsonObject = Record<string, unknown>;

/** A record taken apart: its time in the form of entries, and its values. */
interface TimedRecord {
  /** Unix seconds, or a text as it was sent; undefined: none. */
  timestamp: unknown;
  /** The key of the time, actual or expected. */
  timeKey: string;
  values: JsonObject;
}

/**
 * Keys of a record's time, without regard to case, `_`, `-` and blanks; the first one present counts. In the same order
 * in the documentation.
 */
const TIME_KEYS = [
  'timestamp',
  'ts',
  'time',
  'datetime',
  'dateutc',
  'date',
  'recordedat',
  'measuredat',
  'sampledat',
  'observedat',
  'capturedat',
  'loggedat',
  'createdat',
  'recordtime',
  'measurementtime',
  'sampletime',
  'eventtime',
  'logtime',
  'historytime',
  'timestampms',
  'timestamputc',
  'tsms',
  'timems',
  'timeutc',
  'utctime',
  'utc',
  'unix',
  'unixtime',
  'unixtimestamp',
  'epoch',
  'epochms',
  'epochtime',
  'tst',
];
const ORDER = new Map(TIME_KEYS.map((key, at) => [key, at]));
const LONGEST_KEY = 20;
/** Keys that senders put a record's values under; they are no part of the names. */
const WRAPPER = /^(?:values|data|measurements?|fields|readings?|payload|object|telemetry|value)$/i;
/** Number of entries that decide a list's kind: lists are uniform. */
const LOOKED_AT = 10;
const YEAR_2000 = 946_684_800;
const CLOCK = /^\d\d?:\d\d(?::\d\d(?:\.\d+)?)?(?: ?(?:Z|[+-]\d\d:?\d\d))?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Rank of a key among those of a record's time; undefined: it is none. */
function placeOfKey(key: string): number | undefined {
  return key.length > LONGEST_KEY ? undefined : ORDER.get(key.toLowerCase().replace(/[_\s-]/g, ''));
}

/** The key of the object's time; null: none. */
export function timeKeyOf(object: JsonObject): string | null {
  let [found, best]: [string | null, number] = [null, Infinity];
  for (const key of Object.keys(object)) {
    const place = placeOfKey(key);
    if (place === undefined || place >= best || !canBeTime(object[key])) continue;
    [found, best] = [key, place];
  }
  return found;
}

function canBeTime(value: unknown): boolean {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

/** True when the value reads as a moment since 2000, and not as a duration or a time of day. */
export function looksLikeMoment(value: unknown): boolean {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && !Number.isNaN(number)) return number >= YEAR_2000;
  return typeof value === 'string' && /^\s*\d{4}-?\d\d/.test(value);
}

/** True for a list of records with times of their own: objects of which some have a time beside other keys. */
export function isRecordList(list: unknown): list is unknown[] {
  if (!Array.isArray(list)) return false;
  for (let at = 0; at < list.length && at < LOOKED_AT; at += 1) {
    const item: unknown = list[at];
    if (isObject(item) && isRecord(item)) return true;
  }
  return false;
}

/** True when the object has a time and anything beside it. */
export function isRecord(item: JsonObject): boolean {
  return timeKeyOf(item) !== null && Object.keys(item).some((key) => placeOfKey(key) === undefined);
}

/** True for `{ts, values: {…}}` and nothing else: a record at any place. */
export function isTelemetry(object: JsonObject): boolean {
  return isObject(object['values']) && Object.keys(object).length === 2 && timeKeyOf(object) !== null;
}

/**
 * The record's time and values. Keys of times are no values, unless `isField`; the content of `values`, `data` and the
 * like is the record's own.
 */
export function readRecord(record: JsonObject, isField: (key: string) => boolean): TimedRecord {
  const timeKey = timeKeyOf(record) ?? 'timestamp';
  const values: JsonObject = {};
  for (const [key, value] of Object.entries(record)) {
    if (key === timeKey || (placeOfKey(key) !== undefined && canBeTime(value) && !isField(key))) continue;
    if (isObject(value) && WRAPPER.test(key) && !('value' in value)) Object.assign(values, value);
    else values[key] = value;
  }
  return { timestamp: momentOf(record, timeKey), timeKey, values };
}

/**
 * The time, with numbers as seconds: milli-, micro- and nanoseconds are recognized by their size. Joins a date and a
 * time of day.
 */
function momentOf(record: JsonObject, timeKey: string): unknown {
  const time = record[timeKey];
  if (typeof time === 'string') {
    if (time.trim() === '') return undefined;
    const date = Object.entries(record).find(([key, value]) => key !== timeKey && isDate(key, value));
    if (date !== undefined && CLOCK.test(time.trim())) return `${date[1] as string}T${time.trim()}`;
  }
  const number = typeof time === 'string' && /^\s*\d+(?:\.\d*)?\s*$/.test(time) ? Number(time) : time;
  if (typeof number !== 'number' || number < 1e11) return time ?? undefined;
  return number < 1e14 ? number / 1e3 : number < 1e17 ? number / 1e6 : number / 1e9;
}

function isDate(key: string, value: unknown): boolean {
  return placeOfKey(key) !== undefined && typeof value === 'string' && DATE.test(value);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
