import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { placeText } from '../measurements/geolocation.ts';
import type { SuggestionHint } from '../measurements/suggestions.ts';
import { NamePath } from './name-path.ts';

/** One value of a plain object, under the identifier that its path makes. */
interface FlatValue {
  field: string;
  value: unknown;
  hint: SuggestionHint | null;
}

type JsonObject = Record<string, unknown>;

/** The GEOLOCATION field of a pair is guessed: the only one that the product has. */
type Found = FlatValue & { guessed?: true };

/**
 * A reader of the values of plain objects (CONTRACT 6): nested objects and lists are joined with `_` (`gps_latitude`,
 * `x_0`), Cayenne's `{channel, name, value}` is `name_channel`, `{value, unit, …}` counts as its value, names are made
 * identifiers, null says nothing. A `{latitude, longitude}` pair fills the GEOLOCATION field of its name, or else the
 * only one that the product has. `isLeaf`: objects that stand for one value. Stops after `most` values.
 */
export function flatValuesReader(
  fields: ReadonlyMap<string, FieldInfo>,
  isLeaf: (value: JsonObject) => boolean,
): (returned: unknown, most: number) => FlatValue[] {
  const places = [...fields.values()].filter(({ type }) => type === 'GEOLOCATION');
  const only = places.length === 1 ? places[0]!.identifier : null;
  const top = new NamePath(null, '');
  let found: Found[] = [];
  let limit = 0;

  const add = (path: NamePath, value: unknown, hint: SuggestionHint | null): void => {
    if (value === null) return;
    if (Array.isArray(value)) addList(path, value, hint);
    else if (typeof value !== 'object' || isLeaf(value as JsonObject))
      found.push({ field: path.identifier, value, hint });
    // At the top, `value` is a name like any other.
    else if ('value' in value && path.text !== '') add(path, value.value, hintOf(value as JsonObject));
    else addObject(path, value as JsonObject, hint);
  };
  const addList = (path: NamePath, list: unknown[], hint: SuggestionHint | null): void => {
    for (const [index, item] of list.entries()) {
      if (found.length > limit) return;
      if (item === null) continue;
      if (isCayenne(item)) add(new NamePath(path, `${item.name}_${item.channel}`), item, null);
      else add(new NamePath(path, String(index)), item, hint);
    }
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
      // What has filled the field is no value of its own, unless the product wants it.
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

/** Only the first pair is where the device is, and a value given under the field's own name counts more. */
function withoutWrongGuesses(found: Found[]): FlatValue[] {
  const said = new Set(found.filter(({ guessed }) => guessed !== true).map(({ field }) => field));
  return found.filter(({ field, guessed }) => guessed !== true || (!said.has(field) && said.add(field)));
}

/** `{value, unit, displayName}` as its value and what it says of it; null for anything else. */
export function wrappedValue(value: unknown): { value: unknown; hint: SuggestionHint } | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !('value' in value)) return null;
  return { value: value.value, hint: hintOf(value as JsonObject) };
}

/** A value as Cayenne's low power payload is usually decoded. */
export function isCayenne(item: unknown): item is { channel: number | string; name: string; value: unknown } {
  if (typeof item !== 'object' || item === null || !('name' in item) || !('channel' in item)) return false;
  return 'value' in item && typeof item.name === 'string' && ['number', 'string'].includes(typeof item.channel);
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
