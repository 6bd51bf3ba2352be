const DAY = 86_400;

const formats = {
  second: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),
  minute: new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' }),
  day: new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' }),
  month: new Intl.DateTimeFormat(undefined, { month: 'short' }),
  year: new Intl.DateTimeFormat(undefined, { year: 'numeric' }),
};

/**
 * Labels for the marks of a time axis (Unix seconds, `step` seconds apart) in this browser's language; at the begin of
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
    const [text, below] = [formats[fine].format(at), formats[coarse].format(at)];
    const isNew = below !== before;
    before = below;
    return isNew ? `${text}\n${below}` : text;
  });
}
