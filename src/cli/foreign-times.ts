/** Digits below a millisecond by unit; negative: they lack. */
const BELOW: Readonly<Record<string, number>> = { ns: 6, us: 3, ms: 0, s: -3 };

/** The units of times that are numbers. */
export const TIME_UNITS = Object.keys(BELOW);

/** A time as the import endpoint reads it, cut to milliseconds; `unit` of numbers, null: by their number of digits. */
export function readTimeOf(time: string, unit: string | null): string {
  const text = time.trim();
  if (!/^\d+$/.test(text)) return text.replace(/(:\d\d[.,]\d{3})\d+/, '$1');
  const below = BELOW[unit ?? unitOf(text)] ?? 0;
  return below > 0 ? text.slice(0, -below) : below === 0 ? text : `${text}000`;
}

function unitOf({ length }: string): string {
  return length >= 18 ? 'ns' : length >= 15 ? 'us' : length >= 12 ? 'ms' : 's';
}
