import type { StoredValue } from '../ports/store.ts';
import type { FieldType, ReadAs } from '../entities/field.ts';
import { readDecimal, parseGeolocation } from './geolocation.ts';
import { must } from '../../must.ts';

const MAX_TEXT = 4096;

/** What each type takes, for the message of an INVALID_VALUE. */
export const EXPECTED_VALUE: Record<FieldType, string> = {
  FLOAT: 'a finite number, a numeric string or a boolean',
  INTEGER: 'a whole number from -2^53 to 2^53 (identifiers are STRING), a string with one, or a boolean',
  BOOLEAN:
    'true, false, 1, 0, or one of "true", "false", "1", "0", "on", "off", "open", "closed", "yes", "no" in any case',
  STRING:
    'a string of at most 4096 characters without NUL or half of a surrogate pair, a number (a whole one beyond 2^53 only as a string) or a boolean',
  GEOLOCATION: '"(lat,lon)", brackets optional, with lat from -90 to 90 and lon from -180 to 180',
};

/** Up to there a double holds each whole number. */
const MOST_WHOLE = 2 ** 53;
const WHOLE = 2n ** 53n;
/** In characters: so few say nothing that a double would not hold. */
const SHORT_NUMBER = 15;
const WRITTEN = /^[+-]?(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;

/**
 * The same of what somebody hands in, which may be a BigInt: null also for what an INTEGER or a text would hold as another
 * number than was sent.
 */
export function acceptedValue(type: FieldType, raw: unknown): StoredValue | null {
  if (typeof raw === 'bigint') return ofBigInt(type, raw);
  if (type !== 'INTEGER') return type === 'STRING' && isRounded(raw) ? null : toStoredValue(type, raw);
  const value = toStoredValue(type, raw) as number | null;
  if (value === null || Math.abs(value) > MOST_WHOLE) return null;
  return typeof raw === 'string' && raw.length > SHORT_NUMBER && !writesWhole(raw, value) ? null : value;
}

/** Its digits are not those that were written. */
function isRounded(raw: unknown): boolean {
  return Number.isInteger(raw) && Math.abs(raw as number) > MOST_WHOLE;
}

function ofBigInt(type: FieldType, raw: bigint): StoredValue | null {
  if (type === 'STRING') return toStoredValue(type, String(raw));
  return type === 'FLOAT' || (raw >= -WHOLE && raw <= WHOLE) ? toStoredValue(type, Number(raw)) : null;
}

/** Whether a decimal's text says exactly this whole number. */
function writesWhole(text: string, whole: number): boolean {
  const [, front = '', fraction = '', exponent = '0'] = must(WRITTEN.exec(text.trim()));
  const digits = (front + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  if (kept === '') return whole === 0;
  return power >= 0 && power <= SHORT_NUMBER + 1 && BigInt(kept) * 10n ** BigInt(power) === BigInt(Math.abs(whole));
}

/** The value as it is stored (BOOLEAN as 1/0), or null when the type does not take it (CONTRACT 3). */
function toStoredValue(type: FieldType, raw: unknown): StoredValue | null {
  switch (type) {
    case 'FLOAT':
      return toNumber(raw);
    case 'INTEGER': {
      const number = toNumber(raw);
      return number !== null && Number.isInteger(number) ? number : null;
    }
    case 'BOOLEAN':
      return toBoolean(raw);
    case 'STRING':
      return toText(raw);
    case 'GEOLOCATION':
      return typeof raw === 'string' ? parseGeolocation(raw) : null;
  }
}

/** A stored value as the type has it now (BOOLEAN: 1 or 0); null when it does not fit any more. */
export function readStored({ type, wasBoolean }: ReadAs, stored: StoredValue): StoredValue | null {
  // A text sent since then is a text: only what was stored as a boolean is a number.
  if (type === 'STRING' && wasBoolean === true && (stored === 1 || stored === 0))
    return stored === 1 ? 'true' : 'false';
  return toStoredValue(type, stored);
}

/** A stored value as clients see it; null when the field's type was changed and the old value does not fit. */
export function fromStoredValue(as: ReadAs, stored: StoredValue): number | boolean | string | null {
  const value = readStored(as, stored);
  return as.type === 'BOOLEAN' && value !== null ? value === 1 : value;
}

/** What senders write where they have no value. */
const NO_VALUE = /^(?:nan|null)?$/i;

/** The type a new field would need to take this value, for suggested fields; null: it says nothing of that. */
export function guessFieldType(value: unknown): FieldType | null {
  if (typeof value === 'boolean') return 'BOOLEAN';
  if (typeof value === 'number') return 'FLOAT';
  if (typeof value !== 'string') return value === undefined || value === null ? null : 'STRING';
  if (value.length < 50 && NO_VALUE.test(value.trim())) return null;
  // Without brackets it may be a decimal comma.
  if (parseGeolocation(value) !== null && /\(|^[^,.]*\.[^,]*,[^,.]*\./.test(value)) return 'GEOLOCATION';
  return readDecimal(value) === null ? 'STRING' : 'FLOAT';
}

/** Plain words for the two states, in lower case. */
const STATES = new Map<string, 1 | 0>([
  ['true', 1],
  ['on', 1],
  ['open', 1],
  ['yes', 1],
  ['1', 1],
  ['false', 0],
  ['off', 0],
  ['closed', 0],
  ['no', 0],
  ['0', 0],
]);
/** In characters: longer than any of them, with blanks around it. */
const MAX_STATE = 20;

function toBoolean(raw: unknown): 1 | 0 | null {
  if (raw === true || raw === 1) return 1;
  if (raw === false || raw === 0) return 0;
  if (typeof raw !== 'string' || raw.length > MAX_STATE) return null;
  return STATES.get(raw) ?? STATES.get(raw.trim().toLowerCase()) ?? null;
}

function toNumber(raw: unknown): number | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? raw + 0 : null;
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  const number = typeof raw === 'string' && raw.length <= 400 ? readDecimal(raw) : null;
  return number === null ? null : number + 0;
}

function toText(raw: unknown): string | null {
  if (typeof raw === 'number') return Number.isFinite(raw) ? JSON.stringify(raw) : null;
  if (typeof raw === 'boolean') return raw ? 'true' : 'false';
  if (typeof raw !== 'string' || raw.includes('\0') || !raw.isWellFormed()) return null;
  if (raw.length > MAX_TEXT && (raw.length > 2 * MAX_TEXT || Array.from(raw).length > MAX_TEXT)) return null;
  return raw;
}
