/** Units of a duration and their seconds, largest first. */
export const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

/** The name of a unit. */
export type Unit = (typeof UNITS)[number][0];

/** A duration as somebody types it. */
export interface TypedDuration {
  amount: string;
  unit: Unit;
}

/** Seconds in their largest two units: `10 min`, `1 h 30 min`, `2 d`, `0 s`. */
export function durationText(seconds: number): string {
  const [unit, size] = UNITS.find((one) => seconds >= one[1]) ?? UNITS[3];
  if (unit === 's') return `${Math.round(seconds * 10) / 10} s`;
  const smaller = UNITS[UNITS.findIndex(([one]) => one === unit) + 1]!;
  const whole = Math.floor(seconds / size);
  const rest = Math.round((seconds - whole * size) / smaller[1]);
  if (rest * smaller[1] >= size) return `${whole + 1} ${unit}`;
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller[0]}`;
}

/** Seconds as they would be typed: in the largest unit that divides them; none for null. */
export function typedDuration(seconds: number | null, empty: Unit = 'min'): TypedDuration {
  if (seconds === null) return { amount: '', unit: empty };
  if (seconds === 0) return { amount: '0', unit: empty };
  const [unit, size] = UNITS.find((one) => seconds % one[1] === 0) ?? UNITS[3];
  return { amount: String(seconds / size), unit };
}

/** The seconds of what was typed; null: nothing, or no number. */
export function secondsOf({ amount, unit }: TypedDuration): number | null {
  const number = Number(amount);
  if (amount.trim() === '' || !Number.isFinite(number)) return null;
  return number * UNITS.find(([one]) => one === unit)![1];
}
