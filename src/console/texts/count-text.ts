import { LOCALE } from './languages.ts';

const WHOLE = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });

/** A number of things, as a whole number with separators. */
export function countText(count: number): string {
  return WHOLE.format(count);
}
