const FULL = 360;
const RADIANS = Math.PI / 180;
/** Length, relative to the weight, below which cancelled directions leave only rounding. */
const NO_DIRECTION = 1e-9;
/** Parts of a degree to which directions are rounded. */
const PARTS = 1e9;

/** The shorter turn from one direction to another, in degrees from -180 (inclusive) to 180. */
export function turnOf(from: number, to: number): number {
  return within(to - from + FULL / 2) - FULL / 2;
}

/** The direction within 0 to below 360 degrees. */
export function asDirection(degrees: number): number {
  const rounded = Math.round(within(degrees) * PARTS) / PARTS;
  return rounded === FULL ? 0 : rounded;
}

/** A sum of directions as vectors, each as long as its weight. */
interface Arrow {
  weight: number;
  east: number;
  north: number;
}

/** Adds a direction to the sum. */
export function addDirection(arrow: Arrow, degrees: number, weight: number): void {
  arrow.weight += weight;
  arrow.east += weight * Math.sin(degrees * RADIANS);
  arrow.north += weight * Math.cos(degrees * RADIANS);
}

/** Direction of the sum, from 0 to below 360 degrees; NaN: its parts cancel out. */
export function directionOf({ weight, east, north }: Arrow): number {
  if (!(Math.hypot(east, north) > weight * NO_DIRECTION)) return Number.NaN;
  return asDirection(Math.atan2(east, north) / RADIANS);
}

function within(degrees: number): number {
  return ((degrees % FULL) + FULL) % FULL;
}
