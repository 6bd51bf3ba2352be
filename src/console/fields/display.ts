import { type MeasuredValue, valueText } from '../parts/value-text.ts';
import './value-colors.css';
import { LOCALE } from '../texts/languages.ts';

/** The colours that a value may have. */
export const WORD_COLORS = ['green', 'amber', 'red', 'blue', 'grey'] as const;
/** One of `WORD_COLORS`. */
export type WordColor = (typeof WORD_COLORS)[number];

/** A text and a colour for one value. */
export interface Word {
  value: number | string | boolean;
  text?: string;
  color?: WordColor;
}

/** The look of a field's values, as `Field.display` has it. */
export interface Display {
  decimals?: number;
  words?: Word[];
  /** The bounds below and above which a number is striking. */
  low?: number;
  high?: number;
}

/** The parts of a field that decide how its values are written. */
interface Shown {
  unit: string | null;
  display?: unknown;
}

/** The display of a field; an empty one where nothing is said. */
export function displayOf({ display }: Pick<Shown, 'display'>): Display {
  return typeof display === 'object' && display !== null ? display : {};
}

/** A value of a field for people: its word, or the number with the field's decimals and unit. */
export function shownText(value: MeasuredValue | undefined, field: Shown): string {
  const { decimals } = displayOf(field);
  const word = wordOf(value, field)?.text;
  if (word !== undefined) return word;
  if (typeof value !== 'number' || decimals === undefined) return valueText(value, field.unit);
  const { unit } = field;
  const number = decimalsText(value, decimals);
  if (unit === null || unit === '') return number;
  return unit === '%' || unit === '°' ? `${number}${unit}` : `${number} ${unit}`;
}

/** The colour of a value: its word's, or amber for a number below or above the bounds; null: none. */
export function shownColor(value: MeasuredValue | undefined, field: Shown): WordColor | null {
  const word = wordOf(value, field)?.color;
  if (word !== undefined) return word;
  const { low = -Infinity, high = Infinity } = displayOf(field);
  return typeof value === 'number' && (value < low || value > high) ? 'amber' : null;
}

function wordOf(value: MeasuredValue | undefined, field: Shown): Word | undefined {
  return value == null ? undefined : displayOf(field).words?.find((word) => word.value === value);
}

const formats = new Map<number, Intl.NumberFormat>();

function decimalsText(value: number, decimals: number): string {
  const format =
    formats.get(decimals) ??
    new Intl.NumberFormat(LOCALE, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  formats.set(decimals, format);
  return format.format(value);
}
