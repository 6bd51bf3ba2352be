import type { DecoderFailure } from './decoder-engine.ts';

/** One element of what a decoder returned. */
export interface RawEntry {
  /** Position in the array as the decoder wrote it. */
  index: number;
  /** As JSON can say it, for display. */
  shown: unknown;
  /** With NaN and its kin as themselves, for checking. */
  entry: unknown;
}

type ReadEntries = { entries: RawEntry[]; error: null } | { entries: []; error: DecoderFailure };

const MAX_ENTRIES = 10_000;
const MARKER = '$inlet';

/** The entries in a webhook decoder's output (CONTRACT 5): an array, one object, or nothing. */
export function readEntries(output: string): ReadEntries {
  return entriesOf(JSON.parse(output) as unknown, output.includes(`"${MARKER}"`));
}

/**
 * The entries in the output of a native network's decoder (CONTRACT 6): entries as above, a plain object key → value,
 * or what `decodeUplink` returns: `{data, warnings, errors}`, where errors are a failure. A key whose value is null
 * says nothing.
 */
export function readUplinkEntries(output: string): ReadEntries {
  const returned = JSON.parse(output) as unknown;
  const marked = output.includes(`"${MARKER}"`);
  if (!isObject(returned)) return entriesOf(returned, marked);
  const errors = returned['errors'];
  if (Array.isArray(errors) && errors.length > 0 && isWrapper(returned))
    return failed('THREW', errors.slice(0, 10).map(textOf).join('; '));
  const data = isWrapper(returned) ? returned['data'] : returned;
  if (!isObject(data) || (marked && markerOf(data) !== null) || looksLikeEntry(data))
    return entriesOf(data ?? null, marked);
  const pairs = Object.entries(data).filter(([, value]) => value !== null);
  return entriesOf(
    pairs.map(([field, value]) => ({ field, value })),
    marked,
  );
}

/** Output for people: what JSON cannot say as text, such as `NaN` or `12n`. */
export function shownOutput(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shownOutput);
  if (!isObject(value)) return value;
  const marker = markerOf(value);
  if (marker !== null) return marker.startsWith('bigint:') ? `${marker.slice('bigint:'.length)}n` : marker;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shownOutput(item)]));
}

function entriesOf(returned: unknown, marked: boolean): ReadEntries {
  if (returned === null || (marked && markerOf(returned) === 'undefined')) return { entries: [], error: null };
  if (!Array.isArray(returned)) {
    if (!isObject(returned) || (marked && markerOf(returned) !== null))
      return failed('BAD_OUTPUT', `The decoder returned ${textOf(returned)}; it must return an array of entries.`);
    return { entries: [rawEntry(returned, 0, marked)], error: null };
  }
  if (returned.length > MAX_ENTRIES)
    return failed('BAD_OUTPUT', `The decoder returned ${returned.length} entries; the limit is ${MAX_ENTRIES}.`);
  const entries: RawEntry[] = [];
  for (let index = 0; index < returned.length; index += 1) {
    const element: unknown = returned[index];
    if (element === null || (marked && markerOf(element) === 'undefined')) continue;
    entries.push(rawEntry(element, index, marked));
  }
  return { entries, error: null };
}

function rawEntry(element: unknown, index: number, marked: boolean): RawEntry {
  if (!marked) return { index, shown: element, entry: element };
  if (!isObject(element) || markerOf(element) !== null)
    return { index, shown: shownOutput(element), entry: revived(element) };
  const entry = Object.fromEntries(Object.entries(element).map(([key, value]) => [key, revived(value)]));
  return { index, shown: shownOutput(element), entry };
}

/** The value a marker stands for, as far as checking it needs: never more than its kind. */
function revived(value: unknown): unknown {
  const marker = markerOf(value);
  if (marker === null) return value;
  if (marker === 'NaN' || marker === 'Infinity' || marker === '-Infinity') return Number(marker);
  if (marker === 'undefined') return undefined;
  if (marker.startsWith('bigint:')) return 0n;
  if (marker === 'symbol') return Symbol(marker);
  return marker === 'function' ? () => null : {};
}

function markerOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  const marker = value[MARKER];
  return typeof marker === 'string' && Object.keys(value).length === 1 ? marker : null;
}

/** `{data, errors, warnings}`: with an object or list as `data`, or without any and nothing but lists. */
function isWrapper(value: Record<string, unknown>): boolean {
  if ('data' in value) return typeof value['data'] === 'object';
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => (key === 'errors' || key === 'warnings') && Array.isArray(value[key]));
}

function looksLikeEntry(value: Record<string, unknown>): boolean {
  return typeof value['field'] === 'string' && 'value' in value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  const shown = shownOutput(value);
  return (typeof shown === 'string' ? shown : JSON.stringify(shown)).slice(0, 200);
}

function failed(kind: DecoderFailure['kind'], message: string): ReadEntries {
  return { entries: [], error: { kind, message, line: null, column: null } };
}
