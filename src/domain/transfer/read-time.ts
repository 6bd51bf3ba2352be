/** From here on a number is milliseconds: as seconds it would be after the year 5138. */
const MILLISECONDS_FROM = 1e11;
const LATEST_MS = 8.64e15;
const NUMBER = /^\s*\d+(?:\.\d*)?\s*$/;
const ISO = /^\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:?\d\d)?)?\s*$/i;

/**
 * A time as exports and imports take it (CONTRACT 8): ISO 8601 (a date alone is midnight; without a zone UTC), or epoch
 * seconds or milliseconds. In whole milliseconds; null: it is none of them.
 */
export function readTime(value: unknown): number | null {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value;
  if (typeof number === 'number') {
    const time = Math.round(number >= MILLISECONDS_FROM ? number : number * 1000);
    return time >= 0 && time <= LATEST_MS ? time : null;
  }
  const match = typeof value === 'string' ? ISO.exec(value) : null;
  if (match === null) return null;
  const [, date, clock = '00:00', zone = 'Z'] = match;
  const time = Date.parse(`${date}T${clock}${zone}`);
  // Date.parse lets 30 February roll over into March.
  const isReal = Number.isFinite(time) && new Date(`${date}T00:00:00Z`).toISOString().startsWith(date as string);
  return isReal && time >= 0 ? time : null;
}
