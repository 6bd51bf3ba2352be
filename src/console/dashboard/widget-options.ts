import type { Aggregation } from '../api/schema-types.ts';
import type { ColorName } from '../chart/chart-colors.ts';
import { displayOf, shownColor, shownText, type WordColor } from '../fields/display.ts';
import { placeText, readPlace } from '../map/place.ts';
import type { MeasuredValue } from '../parts/value-text.ts';
import type { DashboardField, Widget } from './widgets.ts';
import { t } from '../texts/texts.ts';

/** A level from which a value has a colour. */
export interface Threshold {
  above?: number;
  below?: number;
  color: Tone;
}

/** A colour that says how well something is. */
export type Tone = 'green' | 'amber' | 'red';

/** Aggregations for bars to choose from. */
export const BAR_AGGREGATIONS = [
  { aggregation: 'AVG', text: 'mean' },
  { aggregation: 'TIME_AVG', text: t('mean by time') },
  { aggregation: 'MIN', text: 'smallest' },
  { aggregation: 'MAX', text: 'largest' },
  { aggregation: 'SUM', text: 'sum' },
  { aggregation: 'COUNT', text: t('how many values') },
  { aggregation: 'DIFFERENCE', text: t('increase or change') },
] as const satisfies readonly { aggregation: Aggregation; text: string }[];

/** Widths of bars to choose from. */
export const BAR_WIDTHS = [
  { width: '1h', text: t('an hour') },
  { width: '1d', text: t('a day') },
  { width: '1w', text: t('a week') },
  { width: '1mo', text: t('a month') },
  { width: '1y', text: t('a year') },
] as const;

/** Colours of thresholds to choose from. */
export const TONES: readonly { tone: Tone; text: string }[] = [
  { tone: 'green', text: 'green' },
  { tone: 'amber', text: 'amber' },
  { tone: 'red', text: 'red' },
];

/** The options that the server has checked; others of other clients are beside them. */
export interface Options {
  decimals?: number;
  thresholds?: Threshold[];
  min?: number;
  max?: number;
  aggregation?: Aggregation;
  width?: string;
  rows?: 'time' | 'latest';
  track?: boolean;
  text?: string;
}

/** The names of the options that the form of a widget writes, whatever its kind. */
export const OWN_OPTIONS: readonly (keyof Options)[] = [
  'decimals',
  'thresholds',
  'min',
  'max',
  'aggregation',
  'width',
  'rows',
  'track',
  'text',
];

/** The options of a widget; those that it has not are left out. */
export function optionsOf({ options }: Pick<Widget, 'options'>): Options {
  return (options ?? {}) as Options;
}

/** The widget's own aggregation for bars; null: none. */
export function aggregationOf(widget: Pick<Widget, 'options'>): Aggregation | null {
  const said = optionsOf(widget).aggregation;
  return BAR_AGGREGATIONS.find(({ aggregation }) => aggregation === said)?.aggregation ?? null;
}

/** The colour of a value: that of the last threshold that holds, else that of the field; undefined: none. */
export function widgetColor(
  value: MeasuredValue | undefined,
  field: DashboardField,
  { thresholds }: Options,
): WordColor | undefined {
  const holds = ({ above = Infinity, below = -Infinity }: Threshold): boolean =>
    typeof value === 'number' && (value >= above || value < below);
  return thresholds?.findLast(holds)?.color ?? shownColor(value, field) ?? undefined;
}

const LINES: Readonly<Record<Tone, ColorName>> = { green: 'series-5', amber: 'warn', red: 'bad' };

/** The colour of a threshold's line in a chart. */
export function lineColor(tone: Tone): ColorName {
  return LINES[tone];
}

/** A value of a field for people: with the widget's decimals, if it says how many, else with the field's. */
export function widgetText(
  value: MeasuredValue | undefined,
  { unit, type, display }: DashboardField,
  { decimals }: Options,
): string {
  const place = type === 'GEOLOCATION' ? readPlace(value) : null;
  if (place !== null) return placeText(place);
  const own = displayOf({ display });
  return shownText(value, { unit, display: decimals === undefined ? own : { ...own, decimals } });
}
