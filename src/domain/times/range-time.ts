import { isoMs } from './iso-time.ts';
import { MILLISECONDS_FROM } from './looks-like.ts';

const LATEST_MS = 8.64e15;
const NUMBER = /^\s*\d+(?:\.\d*)?\s*$/;

/**
 * A bound of a range as exports take it (CONTRACT 8): ISO 8601 from 1970 on (a date alone is midnight; without a zone
 * UTC), or epoch seconds or milliseconds. Returns whole milliseconds; null for other texts.
 */
export function readRangeTime(text: string): number | null {
  const number = NUMBER.test(text) ? Number(text) : null;
  const time = number === null ? isoMs(text) : Math.round(number >= MILLISECONDS_FROM ? number : number * 1000);
  return time !== null && time >= 0 && time <= LATEST_MS ? time : null;
}
