import type { Aggregation, FieldMeaning, FieldType } from '../api/schema-types.ts';
import { t } from '../texts/texts.ts';

/** Meanings of a field's numbers, in words. */
export const MEANINGS: readonly { meaning: FieldMeaning; text: string }[] = [
  { meaning: 'GAUGE', text: t('a reading, such as a temperature') },
  { meaning: 'COUNTER', text: t('a counter that only rises') },
  { meaning: 'TOTAL', text: t('a total that may rise and fall') },
  { meaning: 'ANGLE', text: t('a direction in degrees') },
  { meaning: 'STATE', text: t('a state that holds until the next value') },
];

/** The content of the buckets of a long chart. */
export const BUCKETS_SHOW: Readonly<Record<FieldMeaning, string>> = {
  GAUGE: 'means',
  COUNTER: t('last values'),
  TOTAL: t('last values'),
  ANGLE: t('mean directions'),
  STATE: t('means by time'),
};

/** The meanings that numbers of the type can have. */
export function meaningsOf(type: FieldType): readonly FieldMeaning[] {
  if (type === 'FLOAT' || type === 'INTEGER') return MEANINGS.map(({ meaning }) => meaning);
  return ['GAUGE', 'STATE'];
}

/** The aggregation of a long chart's line. */
export function shownAs(meaning: FieldMeaning): Aggregation {
  return meaning === 'COUNTER' || meaning === 'TOTAL' ? 'LAST' : 'AVG';
}

/** The default aggregation of bars. */
export function barsShow(meanings: readonly FieldMeaning[]): Aggregation {
  const areCounted = meanings.length > 0 && meanings.every((one) => one === 'COUNTER' || one === 'TOTAL');
  return areCounted ? 'DIFFERENCE' : 'AVG';
}

/** The properties of a new field. */
interface NewField {
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
}

const DIRECTIONS = new Set(['direction', 'dir', 'heading', 'course', 'bearing', 'azimuth', 'yaw', 'cog']);
/** Words for angles that are not circular. */
const INCLINATIONS = new Set([
  'lat',
  'latitude',
  'lon',
  'lng',
  'longitude',
  'tilt',
  'pitch',
  'roll',
  'slope',
  'elevation',
]);
const DEGREES = new Set(['°', 'deg', 'degs', 'degree', 'degrees']);
const AMOUNTS = new Set(['wh', 'kwh', 'mwh', 'm³', 'm3', 'pulse', 'pulses', 'imp']);
/** Words for a present amount instead of a count. */
const STOCKS = new Set(['battery', 'capacity', 'level', 'stock', 'tank', 'remaining', 'fill']);
const COUNTED = new Set(['total', 'counter', 'pulse', 'pulses', 'odometer', 'cumulative']);
/** Units of rates and present readings, whatever the name. */
const RATES = /^(k|m|g)?(w|va|var|a|v|hz|bar|pa|°c|°f|%)$|\//i;
const NETS = new Set(['net', 'netto', 'balance', 'saldo']);

/** The probable meaning of a field's numbers, by its type, unit and name. */
export function proposedMeaning({ identifier, name, unit, type }: NewField): FieldMeaning {
  if (type === 'BOOLEAN') return 'STATE';
  if (type !== 'FLOAT' && type !== 'INTEGER') return 'GAUGE';
  const words = wordsOf(`${identifier} ${name ?? ''}`);
  const has = (some: ReadonlySet<string>): boolean => words.some((word) => some.has(word));
  const of = (unit ?? '').trim().toLowerCase();
  if (has(INCLINATIONS)) return 'GAUGE';
  if (DEGREES.has(of) || (of === '' && has(DIRECTIONS))) return 'ANGLE';
  const isAmount = AMOUNTS.has(of);
  if (has(STOCKS) || RATES.test(of)) return 'GAUGE';
  if (!isAmount && !has(COUNTED)) return 'GAUGE';
  return has(NETS) ? 'TOTAL' : 'COUNTER';
}

/** The words of a name: the same for `windDir`, `wind_dir` and `wind-dir`. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .flatMap((word) => (word.startsWith('wind') && word.length > 4 ? ['wind', word.slice(4)] : [word]));
}
