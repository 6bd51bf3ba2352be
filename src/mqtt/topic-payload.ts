import { AppError } from '../errors.ts';
import { bodyText } from '../domain/text/body-text.ts';
import { flatValuesReader } from '../domain/decoders/flat-values.ts';
import type { FieldInfo } from '../domain/ingest-cache/ingest-cache.ts';
import { MOST_ENTRIES, readEntries } from '../domain/measurements/record-body.ts';
import { kindOf, shown } from '../domain/text/describe-value.ts';
import { MOST_NODES } from '../domain/text/json-text.ts';
import { parseJson } from '../domain/text/parse-json.ts';

/** Text of a payload: UTF-8, unless a byte order mark says otherwise. */
export function payloadText(payload: Buffer): string {
  return bodyText(payload, undefined);
}

/**
 * Entries of a field's own topic: one value as text, or one entry as JSON (an object with `value`), whose field is that
 * of the topic. A JSON string counts as its text; a payload without a byte says no value. INVALID_JSON and INVALID_BODY as
 * on the record endpoint.
 */
export function entriesOfField(text: string, field: string): unknown[] {
  const value = withoutEnd(text);
  if (value === '') return [{ field }];
  if (value.startsWith('{') && LIKE_ENTRY.test(value)) {
    const entries = readEntries(text);
    if (entries.every(isEntry)) return entries.map((entry) => ofField(entry, field));
  }
  return [{ field, value: value.startsWith('"') ? asString(value) : value }];
}

/** A text that may be an entry; an object without these keys is the text of a STRING. */
const LIKE_ENTRY = /"(?:value|timestamp|field)"\s*:/;

function isEntry(entry: unknown): entry is Record<string, unknown> {
  return ['value', 'timestamp', 'field'].some((key) => Object.hasOwn(entry as object, key));
}

function ofField(given: Record<string, unknown>, field: string): unknown {
  const named = given['field'];
  if (named !== undefined && named !== field)
    throw new AppError(
      'INVALID_BODY',
      `The topic names the field "${shown(field)}", the payload ${typeof named === 'string' ? `"${shown(named)}"` : 'something else'}: leave "field" out.`,
    );
  return { field, value: given['value'], timestamp: given['timestamp'] };
}

/** Without the NUL and line ends that firmware leaves behind a text (CONTRACT 3). */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  return text.slice(0, end);
}

function asString(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'string' ? parsed : text;
  } catch {
    return text;
  }
}

const BOUNDS = { nodes: MOST_NODES };
/** Maximum devices per message of a gateway: each is looked up, and written by itself. */
const MAX_DEVICES = 500;

type JsonObject = Record<string, unknown>;

/** An entry as telemetry gives it; `timestamp` in Unix milliseconds, undefined: the moment of receipt. */
interface TelemetryEntry {
  field: string;
  value: unknown;
  timestamp: unknown;
}

/** Makes entries of telemetry for a product with these fields, and counts them over all devices of a message. */
export type TelemetryReader = (fields: ReadonlyMap<string, FieldInfo>) => TelemetryEntry[];

/**
 * Telemetry in ThingsBoard's shape: `{key: value}`, `{ts, values}`, or a list of them; `ts` in milliseconds. Nested
 * objects are flattened as in plain objects of decoders (CONTRACT 6). INVALID_JSON or INVALID_BODY for anything else.
 */
export function readTelemetry(text: string): TelemetryReader {
  return readerOf(parseJson(text, BOUNDS), 'The payload', { entries: 0 });
}

/** The same of the devices behind a gateway: `{"<device>": [telemetry, …], …}`. */
export function readGatewayTelemetry(text: string): [device: string, read: TelemetryReader][] {
  const body = parseJson(text, BOUNDS);
  if (!isObject(body)) throw notTelemetry('The payload', 'an object of device names', body);
  const devices = Object.entries(body);
  if (devices.length > MAX_DEVICES)
    throw new AppError('INVALID_BODY', `The payload names more than ${MAX_DEVICES} devices; send it in parts.`);
  const counted = { entries: 0 };
  return devices.map(([device, telemetry]) => [device, readerOf(telemetry, `"${shown(device)}"`, counted)]);
}

function readerOf(body: unknown, where: string, counted: { entries: number }): TelemetryReader {
  const parts = Array.isArray(body) ? body : [body];
  for (const part of parts) if (!isObject(part)) throw notTelemetry(where, 'an object of keys and values', part);
  return (fields) => {
    const read = flatValuesReader(fields, () => false);
    const entries: TelemetryEntry[] = [];
    for (const part of parts as JsonObject[]) {
      const { ts, values } = part;
      const isTimed = ts !== undefined && isObject(values);
      const found = read(isTimed ? values : part, MOST_ENTRIES - counted.entries);
      counted.entries += found.length;
      if (counted.entries > MOST_ENTRIES)
        throw new AppError('TOO_MANY_ENTRIES', `A message has at most ${MOST_ENTRIES} values; send them in parts.`, {
          details: { limit: MOST_ENTRIES },
        });
      for (const { field, value, timestamp = isTimed ? ts : undefined } of found)
        entries.push({ field, value, timestamp });
    }
    return entries;
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function notTelemetry(where: string, wanted: string, given: unknown): AppError {
  return new AppError('INVALID_BODY', `${where} must be ${wanted}, not ${kindOf(given)}.`);
}
