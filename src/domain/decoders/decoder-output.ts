import type { FieldInfo } from '../ingest-cache/ingest-cache.ts';
import { placeOfList, placeText } from '../measurements/geolocation.ts';
import type { SuggestionHint } from '../measurements/suggestions.ts';
import type { DecoderFailure, DecoderResult } from './decoder-engine.ts';
import { jsonBeginning } from './json-beginning.ts';
import { readWebhookAnswer, type WebhookAnswer } from '../entities/webhook-answer.ts';
import { flatValuesReader, isCayenne, type Refusal, wrappedValue } from './flat-values.ts';
import { isRecord, isRecordList, isTelemetry, timeKeyOf } from './timed-records.ts';

/** One element of a decoder's result. */
export interface RawEntry {
  /** Position in the decoder's array. */
  index: number;
  /** The element for display, within JSON. */
  shown: unknown;
  /** The element for checking: with NaN and the like as themselves, and the value unwrapped. */
  entry: unknown;
  /** The sender's description of the value, for suggested fields; null: none. */
  hint: SuggestionHint | null;
  /** Reason to reject it whatever its field and device; left out: none known. */
  refusal?: Refusal;
}

type ReadEntries = { entries: RawEntry[]; error: null } | { entries: []; error: DecoderFailure };

/** The result of a webhook's decoder; `answer`: to the sender, null: the default. */
type WebhookOutput = ReadEntries & { answer: WebhookAnswer | null };

const MAX_ENTRIES = 10_000;
const MARKER = '$inlet';
/** Integers of at most 400 digits: no field takes longer ones, and reading them is slow. */
const BIGINT = /^-?\d{1,400}$/;
/** Text of an invalid Date. */
const INVALID_DATE = 'Invalid Date';

type Fields = ReadonlyMap<string, FieldInfo>;

interface Reading {
  fields: Fields;
  /** True when the output holds any markers. */
  marked: boolean;
  /** True on a native route, where an empty time means none. */
  native: boolean;
}

/** The engine's output: JSON text, and the value that `JSON.parse` makes of it. */
type Output = Pick<DecoderResult, 'output' | 'value'>;

/**
 * The entries in a webhook decoder's output (CONTRACT 5): an array, one object, or nothing; or `{entries, answer}` with
 * the answer to the sender.
 */
export function readEntries({ output, value }: Output, fields: Fields): WebhookOutput {
  const reading = { fields, marked: isMarked(output), native: false };
  if (!isAnswering(value)) return { ...webhookEntries(value, reading), answer: null };
  const read = webhookEntries(value['entries'] ?? null, reading);
  if (read.error !== null || isNothing(value['answer'])) return { ...read, answer: null };
  const answer = readWebhookAnswer(shownAnswer(value['answer']));
  if (typeof answer !== 'string') return { ...read, answer };
  return { ...failed('BAD_OUTPUT', `The answer that the decoder returned: ${answer}`), answer: null };
}

function webhookEntries(value: unknown, reading: Reading): ReadEntries {
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.some(isDeviceRecord) ? flatOf(list, reading) : entriesOf(value, reading);
}

/** True for `{entries, answer}` with at least `answer`: an entry has neither. */
function isAnswering(value: unknown): value is Record<string, unknown> {
  return (
    isObject(value) && 'answer' in value && Object.keys(value).every((key) => key === 'answer' || key === 'entries')
  );
}

function isNothing(value: unknown): boolean {
  return value === null || markerOf(value) === 'undefined';
}

/** The answer without parts that are `undefined`; body values that JSON cannot hold become text. */
function shownAnswer(answer: unknown): unknown {
  if (!isObject(answer)) return answer;
  return shownOutput(Object.fromEntries(Object.entries(answer).filter(([, part]) => !isNothing(part))));
}

/**
 * The entries in the output of a native network's decoder (CONTRACT 6): entries as above, a plain object (see
 * `flatValuesReader`), or the result of `decodeUplink`: `{data, warnings, errors}`, where errors are a failure.
 * `fromUplink`: the source defines `decodeUplink`, so that `data` is the result whatever stands beside it.
 */
export function readUplinkEntries(
  { output, value: returned }: Output,
  fields: Fields,
  fromUplink = false,
): ReadEntries {
  const reading = { fields, marked: isMarked(output), native: true };
  if (!isObject(returned)) return listOf(returned, reading);
  const isWhole = isWrapper(returned);
  if (!isWhole && !(fromUplink && typeof returned['data'] === 'object')) return plainOf(returned, reading);
  const { data, errors, warnings: _, ...rest } = returned;
  const beside = Object.keys(rest).length > 0;
  if (!isWhole && !beside) return plainOf(returned, reading);
  const told = Array.isArray(errors) ? errors : typeof errors === 'string' && errors !== '' ? [errors] : [];
  if (told.length > 0) return failed('THREW', told.slice(0, 10).map(textOf).join('; '));
  if (beside) {
    const isPlainList = Array.isArray(data) && !isRecordList(data);
    return flatOf([...(isPlainList ? (data as unknown[]) : [data]), rest], reading);
  }
  return isObject(data) ? plainOf(data, reading) : listOf(data ?? null, reading);
}

