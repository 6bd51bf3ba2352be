/** A place on the globe, in degrees. A longitude beyond ±180 was reached across the date line. */
export interface Place {
  latitude: number;
  longitude: number;
}

/** A place in the square map of the world (Mercator): x eastwards and y southwards, the whole world being 0 to 1. */
export interface Point {
  x: number;
  y: number;
}

const PAIR = /^\(([^,()]+),([^,()]+)\)$/;
/** Latitude at which Mercator's map ends: it would be infinitely high. */
const HIGHEST = 85.051_129;
const RADIANS = Math.PI / 180;
const DIGITS = 5;

/** Reads `(lat,lon)`, the API's text of a place; null: no place. */
export function readPlace(text: unknown): Place | null {
  const found = typeof text === 'string' ? PAIR.exec(text) : null;
  const [latitude, longitude] = [Number(found?.[1]), Number(found?.[2])];
  return Number.isFinite(latitude) && Number.isFinite(longitude) ? { latitude, longitude } : null;
}

/** Position of a place in the map of the world. */
export function pointOf({ latitude, longitude }: Place): Point {
  const angle = Math.max(-HIGHEST, Math.min(HIGHEST, latitude)) * RADIANS;
  return { x: (longitude + 180) / 360, y: 0.5 - Math.log(Math.tan(Math.PI / 4 + angle / 2)) / (2 * Math.PI) };
}

/** The place at a position in the map of the world. */
export function placeOf({ x, y }: Point): Place {
  const latitude = (2 * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - Math.PI / 2) / RADIANS;
  return { latitude, longitude: x * 360 - 180 };
}

/** A place for people, to the metre: `52.52° N, 13.405° E`. */
export function placeText({ latitude, longitude }: Place): string {
  return `${latitudeText(latitude)}, ${longitudeText(longitude)}`;
}

/** `52.52° N`, with at most `digits` decimals. */
export function latitudeText(latitude: number, digits = DIGITS): string {
  return `${Number(Math.abs(latitude).toFixed(digits))}° ${latitude < 0 ? 'S' : 'N'}`;
}

/** `13.405° E`, with at most `digits` decimals; longitudes beyond the date line in their usual form. */
export function longitudeText(longitude: number, digits = DIGITS): string {
  const near = longitude - 360 * Math.round(longitude / 360);
  return `${Number(Math.abs(near).toFixed(digits))}° ${near < 0 ? 'W' : 'E'}`;
}
