import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { placeOfList, placeText } from '../measurements/geolocation.ts';
import type { SuggestionHint } from '../measurements/suggestions.ts';
import type { RejectionCode } from '../measurements/entry.ts';
import { isRecordList, isTelemetry, looksLikeMoment, readRecord, timeKeyOf } from './timed-records.ts';
import { NamePath } from '../entities/name-path.ts';
import { must } from '../../must.ts';

/** One value of a plain object, with the identifier made of its path. */
interface FlatValue {
  field: string;
  value: unknown;
  hint: SuggestionHint | null;
  /** Time of a record's value, in the form of entries; undefined: the time of the message. */
  timestamp?: unknown;
  /** Reason to reject it whatever its field; left out: none known. */
  refusal?: Refusal;
}

/** Reason to reject a value before its entry is judged. */
export interface Refusal {
  code: RejectionCode;
  message: string;
}

type JsonObject = Record<string, unknown>;

/**
 * Maximum length of a list of bare numbers that counts as a vector: separate fields of a longer one would be useless.
 */
const MAX_VECTOR = 16;
/** Names of payloads that a formatter passes through undecoded. */
const BYTES = /^(?:bytes|raw|payload|frm_?payload|raw_?(?:bytes|payload|data))$/i;

/** `guessed`: a pair assigned to the only GEOLOCATION field of the product. */
type Found = FlatValue & { guessed?: true };

/**
 * A reader of the values of plain objects (CONTRACT 6): nested objects and lists are joined with `_` (`gps_latitude`,
 * `x_0`), Cayenne's `{channel, name, value}` is `name_channel`, `{value, unit, …}` counts as its value, names are made
 * identifiers, null says nothing. A `{latitude, longitude}` pair fills the GEOLOCATION field of its name, or else the
 * only one that the product has, and a list `[lat, lon]` that of its name. A list of records with times of their own gives their values under those times, by the
 * record's own names (or below the list's, where the product has such a field). `isLeaf`: objects that stand for one value. Stops after `most` values.
 */
export function flatValuesReader(
  fields: ReadonlyMap<string, FieldInfo>,
  isLeaf: (value: JsonObject) => boolean,
): (returned: unknown, most: number) => FlatValue[] {
  const places = [...fields.values()].filter(({ type }) => type === 'GEOLOCATION');
  const only = places.length === 1 ? must(places[0]).identifier : null;
  const top = new NamePath(null, '');
  let found: Found[] = [];
  let limit = 0;

  const add = (path: NamePath, value: unknown, hint: SuggestionHint | null): void => {
    if (value === null) return;
    if (Array.isArray(value)) {
      const place = fields.get(path.identifier)?.type === 'GEOLOCATION' ? placeOfList(value) : null;
      if (place === null) addList(path, value, hint);
      else found.push({ field: path.identifier, value: place, hint });
    } else if (typeof value !== 'object' || isLeaf(value as JsonObject))
      found.push({ field: path.identifier, value, hint });
    // At the top, `value` is a name like any other.
    else if ('value' in value && path.text !== '') add(path, value.value, hintOf(value as JsonObject));
    else if (isTelemetry(value as JsonObject)) addRecord(path, value as JsonObject);
    else addObject(path, value as JsonObject, hint);
  };
  const addList = (path: NamePath, list: unknown[], hint: SuggestionHint | null): void => {
    if (isRecordList(list) && !isWanted(path, list)) return addRecords(path, list);
    if (isNoMeasurement(path, list)) {
      const refusal = { code: 'INVALID_VALUE' as const, message: bareNumbers(path.text, list.length) };
      found.push({ field: path.identifier, value: list, hint: null, refusal });
      return;
    }
    for (const [index, item] of list.entries()) {
      if (found.length > limit) return;
      if (item === null) continue;
      if (isCayenne(item)) add(new NamePath(path, `${item.name}_${item.channel}`), item, null);
      else add(new NamePath(path, String(index)), item, hint);
    }
  };
  const addRecords = (path: NamePath, list: unknown[]): void => {
    for (const item of list) {
      if (found.length > limit) return;
      if (isObject(item)) addRecord(path, item);
      else if (item !== null) add(path, item, null);
    }
  };
  const addRecord = (path: NamePath, record: JsonObject): void => {
    const { timestamp, timeKey, values } = readRecord(record, (key) => fields.has(new NamePath(top, key).identifier));
    const before = found.length;
    const isNamed = path.text !== '';
    const { value, name, field, key } = values;
    const own = [field, name, key].find((text) => typeof text === 'string' && text !== '') as string | undefined;
    if ('value' in values && (own !== undefined || isNamed)) {
      add(own === undefined ? path : new NamePath(top, own), value, hintOf(values));
      for (const [other, more] of Object.entries(values))
        if (own !== field && !DESCRIBES_VALUE.test(other)) add(new NamePath(top, other), more, null);
    } else addObject(top, values, null);
    const isTimeless = timestamp === undefined || (isObject(timestamp) && isLeaf(timestamp));
    for (let at = before; at < found.length; at += 1) {
      const one = must(found[at]);
      if (isNamed) {
        const below = new NamePath(path, one.field).identifier;
        if (fields.has(below)) one.field = below;
      }
      if ('timestamp' in one || one.refusal !== undefined) continue;
      if (isTimeless && isNamed)
        one.refusal = {
          code: 'INVALID_TIMESTAMP',
          message: `The record in "${path.text}" has no time: "${timeKey}" is empty.`,
        };
      else if (!isTimeless) one.timestamp = timestamp;
    }
  };
  /** True when the product has fields for the times themselves, and these are no moments. */
  const isWanted = (path: NamePath, list: unknown[]): boolean =>
    list.some((item, index) => {
      const key = index < MAX_VECTOR && isObject(item) ? timeKeyOf(item) : null;
      if (key === null || looksLikeMoment((item as JsonObject)[key])) return false;
      return fields.has(new NamePath(new NamePath(path, String(index)), key).identifier);
    });
  const isNoMeasurement = (path: NamePath, list: unknown[]): boolean => {
    if (list.length <= MAX_VECTOR ? !BYTES.test(path.text) || !list.every(isByte) : !list.every(isNumber)) return false;
    const prefix = `${path.identifier}_`;
    return (
      list.length > 0 &&
      ![...fields.keys()].some((one) => one.startsWith(prefix) && /^\d+$/.test(one.slice(prefix.length)))
    );
  };
  const addObject = (path: NamePath, object: JsonObject, hint: SuggestionHint | null): void => {
    const keys = Object.keys(object);
    const place = keys.length === 0 ? null : placeText(object);
    const identifier = place === null ? '' : path.identifier;
    const own = fields.get(identifier)?.type === 'GEOLOCATION' ? identifier : null;
    const target = place === null ? null : (own ?? only);
    if (target !== null) found.push({ field: target, value: place, hint, ...(own === null ? { guessed: true } : {}) });
    for (const key of keys) {
      if (found.length > limit) return;
      if (object[key] === null) continue;
      const below = new NamePath(path, key);
      // Skip coordinates that have filled a place, unless the product has fields for them.
      if (target !== null && isCoordinate(key) && !fields.has(below.identifier)) continue;
      add(below, object[key], null);
    }
  };

  return (returned, most) => {
    found = [];
    limit = most;
    add(top, returned, null);
    return only === null || found.length === 0 ? found : withoutWrongGuesses(found);
  };
}

