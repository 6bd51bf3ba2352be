import { badInput } from '../../errors.ts';
import type { FieldType } from '../entities/field.ts';
import { checkJsonDocument } from '../text/json-document.ts';
import { sortedJson } from '../text/json-text.ts';
import { checkText } from '../text/text.ts';

/** Maximum length of a field's display as JSON. */
const MAX_DISPLAY_BYTES = 2_000;
/** Maximum digits behind the decimal point. */
const MAX_DECIMALS = 10;
/** Colours that a value may have; screens take theirs of these names. */
const COLORS = ['green', 'amber', 'red', 'blue', 'grey'] as const;
const WORD_LENGTH = 60;
const KEYS = ['decimals', 'words', 'low', 'high'];
const WORD_KEYS = ['value', 'text', 'color'];

type Given = Readonly<Record<string, unknown>>;

/**
 * The look of a field's values as JSON text in its one form, null when nothing is said; else BAD_USER_INPUT naming `path`.
 * `{decimals, words: [{value, text, color}], low, high}`: decimals and the bounds of numbers only, words of all but places.
 * `type` null: of any type.
 */
export function checkDisplay(type: FieldType | null, given: unknown, path: string): string | null {
  if (given == null) return null;
  checkJsonDocument(given, path, MAX_DISPLAY_BYTES);
  const display = object(given, path, KEYS);
  const { decimals = null, words = null, low = null, high = null } = display;
  const isNumber = type === null || type === 'FLOAT' || type === 'INTEGER';
  for (const [key, value] of Object.entries({ decimals, low, high }))
    if (value !== null && !isNumber)
      throw badInput(`${path}.${key}: is for FLOAT and INTEGER, and the field is ${type}; leave it out.`);
  if (decimals !== null && !(Number.isInteger(decimals) && Number(decimals) >= 0 && Number(decimals) <= MAX_DECIMALS))
    throw badInput(`${path}.decimals: expected a whole number from 0 to ${MAX_DECIMALS}, got ${shown(decimals)}.`);
  const [least, most] = [bound(low, `${path}.low`), bound(high, `${path}.high`)];
  if (least !== null && most !== null && least >= most)
    throw badInput(`${path}.low: ${least} is not below ${path}.high, ${most}.`);
  const known = checkWords(type, words, `${path}.words`);
  const kept = Object.entries({ decimals, words: known.length === 0 ? null : known, low: least, high: most });
  const said = kept.filter(([, value]) => value !== null);
  return said.length === 0 ? null : JSON.stringify(sortedJson(Object.fromEntries(said)));
}

/** The display after a change of the type: what no longer fits is dropped. */
export function keptDisplay(type: FieldType, text: string | null): string | null {
  if (text === null) return null;
  const { words, ...numbers } = JSON.parse(text) as Given;
  const fitting = (some: Given): string | null => {
    try {
      return checkDisplay(type, some, '');
    } catch {
      return null;
    }
  };
  return fitting({ ...numbers, words }) ?? fitting(numbers) ?? fitting({ words });
}

function checkWords(type: FieldType | null, given: unknown, path: string): Given[] {
  if (given === null) return [];
  if (!Array.isArray(given)) throw badInput(`${path}: expected a list, got ${shown(given)}.`);
  if (type === 'GEOLOCATION') throw badInput(`${path}: a place has no words; leave them out.`);
  const seen = new Set<unknown>();
  return given.map((one: unknown, index) => {
    const at = `${path}[${index}]`;
    const { value, text = null, color = null } = object(one, at, WORD_KEYS);
    if (!fits(type, value)) throw badInput(`${at}.value: ${shown(value)} is no ${type ?? 'measured'} value.`);
    if (seen.has(value)) throw badInput(`${at}.value: ${shown(value)} has words already.`);
    seen.add(value);
    if (text === null && color === null) throw badInput(`${at}: give it a text, a color or both.`);
    if (text !== null && typeof text !== 'string') throw badInput(`${at}.text: expected a text, got ${shown(text)}.`);
    if (color !== null && !(COLORS as readonly unknown[]).includes(color))
      throw badInput(`${at}.color: expected one of ${COLORS.join(', ')}, got ${shown(color)}.`);
    return {
      value,
      ...(text === null ? {} : { text: checkText(text, `${at}.text`, { max: WORD_LENGTH }) }),
      ...(color === null ? {} : { color }),
    };
  });
}

function fits(type: FieldType | null, value: unknown): boolean {
  if (type === null) return ['boolean', 'string', 'number'].includes(typeof value);
  if (type === 'BOOLEAN') return typeof value === 'boolean';
  if (type === 'STRING') return typeof value === 'string';
  return type === 'INTEGER' ? Number.isSafeInteger(value) : typeof value === 'number';
}

function bound(value: unknown, path: string): number | null {
  if (value === null) return null;
  if (typeof value !== 'number') throw badInput(`${path}: expected a number, got ${shown(value)}.`);
  return value;
}

function object(value: unknown, path: string, keys: readonly string[]): Given {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw badInput(`${path}: expected an object, got ${shown(value)}.`);
  const unknown = Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined)
    throw badInput(`${path}.${unknown.slice(0, 50)}: unknown key; there are ${keys.join(', ')}.`);
  return value as Given;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 60);
}
