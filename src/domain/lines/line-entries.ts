import { EARLIEST_MS } from '../times/looks-like.ts';
import { usableIdentifier } from '../entities/name-path.ts';
import type { Line, LineValue } from './line-protocol.ts';

/** Digits of a time that are below a millisecond, or its milliseconds. */
const UNITS = {
  ns: { below: 6, ms: 1 },
  us: { below: 3, ms: 1 },
  ms: { below: 0, ms: 1 },
  s: { below: 0, ms: 1_000 },
  m: { below: 0, ms: 60_000 },
  h: { below: 0, ms: 3_600_000 },
} as const;

/** The unit of the times of a request. */
export type Precision = keyof typeof UNITS;

/** As both of InfluxDB's APIs spell them. */
const SPELLED: ReadonlyMap<string, Precision> = new Map([
  ['', 'ns'],
  ['n', 'ns'],
  ['u', 'us'],
  ['µ', 'us'],
  ...(Object.keys(UNITS) as Precision[]).map((unit) => [unit, unit] as const),
]);

/** The unit that the parameter `precision` names; null: there is no such. */
export function precisionOf(parameter: string): Precision | null {
  return SPELLED.get(parameter) ?? null;
}

/** Latest time that may be meant, in ms UTC: the year 2100. */
const LATEST_MS = Date.UTC(2100, 0);

/** A line's time in Unix seconds, cut to milliseconds; or its fault. */
export function secondsOf(digits: string, precision: Precision): number | { fault: string } {
  const { below, ms: factor } = UNITS[precision];
  const ms = Number(below === 0 ? digits : digits.slice(0, -below)) * factor;
  if (ms >= EARLIEST_MS && ms <= LATEST_MS) return ms / 1_000;
  const meant = (Object.keys(UNITS) as Precision[]).find((unit) => unit !== precision && isLikely(digits, unit));
  const hint = meant === undefined ? '' : `; for ${meant} send the parameter precision=${meant}`;
  return { fault: `the time ${digits.slice(0, 30)} in ${precision} is not between 2000 and 2100${hint}` };
}

function isLikely(digits: string, unit: Precision): boolean {
  const { below, ms: factor } = UNITS[unit];
  const ms = Number(below === 0 ? digits : digits.slice(0, -below)) * factor;
  return ms >= EARLIEST_MS && ms <= LATEST_MS;
}

/** An entry as the recorder takes it. */
export interface LineEntry {
  field: string;
  value: LineValue;
  timestamp: number | undefined;
}

/** Maximum characters of an identifier. */
const LONGEST_IDENTIFIER = 64;

/**
 * The entry of a field of a line. Its identifier is the longest of these that the product has:
 * `<measurement>_<tags>_<field>` (values of the tags that do not name the device), `<measurement>_<field>`, `<field>`;
 * for a field called `value` also the same without it.
 */
export function entryOf(
  line: Line,
  [key, value]: readonly [string, LineValue],
  {
    by,
    has,
    timestamp,
  }: { by: readonly string[]; has: (identifier: string) => boolean; timestamp: number | undefined },
): LineEntry {
  const { measurement } = line;
  const isValue = key === 'value';
  const withTags = nameWithTags(line, by);
  const names: string[][] = [];
  for (const before of withTags === null ? [[measurement]] : [withTags, [measurement]]) {
    names.push([...before, key]);
    if (isValue) names.push(before);
  }
  names.push([key]);
  const plain = isValue ? measurement : key;
  const found = names.map(identifierOf).find(has);
  return { field: found ?? usableIdentifier(plain) ?? plain.slice(0, LONGEST_IDENTIFIER), value, timestamp };
}

/** Measurement and values of the tags that do not name the device; null: none, or more than an identifier has. */
function nameWithTags({ measurement, tags }: Line, by: readonly string[]): string[] | null {
  const name = [measurement];
  let { length } = measurement;
  for (const [tag, text] of tags) {
    if (by.includes(tag)) continue;
    length += text.length + 1;
    if (length > LONGEST_IDENTIFIER) return null;
    name.push(text);
  }
  return name.length === 1 ? null : name;
}

function identifierOf(parts: readonly string[]): string {
  // A line may have 10,000 fields, and a measurement of 65,535 characters: not joined for each of them.
  if (parts.some(({ length }) => length > LONGEST_IDENTIFIER)) return '';
  const name = parts.join('_');
  return name.length > LONGEST_IDENTIFIER ? '' : name.replace(/[^A-Za-z0-9_-]/g, '_');
}
