/** A place on the globe, in degrees. A longitude beyond ±180 is one that was reached across the date line. */
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
/** Mercator's map ends here: it would be endlessly high. */
const HIGHEST = 85.051_129;
const RADIANS = Math.PI / 180;
const DIGITS = 5;

/** What stands in `(lat,lon)`, as the API gives places; null: it is no place. */
export function readPlace(text: unknown): Place | null {
  const found = typeof text === 'string' ? PAIR.exec(text) : null;
  const [latitude, longitude] = [Number(found?.[1]), Number(found?.[2])];
  return Number.isFinite(latitude) && Number.isFinite(longitude) ? { latitude, longitude } : null;
}

/** Where a place is in the map of the world. */
export function pointOf({ latitude, longitude }: Place): Point {
  const angle = Math.max(-HIGHEST, Math.min(HIGHEST, latitude)) * RADIANS;
  return { x: (longitude + 180) / 360, y: 0.5 - Math.log(Math.tan(Math.PI / 4 + angle / 2)) / (2 * Math.PI) };
}

/** Which place is there in the map of the world. */
export function placeOf({ x, y }: Point): Place {
  const latitude = (2 * Math.atan(Math.exp((0.5 - y) * 2 * Math.PI)) - Math.PI / 2) / RADIANS;
  return { latitude, longitude: x * 360 - 180 };
}

/** A place for people, to the metre: `52.52° N, 13.405° E`. */
export function placeText({ latitude, longitude }: Place): string {
  return `${latitudeText(latitude)}, ${longitudeText(longitude)}`;
}

/** `52.52° N`, with at most so many digits behind the point. */
export function latitudeText(latitude: number, digits = DIGITS): string {
  return `${Number(Math.abs(latitude).toFixed(digits))}° ${latitude < 0 ? 'S' : 'N'}`;
}

/** `13.405° E`, with at most so many digits behind the point; what lies beyond the date line as others call it. */
export function longitudeText(longitude: number, digits = DIGITS): string {
  const near = longitude - 360 * Math.round(longitude / 360);
  return `${Number(Math.abs(near).toFixed(digits))}° ${near < 0 ? 'W' : 'E'}`;
}
