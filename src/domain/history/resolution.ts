import { badInput } from '../../errors.ts';

/** Units of the calendar, and seconds and minutes, which follow no calendar. */
type ResolutionUnit = 's' | 'm' | 'h' | 'd' | 'w' | 'mo' | 'y';

/** The width of a bucket: `count` units. */
export interface Resolution {
  count: number;
  unit: ResolutionUnit;
}

const SHAPE = /^([1-9]\d*)(s|m|h|d|w|mo|y)$/;
const MAX_COUNT: Record<ResolutionUnit, number> = {
  s: 86_400,
  m: 10_080,
  h: 24,
  d: 3_660,
  w: 520,
  mo: 1_200,
  y: 1_000,
};

/** Milliseconds of one unit, of months and years on average. */
export const UNIT_MS: Record<ResolutionUnit, number> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
  mo: 2_629_746_000,
  y: 31_556_952_000,
};

/** Widths for the server's choice, the finest first. */
export const LADDER: readonly string[] =
  '1s 2s 5s 10s 15s 30s 1m 2m 5m 10m 15m 30m 1h 2h 3h 6h 12h 1d 2d 1w 2w 1mo 3mo 6mo 1y 2y 5y 10y 100y 1000y'.split(
    ' ',
  );

/** Parses a resolution (CONTRACT 7); BAD_USER_INPUT with the allowed ones. */
export function parseResolution(text: string): Resolution {
  const [, digits, unit] = SHAPE.exec(text.slice(0, 20)) ?? [];
  const count = Number(digits);
  const known = unit as ResolutionUnit | undefined;
  if (known !== undefined && count <= MAX_COUNT[known]) return { count, unit: known };
  const most = Object.entries(MAX_COUNT).map(([name, limit]) => `${limit}${name}`);
  throw badInput(
    `"resolution" must be a whole number and a unit, such as "30s", "5m", "1h", "6h", "1d", "1w", "1mo", "3mo" or "1y" ` +
      `(at most ${most.join(', ')}), not ${JSON.stringify(text.slice(0, 20))}.`,
  );
}

/** Milliseconds, of months and years on average. */
export function widthOf({ count, unit }: Resolution): number {
  return count * UNIT_MS[unit];
}
