const STEPS: [ms: number, unit: string][] = [
  [86_400_000 * 365, 'y'],
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];
const JUST_MS = 10_000;

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** Date and time to the second, in this browser's language and zone. */
export function dateTimeText(at: Date): string {
  return FULL.format(at);
}

/** The distance from `at` to `now` (milliseconds) in its largest unit: `now`, `25 s ago`, `3 h ago`, `in 2 d`. */
export function agoText(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance < JUST_MS) return 'now';
  const step = STEPS.find(([ms]) => distance >= ms);
  const text =
    step === undefined ? `${Math.floor(distance / 1_000)} s` : `${Math.floor(distance / step[0])} ${step[1]}`;
  return at <= now ? `${text} ago` : `in ${text}`;
}
