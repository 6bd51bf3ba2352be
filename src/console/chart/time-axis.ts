import { timeFormat } from '../parts/time-text.ts';

const DAY = 86_400;

const FORMATS = {
  second: { hour: '2-digit', minute: '2-digit', second: '2-digit' },
  minute: { hour: '2-digit', minute: '2-digit' },
  day: { day: 'numeric', month: 'short' },
  month: { month: 'short' },
  year: { year: 'numeric' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

/**
 * Labels for the marks of a time axis (Unix seconds, `step` seconds apart) in the reader's zone; at the begin of
 * a day or year, a second line names it.
 */
export function timeLabels(marks: readonly number[], step: number): string[] {
  const [fine, coarse] =
    step >= 28 * DAY
      ? (['month', 'year'] as const)
      : step >= DAY
        ? (['day', 'year'] as const)
        : step < 60
          ? (['second', 'day'] as const)
          : (['minute', 'day'] as const);
  let before = '';
  return marks.map((mark) => {
    const at = mark * 1_000;
    const [text, below] = [timeFormat(FORMATS[fine]).format(at), timeFormat(FORMATS[coarse]).format(at)];
    const isNew = below !== before;
    before = below;
    return isNew ? `${text}\n${below}` : text;
  });
}

/** Milliseconds of a range from which on its labels show no seconds. */
const FINE_MS = 900_000;
/** A late time of a day: no label is wider. */
const WIDE = Date.UTC(2000, 8, 30, 22, 58, 58);

/** The widest labels of a range in milliseconds. */
export function sampleLabels({ from, to }: { from: number; to: number }): string[] {
  const fine = FORMATS[to - from < FINE_MS ? 'second' : 'minute'];
  return [fine, FORMATS.day].map((format) => timeFormat(format).format(WIDE));
}
