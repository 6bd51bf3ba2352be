import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { placeText } from '../measurements/geolocation.ts';
import type { SuggestionHint } from '../measurements/suggestions.ts';
import { identifierOf } from './identifier-of.ts';

/** One value of a plain object, under the identifier that its path makes. */
interface FlatValue {
  field: string;
  value: unknown;
  hint: SuggestionHint | null;
}

type JsonObject = Record<string, unknown>;

/** Identifiers are made of the first 64 letters that can stand in one. */
const MAX_PATH = 256;

/**
 * The values of a plain object (CONTRACT 6): nested objects and lists are joined with `_` (`gps_latitude`, `x_0`),
 * Cayenne's `{channel, name, value}` is `name_channel`, `{value, unit, …}` counts as its value, names are made
 * identifiers, null says nothing. A `{latitude, longitude}` pair fills the GEOLOCATION field of its name, or else the
 * only one that the product has. `isLeaf`: objects that stand for one value. Stops after `most` values.
 */
export function flatValues(
  returned: unknown,
  fields: ReadonlyMap<string, FieldInfo>,
  isLeaf: (value: JsonObject) => boolean,
  most: number,
): FlatValue[] {
  const places = [...fields.values()].filter(({ type }) => type === 'GEOLOCATION');
  const only = places.length === 1 ? places[0]!.identifier : null;
  const found: (FlatValue & { guessed?: true })[] = [];

  const add = (name: string, value: unknown, hint: SuggestionHint | null): void => {
    if (value === null) return;
    if (Array.isArray(value)) {
      for (const [index, item] of (value as unknown[]).entries()) {
        if (found.length > most) return;
        if (isCayenne(item)) add(joined(name, `${item.name}_${item.channel}`), item, null);
        else add(joined(name, String(index)), item, hint);
      }
    } else if (typeof value !== 'object' || isLeaf(value as JsonObject))
      found.push({ field: identifierOf(name), value, hint });
    // At the top, `value` is a name like any other.
    else if ('value' in value && name !== '') add(name, value.value, hintOf(value as JsonObject));
    else addObject(name, value as JsonObject, hint);
  };
  const addObject = (name: string, object: JsonObject, hint: SuggestionHint | null): void => {
    const place = placeText(object);
    const identifier = place === null ? '' : identifierOf(name);
    const own = fields.get(identifier)?.type === 'GEOLOCATION' ? identifier : null;
    const target = place === null ? null : (own ?? only);
    if (target !== null) found.push({ field: target, value: place, hint, ...(own === null ? { guessed: true } : {}) });
    for (const key of Object.keys(object)) {
      if (found.length > most) return;
      const path = joined(name, key);
      // What has filled the field is no value of its own, unless the product wants it.
      if (target !== null && isCoordinate(key) && !fields.has(identifierOf(path))) continue;
      add(path, object[key], null);
    }
  };

  add('', returned, null);
  // Only the first pair is where the device is, and a value given under the field's own name counts more.
  const said = new Set(found.filter(({ guessed }) => guessed !== true).map(({ field }) => field));
  return found
    .filter(({ field, guessed }) => guessed !== true || (!said.has(field) && said.add(field)))
    .map(({ field, value, hint }) => ({ field, value, hint }));
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

/** A list of thousands under a name that is as long as a body is not to copy that again and again. */
function joined(path: string, key: string): string {
  return path === '' ? key.slice(0, MAX_PATH) : `${path}_${key}`.slice(0, MAX_PATH);
}