const isMarked = (output: string | null): boolean => output?.includes(`"${MARKER}"`) === true;

function plainOf(data: Record<string, unknown>, reading: Reading): ReadEntries {
  if (looksLikeEntry(data) || (reading.marked && markerOf(data) !== null)) return entriesOf(data, reading);
  return flatOf([data], reading);
}

/** Reads a list of records with times of their own, or of entries, among which Cayenne's values may be. */
function listOf(returned: unknown, reading: Reading): ReadEntries {
  const isPlain = Array.isArray(returned) && returned.some((item) => isCayenne(item) && !looksLikeEntry(item));
  if (!isPlain && Array.isArray(returned) && isRecordList(returned.filter(isNoEntry)))
    return flatOf(
      returned.map((item: unknown) => (isNoEntry(item) && isRecord(item) ? [item] : item)),
      reading,
    );
  return isPlain ? flatOf(returned, reading) : entriesOf(returned, reading);
}

function flatOf(parts: unknown[], reading: Reading): ReadEntries {
  const isLeaf = (value: Record<string, unknown>): boolean => reading.marked && markerOf(value) !== null;
  const flatValues = flatValuesReader(reading.fields, isLeaf);
  const list: unknown[] = [];
  const said = new Map<unknown, Pick<RawEntry, 'hint' | 'refusal'>>();
  for (const part of parts) {
    // Stop one above the maximum, to report that there are too many.
    if (list.length > MAX_ENTRIES) break;
    if (part === null || (reading.marked && markerOf(part) !== null)) list.push(part);
    else if (!reading.native && !isDeviceRecord(part)) list.push(part);
    else if (isObject(part) && looksLikeEntry(part)) list.push(part);
    else {
      const { device, ...values } = isDeviceRecord(part) && !reading.native ? part : { device: undefined, part };
      const plain = device === undefined ? (isCayenne(part) ? [part] : part) : [values];
      for (const one of flatValues(plain, MAX_ENTRIES - list.length)) {
        const { field, value, timestamp } = one;
        const entry: Record<string, unknown> = device === undefined ? { field, value } : { device, field, value };
        if (timestamp !== undefined) entry['timestamp'] = timestamp;
        list.push(entry);
        said.set(entry, one);
      }
    }
  }
  const read = entriesOf(list, reading);
  // Match by index: skipped elements leave gaps.
  for (const one of read.entries) {
    const { hint, refusal } = said.get(list[one.index]) ?? one;
    one.hint = hint ?? one.hint;
    if (refusal !== undefined) one.refusal = refusal;
  }
  return read;
}

/** The output for people, with text in place of values that JSON cannot hold, such as `NaN` or `12n`. */
export function shownOutput(value: unknown): unknown {
  if (Array.isArray(value)) return shownList(value);
  if (!isObject(value)) return value;
  const marker = markerOf(value);
  if (marker !== null) return marker.startsWith('bigint:') ? `${marker.slice('bigint:'.length)}n` : marker;
  return shownObject(value);
}

/** Copies a list only from its first changed element on: most of tens of thousands have none. */
function shownList(list: unknown[]): unknown[] {
  let copy: unknown[] | null = null;
  for (let at = 0; at < list.length; at += 1) {
    const shown = shownOutput(list[at]);
    if (shown === list[at]) continue;
    copy ??= list.slice();
    copy[at] = shown;
  }
  return copy ?? list;
}

function shownObject(object: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | null = null;
  for (const key of Object.keys(object)) {
    const shown = shownOutput(object[key]);
    if (shown === object[key]) continue;
    copy ??= { ...object };
    // Assignment would not make `__proto__` a key; for other keys it is faster.
    if (key === '__proto__') copy = { ...copy, [key]: shown };
    else copy[key] = shown;
  }
  return copy ?? object;
}

function entriesOf(returned: unknown, reading: Reading): ReadEntries {
  const { marked } = reading;
  if (returned === null || (marked && markerOf(returned) === 'undefined')) return { entries: [], error: null };
  if (!Array.isArray(returned)) {
    if (!isObject(returned) || (marked && markerOf(returned) !== null))
      return failed('BAD_OUTPUT', `The decoder returned ${textOf(returned)}; it must return an array of entries.`);
    return { entries: [rawEntry(returned, 0, reading)], error: null };
  }
  if (returned.length > MAX_ENTRIES)
    return failed('BAD_OUTPUT', `The decoder returned ${returned.length} entries; the limit is ${MAX_ENTRIES}.`);
  const entries: RawEntry[] = [];
  for (let index = 0; index < returned.length; index += 1) {
    const element: unknown = returned[index];
    if (element === null || (marked && markerOf(element) === 'undefined')) continue;
    entries.push(rawEntry(element, index, reading));
  }
  return { entries, error: null };
}