/** Drops guesses but the first, and any for a field that was also given by name. */
function withoutWrongGuesses(found: Found[]): FlatValue[] {
  const said = new Set(found.filter(({ guessed }) => guessed !== true).map(({ field }) => field));
  return found.filter(({ field, guessed }) => guessed !== true || (!said.has(field) && said.add(field)));
}

/** `{value, unit, displayName}` as its value and description; null for anything else. */
export function wrappedValue(value: unknown): { value: unknown; hint: SuggestionHint } | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('value' in value)) return null;
  return { value: value.value, hint: hintOf(value as JsonObject) };
}

/** True for a value in the usual decoding of Cayenne's low power payload. */
export function isCayenne(item: unknown): item is { channel: number | string; name: string; value: unknown } {
  if (typeof item !== 'object' || item === null || !('name' in item) || !('channel' in item)) return false;
  return 'value' in item && typeof item.name === 'string' && ['number', 'string'].includes(typeof item.channel);
}

function bareNumbers(name: string, count: number): string {
  const numbers = count === 1 ? 'list of one bare number' : `list of ${count} bare numbers`;
  return `"${name.slice(0, 64)}" is a ${numbers}, which is no measurement; set a decoder that makes values of the payload.`;
}

/** Keys that describe a record's `value` and are no values themselves. */
const DESCRIBES_VALUE = /^(?:value|field|name|key|units?|displayName|label)$/;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number';
}

function isByte(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 255 && value % 1 === 0;
}

function isCoordinate(key: string): boolean {
  return /^(?:lat(?:itude)?|lon(?:g|gitude)?|lng)$/i.test(key);
}

function hintOf(object: JsonObject): SuggestionHint {
  return {
    name: shortText(object['displayName'] ?? object['name'] ?? object['label'], 200),
    unit: shortText(object['unit'] ?? object['units'], 50),
  };
}

function shortText(value: unknown, most: number): string | null {
  if (typeof value !== 'string' || value.trim() === '' || value.includes('\0')) return null;
  return value.trim().slice(0, most).toWellFormed();
}
