import { isoMs } from '../times/iso-time.ts';
import { type Bounds, MOST_NODES, parseShallow } from '../text/json-text.ts';

/**
 * Readers of JSON that networks send: an absent value, or one of another kind, reads as the default; nothing throws.
 */

/** A JSON object with unknown content. */
export type JsonObject = Record<string, unknown>;

/** True for JSON objects, false for arrays and null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at a path of keys; an empty one when anything on the way is absent or no object. */
export function objectAt(value: unknown, ...path: string[]): JsonObject {
  let at: unknown = value;
  for (const key of path) at = isObject(at) ? at[key] : undefined;
  return isObject(at) ? at : {};
}

/** Bounds that no network's message reaches. */
export const BOUNDS: Bounds = { levels: 200, nodes: MOST_NODES };

/** The value itself when it is an object, or the object whose JSON text it is; else null. */
export function objectOf(value: unknown): JsonObject | null {
  if (isObject(value)) return value;
  const parsed = typeof value === 'string' && /^\s*\{/.test(value) ? parseShallow(value, BOUNDS) : null;
  return isObject(parsed) ? parsed : null;
}

/** A network's decoding: an object or a list, or the JSON text of one; null: none. */
export function decodedIn(value: unknown): JsonObject | unknown[] | null {
  const list = typeof value === 'string' && /^\s*\[/.test(value) ? parseShallow(value, BOUNDS) : value;
  if (Array.isArray(list)) return list.some(isObject) ? list : null;
  return objectOf(value);
}

/** The objects of a list; a list that is absent is empty. */
export function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** True for a value with content: null, false, 0, empty texts, lists and objects count as absent. */
export function saysSomething(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}

/** Non-empty text; numbers read as their text. */
export function textIn(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

/** A finite number, also written as text (protobuf's JSON writes 64-bit integers so). */
export function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** base64 (also its URL-safe form), as bytes; absent: none. */
export function bytesIn(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value, 'base64') : Buffer.alloc(0);
}

/** Hexadecimal digits, as bytes; absent: none. */
export function hexBytesIn(value: unknown): Buffer {
  return typeof value === 'string' ? Buffer.from(value.trim().replace(/^0x/i, ''), 'hex') : Buffer.alloc(0);
}

/**
 * Milliseconds of an ISO 8601 text (without a zone in UTC), or of a number (also as text) of seconds, milli-, micro- or
 * nanoseconds since 1970, told apart by their size; null when it is neither or before 1970.
 */
export function timeIn(value: unknown): number | null {
  const number = numberIn(value);
  let ms = number ?? (typeof value === 'string' ? isoMs(value) : null);
  if (number !== null) {
    if (number < 1e11) ms = number * 1e3;
    else if (number >= 1e17) ms = number / 1e6;
    else if (number >= 1e14) ms = number / 1e3;
  }
  return ms !== null && ms > 0 && ms <= 8.64e15 ? Math.round(ms) : null;
}

/** Milliseconds UTC as ISO 8601 text; null stays null. */
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
