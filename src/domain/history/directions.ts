const FULL = 360;
const RADIANS = Math.PI / 180;
/** Of directions that cancel out what is left is rounding. */
const NO_DIRECTION = 1e-9;
/** Degrees are shown to so many parts: what is behind them is rounding. */
const PARTS = 1e9;

/** From one direction to another the shorter way round, in degrees from -180 (inclusive) to 180. */
export function turnOf(from: number, to: number): number {
  return within(to - from + FULL / 2) - FULL / 2;
}

/** The same direction from 0 to below 360 degrees. */
export function asDirection(degrees: number): number {
  const rounded = Math.round(within(degrees) * PARTS) / PARTS;
  return rounded === FULL ? 0 : rounded;
}

/** Adds up directions as arrows, each as long as its weight. */
interface Arrow {
  weight: number;
  east: number;
  north: number;
}

/** Adds one to the arrow. */
export function addDirection(arrow: Arrow, degrees: number, weight: number): void {
  arrow.weight += weight;
  arrow.east += weight * Math.sin(degrees * RADIANS);
  arrow.north += weight * Math.cos(degrees * RADIANS);
}

/** Where the arrow points to, from 0 to below 360 degrees; NaN: its parts cancel out. */
export function directionOf({ weight, east, north }: Arrow): number {
  if (!(Math.hypot(east, north) > weight * NO_DIRECTION)) return Number.NaN;
  return asDirection(Math.atan2(east, north) / RADIANS);
}

function within(degrees: number): number {
  return ((degrees % FULL) + FULL) % FULL;
}
