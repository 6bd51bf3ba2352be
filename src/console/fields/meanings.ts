import type { Aggregation, FieldMeaning, FieldType } from '../api/schema-types.ts';

/** What numbers of a field can be, in words. */
export const MEANINGS: readonly { meaning: FieldMeaning; text: string }[] = [
  { meaning: 'GAUGE', text: 'a reading, such as a temperature' },
  { meaning: 'COUNTER', text: 'a counter that only rises' },
  { meaning: 'TOTAL', text: 'a total that may rise and fall' },
  { meaning: 'ANGLE', text: 'a direction in degrees' },
  { meaning: 'STATE', text: 'a state that holds until the next value' },
];

/** What the buckets of a long chart show. */
export const BUCKETS_SHOW: Readonly<Record<FieldMeaning, string>> = {
  GAUGE: 'means',
  COUNTER: 'last values',
  TOTAL: 'last values',
  ANGLE: 'mean directions',
  STATE: 'means by time',
};

/** The meanings that numbers of the type can have. */
export function meaningsOf(type: FieldType): readonly FieldMeaning[] {
  if (type === 'FLOAT' || type === 'INTEGER') return MEANINGS.map(({ meaning }) => meaning);
  return ['GAUGE', 'STATE'];
}

/** How the line of a long chart is aggregated. */
export function shownAs(meaning: FieldMeaning): Aggregation {
  return meaning === 'COUNTER' || meaning === 'TOTAL' ? 'LAST' : 'AVG';
}

/** What bars of the fields stand for where nothing else is said. */
export function barsShow(meanings: readonly FieldMeaning[]): Aggregation {
  const areCounted = meanings.length > 0 && meanings.every((one) => one === 'COUNTER' || one === 'TOTAL');
  return areCounted ? 'DIFFERENCE' : 'AVG';
}

/** What is known of a field that is to be. */
interface NewField {
  identifier: string;
  name: string | null;
  unit: string | null;
  type: FieldType;
}

const DIRECTIONS = new Set(['direction', 'dir', 'heading', 'course', 'bearing', 'azimuth', 'yaw', 'cog']);
/** Angles that do not go round. */
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
/** An amount that is there, not one that is counted. */
const STOCKS = new Set(['battery', 'capacity', 'level', 'stock', 'tank', 'remaining', 'fill']);
const COUNTED = new Set(['total', 'counter', 'pulse', 'pulses', 'odometer', 'cumulative']);
/** Units of what is per time or as it is now, whatever its name says. */
const RATES = /^(k|m|g)?(w|va|var|a|v|hz|bar|pa|°c|°f|%)$|\//i;
const NETS = new Set(['net', 'netto', 'balance', 'saldo']);

/** What the numbers of a field probably are, by its type, unit and name. */
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

/** Of `windDir`, `wind_dir` and `wind-dir` the same. */
function wordsOf(text: string): string[] {
  return text
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .flatMap((word) => (word.startsWith('wind') && word.length > 4 ? ['wind', word.slice(4)] : [word]));
}
