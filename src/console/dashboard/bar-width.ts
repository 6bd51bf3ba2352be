const MOST_BARS = 40;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Widths for the API, with their usual duration. */
const WIDTHS: readonly { resolution: string; ms: number }[] = [
  { resolution: '1s', ms: 1_000 },
  { resolution: '5s', ms: 5_000 },
  { resolution: '15s', ms: 15_000 },
  { resolution: '1m', ms: MINUTE },
  { resolution: '5m', ms: 5 * MINUTE },
  { resolution: '15m', ms: 15 * MINUTE },
  { resolution: '30m', ms: 30 * MINUTE },
  { resolution: '1h', ms: HOUR },
  { resolution: '3h', ms: 3 * HOUR },
  { resolution: '6h', ms: 6 * HOUR },
  { resolution: '12h', ms: 12 * HOUR },
  { resolution: '1d', ms: DAY },
  { resolution: '1w', ms: 7 * DAY },
  { resolution: '1mo', ms: 30 * DAY },
  { resolution: '3mo', ms: 91 * DAY },
  { resolution: '1y', ms: 365 * DAY },
];

/**
 * The width of one bar when a range of `span` milliseconds is shown as bars: at most forty of them, except for the
 * longest ranges.
 */
export function barWidth(span: number): { resolution: string; ms: number } {
  return WIDTHS.find(({ ms }) => span / ms <= MOST_BARS) ?? WIDTHS.at(-1)!;
}