function rawEntry(element: unknown, index: number, reading: Reading): RawEntry {
  const { marked, native, fields } = reading;
  if (!isObject(element) || (marked && markerOf(element) !== null))
    return {
      index,
      shown: marked ? shownOutput(element) : element,
      entry: marked ? revived(element) : element,
      hint: null,
    };
  const wrapped =
    isObject(element['value']) && markerOf(element['value']) === null ? wrappedValue(element['value']) : null;
  const value = placeOf(wrapped === null ? element['value'] : wrapped.value, element['field'], fields);
  const timestamp = native && isEmptyTime(element['timestamp']) ? undefined : element['timestamp'];
  const hint = wrapped?.hint ?? null;
  if (!marked && value === element['value'] && timestamp === element['timestamp'])
    return { index, shown: element, entry: element, hint };
  const entry: Record<string, unknown> = { ...element };
  if ('value' in element) entry['value'] = value;
  if ('timestamp' in element) entry['timestamp'] = timestamp;
  if (!marked) return { index, shown: element, entry, hint };
  for (const key of Object.keys(entry)) {
    const item = entry[key];
    if (markerOf(item) !== null) entry[key] = revived(item);
  }
  if (typeof entry['timestamp'] === 'bigint') entry['timestamp'] = Number(entry['timestamp']);
  return { index, shown: shownOutput(element), entry, hint };
}

/** A `{latitude, longitude}` pair as the text of a place where a place is allowed, and `[lat, lon]` where one is due. */
function placeOf(value: unknown, field: unknown, fields: Fields): unknown {
  if (Array.isArray(value) && typeof field === 'string' && fields.get(field)?.type === 'GEOLOCATION')
    return placeOfList(value) ?? value;
  if (!isObject(value) || typeof field !== 'string') return value;
  const type = fields.get(field)?.type ?? 'GEOLOCATION';
  return type === 'GEOLOCATION' ? (placeText(value) ?? value) : value;
}

/** True for values that networks' decoders write for an unknown time. */
function isEmptyTime(time: unknown): boolean {
  if (typeof time === 'string') return time.trim() === '';
  const marker = markerOf(time);
  return time === null || marker === 'NaN' || marker === INVALID_DATE;
}

/** The value of a marker, as far as checking needs it: no more than its kind. */
function revived(value: unknown): unknown {
  const marker = markerOf(value);
  if (marker === null) return value;
  if (marker === 'NaN' || marker === 'Infinity' || marker === '-Infinity') return Number(marker);
  if (marker === 'undefined') return undefined;
  if (marker === INVALID_DATE) return new Date(Number.NaN);
  if (marker.startsWith('bigint:')) {
    const digits = marker.slice('bigint:'.length);
    return BIGINT.test(digits) ? BigInt(digits) : {};
  }
  if (marker === 'symbol') return Symbol(marker);
  return marker === 'function' ? () => null : {};
}

function markerOf(value: unknown): string | null {
  if (!isObject(value)) return null;
  const marker = value[MARKER];
  return typeof marker === 'string' && Object.keys(value).length === 1 ? marker : null;
}

/** True for `{data, errors, warnings}` alone: an object with `data` beside other keys is a plain result. */
function isWrapper(value: Record<string, unknown>): boolean {
  const keys = Object.keys(value);
  return (
    keys.length > 0 &&
    keys.every((key) => {
      const part = value[key];
      if (key === 'data') return typeof part === 'object' && markerOf(part) === null;
      return (key === 'errors' || key === 'warnings') && (Array.isArray(part) || ('data' in value && !isObject(part)));
    })
  );
}

/**
 * True for a record instead of an entry: an entry's time is `timestamp`, under another key it is a record's, unless the
 * object names its device.
 */
function isNoEntry(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || !looksLikeEntry(value)) return isObject(value);
  return !('timestamp' in value) && !('device' in value) && timeKeyOf(value) !== null;
}

/** True for a record of a device with a time of its own: `{device, ts, temperature, …}`. */
function isDeviceRecord(value: unknown): value is Record<string, unknown> {
  if (!isObject(value) || typeof value['device'] !== 'string' || 'field' in value) return false;
  const { device: _, ...rest } = value;
  return isRecord(rest) || isTelemetry(rest);
}

function looksLikeEntry(value: Record<string, unknown>): boolean {
  return typeof value['field'] === 'string' && 'value' in value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  const shown = shownOutput(value);
  return (typeof shown === 'string' ? shown : jsonBeginning(shown, 200)).slice(0, 200);
}

function failed(kind: DecoderFailure['kind'], message: string): ReadEntries {
  return { entries: [], error: { kind, message, line: null, column: null } };
}
