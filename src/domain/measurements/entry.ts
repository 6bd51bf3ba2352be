import { FIELD_IDENTIFIER, type FieldType } from '../entities/field.ts';
import { usableIdentifier } from '../entities/name-path.ts';
import { brokenPlace, describe, kindOf, shown } from '../text/describe-value.ts';
import { readTime, type TimeBounds } from '../times/entry-time.ts';
import { acceptedValue, EXPECTED_VALUE } from './field-value.ts';
import type { FieldInfo, ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { notCovered } from '../ingest-cache/seen-fields.ts';
import type { StoredValue } from '../ports/store.ts';
import { must } from '../../must.ts';

/** Why an entry was not stored (CONTRACT 3). */
export type RejectionCode =
  | 'INVALID_ENTRY'
  | 'UNKNOWN_FIELD'
  | 'MISSING_VALUE'
  | 'INVALID_VALUE'
  | 'INVALID_TIMESTAMP'
  | 'TIMESTAMP_IN_FUTURE'
  | 'NO_FIX'
  | 'BEYOND_RETENTION'
  | 'DUPLICATE_IN_REQUEST'
  | 'RATE_LIMITED'
  | 'MISSING_DEVICE'
  | 'UNKNOWN_DEVICE';

/** Why an entry is not stored, as the sender reads it (CONTRACT 3); `index` is its place in the request. */
export interface Rejection {
  index: number;
  field: string | null;
  code: RejectionCode;
  message: string;
}

/** A valid entry, ready to be stored. */
export interface Accepted {
  field: FieldInfo;
  timestamp: number;
  value: StoredValue;
}

/** What trackers say until they know where they are. */
const ZERO_PLACE = '(0,0)';
const NO_FIX = 'The place (0,0) means that the tracker has no fix: the product ignores it (ignoreZeroPlaces).';

/**
 * Checks one untrusted entry against the product's fields, and its time by `bounds`; without one the entry gets
 * `defaultTime`. Reads each property once and never calls into the entry.
 */
export function checkEntry(
  product: ProductInfo,
  entry: unknown,
  index: number,
  defaultTime: number,
  bounds: TimeBounds,
): Accepted | Rejection {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry))
    return reject(index, null, 'INVALID_ENTRY', `Expected an object with "field" and "value", not ${kindOf(entry)}.`);
  const { field: identifier, value: raw, timestamp: time } = entry as Record<string, unknown>;
  if (typeof identifier !== 'string')
    return reject(index, null, 'INVALID_ENTRY', `"field" must be a string, not ${kindOf(identifier)}.`);
  const field = product.fields.get(identifier);
  if (field === undefined) return reject(index, identifier, 'UNKNOWN_FIELD', unknownField(product, identifier));
  if (raw === undefined || raw === null) {
    const missing = raw === null ? 'The value is null.' : 'The entry has no "value".';
    return reject(index, identifier, 'MISSING_VALUE', missing);
  }
  const value = acceptedValue(field.type, raw);
  if (value === null) return reject(index, identifier, 'INVALID_VALUE', valueMessage(field.type, raw));
  if (value === ZERO_PLACE && field.type === 'GEOLOCATION' && product.ignoreZeroPlaces)
    return reject(index, identifier, 'NO_FIX', NO_FIX);
  if (time === undefined || time === null) return { field, timestamp: defaultTime, value };
  const timestamp = readTime(time, product.timeZone, bounds);
  if (typeof timestamp === 'number') return { field, timestamp, value };
  return reject(index, identifier, timestamp.code, timestamp.message);
}

/** Tells a refused entry from an accepted one. */
export function isRejection(outcome: Accepted | Rejection): outcome is Rejection {
  return 'code' in outcome;
}

/** True for an entry that says no time: it gets the receipt time of its request. */
export function lacksTime(entry: unknown): boolean {
  return typeof entry === 'object' && entry !== null && ((entry as { timestamp?: unknown }).timestamp ?? null) === null;
}

/** A refusal; the identifier of the field is shortened for the answer. */
export function reject(index: number, field: string | null, code: RejectionCode, message: string): Rejection {
  return { index, field: field === null ? null : shown(field), code, message };
}

function valueMessage(type: FieldType, raw: unknown): string {
  if (type === 'STRING' && typeof raw === 'string' && !raw.isWellFormed())
    return `${brokenPlace(raw)} holds what is no character: half of a surrogate pair, or a byte that is not in the charset of the request; send UTF-8, or name the charset in the Content-Type.`;
  return `${type} takes ${EXPECTED_VALUE[type]}, not ${describe(raw)}.`;
}

/** Names a remedy that works: no field can be added under what is no identifier. */
function unknownField({ fields, whole }: ProductInfo, identifier: string): string {
  if (whole !== undefined) return notCovered(identifier);
  if (FIELD_IDENTIFIER.test(identifier))
    return `The product has no field "${identifier}" (identifiers are case-sensitive); add it to the product first.`;
  // What nobody sees as its code.
  const given = shown(identifier).replace(/[\p{Cf}\p{Cc}]/gu, (one) => `\\u{${must(one.codePointAt(0)).toString(16)}}`);
  const why = `No field can be called "${given}": identifiers have 1 to 64 characters of A-Z a-z 0-9 _ -`;
  const usable = usableIdentifier(identifier);
  if (usable === null) return `${why}.`;
  if (fields.has(usable)) return `${why}; the product has "${usable}": send it as that.`;
  return `${why}; add it to the product as "${usable}" and send it as that.`;
}
