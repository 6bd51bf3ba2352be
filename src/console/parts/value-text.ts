import { countText } from '../texts/count-text.ts';
import { LOCALE } from '../texts/languages.ts';
/** A measured value as the API gives it: a place is the text `(lat,lon)`. */
export type MeasuredValue = number | string | boolean | null;

const PLAIN = new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 6, useGrouping: true });
const VERY_SMALL = 1e-4;
const VERY_LARGE = 1e15;

/** A number for people: six digits, with separators, and powers of ten only if unavoidable. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size < VERY_SMALL || size >= VERY_LARGE)) return value.toPrecision(4);
  return size >= 1e5 ? countText(value) : PLAIN.format(value);
}

const COMPUTED_DIGITS = 5;
const MAX_DIGITS = 17;

/**
 * A computed number without the digits that were never measured; never rounded past its bounds, such as a mean beyond
 * the smallest or the largest value.
 */
export function roundedWithin(value: number, low: number | null = null, high: number | null = null): number {
  for (let digits = COMPUTED_DIGITS; digits < MAX_DIGITS; digits += 1) {
    const rounded = Number(value.toPrecision(digits));
    if ((low === null || rounded >= low) && (high === null || rounded <= high)) return rounded;
  }
  return value;
}

/** Any measured value for people, with its unit; a dash for none, words for a text without letters. */
export function valueText(value: MeasuredValue | undefined, unit: string | null = null): string {
  if (value == null) return '–';
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'string') return value === '' ? '(empty)' : value;
  if (unit === null || unit === '') return numberText(value);
  return unit === '%' || unit === '°' ? `${numberText(value)}${unit}` : `${numberText(value)} ${unit}`;
}
