import { badInput } from '../../errors.ts';
import { checkText } from '../text/text.ts';
import { choice, list, number, object, shown, text } from './document-parts.ts';

/** What a widget can be. */
export const WIDGET_KINDS = ['line', 'area', 'bar', 'value', 'gauge', 'state', 'table', 'map', 'text'] as const;

/** The kind of a widget. */
export type WidgetKind = (typeof WIDGET_KINDS)[number];

const MAX_DECIMALS = 10;
const MAX_THRESHOLDS = 10;
/** Maximum characters of a text widget. */
const MAX_TEXT = 10_000;
/** Maximum bars per field of a bar widget. */
const MAX_BARS = 1_000;

const AGGREGATIONS = ['AVG', 'TIME_AVG', 'MIN', 'MAX', 'SUM', 'COUNT', 'DIFFERENCE'] as const;
const COLORS = ['green', 'amber', 'red'] as const;
const ROWS = ['time', 'latest'] as const;
const WIDTH = /^([1-9]\d{0,4})(s|m|h|d|w|mo|y)$/;
const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  m: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  mo: 2_592_000,
  y: 31_536_000,
};
/** The range of a widget that names none. */
const DAY = '1d';

type Check = (value: unknown, path: string) => void;

/** Each option by name, with the check of its value. */
const CHECKS = {
  decimals: (value, path) => {
    if (!Number.isInteger(value) || (value as number) < 0 || (value as number) > MAX_DECIMALS)
      throw badInput(`${path}: expected a whole number from 0 to ${MAX_DECIMALS}, got ${shown(value)}.`);
  },
  thresholds: (value, path) =>
    list(value, path, MAX_THRESHOLDS).forEach((one, index) => checkThreshold(one, `${path}[${index}]`)),
  min: (value, path) => void number(value, path),
  max: (value, path) => void number(value, path),
  aggregation: (value, path) => choice(value, path, AGGREGATIONS),
  width: (value, path) => {
    if (!WIDTH.test(text(value, path)))
      throw badInput(`${path}: expected a number and s, m, h, d, w, mo or y, such as "1d", got ${shown(value)}.`);
  },
  rows: (value, path) => choice(value, path, ROWS),
  track: (value, path) => {
    if (typeof value !== 'boolean') throw badInput(`${path}: expected true or false, got ${shown(value)}.`);
  },
  text: (value, path) => void checkText(text(value, path), path, { max: MAX_TEXT, multiline: true, optional: true }),
} as const satisfies Readonly<Record<string, Check>>;

type Option = keyof typeof CHECKS;

/** The options that each kind reads; others are kept as they are, for other clients. */
const OPTIONS: Readonly<Record<WidgetKind, readonly Option[]>> = {
  line: ['decimals', 'thresholds'],
  area: ['decimals', 'thresholds'],
  bar: ['decimals', 'thresholds', 'aggregation', 'width'],
  value: ['decimals', 'thresholds'],
  gauge: ['decimals', 'thresholds', 'min', 'max'],
  state: ['decimals', 'thresholds'],
  table: ['decimals', 'thresholds', 'rows'],
  map: ['track'],
  text: ['text'],
};

/** BAD_USER_INPUT with the path of the first option whose value the kind cannot use. */
export function checkWidgetOptions(
  options: Readonly<Record<string, unknown>>,
  path: string,
  kind: WidgetKind,
  range: unknown,
): void {
  for (const name of OPTIONS[kind])
    if (Object.hasOwn(options, name)) (CHECKS[name] as Check)(options[name], `${path}.${name}`);
  const { min, max, width } = options;
  if (kind === 'gauge' && typeof max === 'number' && typeof min === 'number' && max <= min)
    throw badInput(`${path}.max: a gauge needs a "max" above its "min" of ${min}, got ${max}.`);
  if (kind === 'text' && !Object.hasOwn(options, 'text')) throw badInput(`${path}.text: a text needs one.`);
  if (kind === 'bar' && width !== undefined) {
    const bars = seconds(typeof range === 'string' ? range : DAY) / seconds(width as string);
    if (bars > MAX_BARS)
      throw badInput(
        `${path}.width: bars of ${shown(width)} would be ${Math.ceil(bars)} in the range; at most ${MAX_BARS} are drawn.`,
      );
  }
}

function seconds(range: string): number {
  const [, count, unit = ''] = WIDTH.exec(range) ?? [];
  return Number(count) * (SECONDS[unit] ?? 1);
}

function checkThreshold(threshold: unknown, path: string): void {
  const { above, below, color } = object(threshold, path, ['color'], ['above', 'below']);
  choice(color, `${path}.color`, COLORS);
  if ((above === undefined) === (below === undefined))
    throw badInput(`${path}: give one of "above" and "below", the number from which the color counts.`);
  number(above ?? below, `${path}.${above === undefined ? 'below' : 'above'}`);
}
