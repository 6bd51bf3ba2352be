import { must } from '../../must.ts';

const PAIR = /^\s*(\(\s*)?([^\s,()]+)\s*,\s*([^\s,()]+)\s*(\)\s*)?$/;
const LATITUDE = ['latitude', 'lat', 'Latitude', 'LATITUDE', 'Lat'];
const LONGITUDE = ['longitude', 'lon', 'lng', 'long', 'Longitude', 'LONGITUDE', 'Lon', 'Lng'];

const DECIMAL = /^\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*$/;

/**
 * `(lat,lon)` without blanks, or null when the text is no such pair or off the globe (CONTRACT 3). The brackets may be
 * left out.
 */
export function parseGeolocation(text: string): string | null {
  if (text.length > 200) return null;
  const match = PAIR.exec(text);
  if (match === null || (match[1] === undefined) !== (match[4] === undefined)) return null;
  const [lat, lon] = [readDecimal(must(match[2])), readDecimal(must(match[3]))];
  return lat === null || lon === null ? null : pairText(lat, lon);
}

/** The same for an object with `latitude` and `longitude`, as decoders return places; null for any other. */
export function placeText(object: Record<string, unknown>): string | null {
  const lat = coordinate(object, LATITUDE);
  const lon = coordinate(object, LONGITUDE);
  return lat === null || lon === null ? null : pairText(lat, lon);
}

/** The same for a list `[lat, lon]`; null for any other. */
export function placeOfList(list: readonly unknown[]): string | null {
  const [lat, lon] = [numberIn(list[0]), numberIn(list[1])];
  return list.length !== 2 || lat === null || lon === null ? null : pairText(lat, lon);
}

function coordinate(object: Record<string, unknown>, names: string[]): number | null {
  return numberIn(names.map((name) => object[name]).find((found) => found !== undefined && found !== null));
}

function numberIn(value: unknown): number | null {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

function pairText(lat: number, lon: number): string | null {
  // `+ 0` turns -0 into 0.
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 ? `(${lat + 0},${lon + 0})` : null;
}

/** The finite number that a text writes as a decimal, blanks around it allowed; null: it is none, or too large. */
export function readDecimal(text: string): number | null {
  const number = DECIMAL.test(text) ? Number(text) : Infinity;
  return Number.isFinite(number) ? number : null;
}
