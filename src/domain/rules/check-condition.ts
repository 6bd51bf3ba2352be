import { badInput } from '../../errors.ts';
import type { ConfigurationType } from '../entities/configuration-field.ts';
import type { FieldMeaning, FieldType } from '../entities/field.ts';
import { acceptedValue, EXPECTED_VALUE } from '../measurements/field-value.ts';
import { parseGeolocation } from '../measurements/geolocation.ts';
import type { Aggregation } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';
import { describe } from '../text/describe-value.ts';
import { cornerOf } from './area.ts';
import {
  type Area,
  type Condition,
  type ConditionOperator,
  MAX_CORNERS,
  MAX_SECONDS,
  type Operand,
  type Threshold,
} from './definition.ts';

/** A condition as a client sends it, unchecked. */
export interface GivenCondition {
  field?: string | null | undefined;
  operator?: ConditionOperator | null | undefined;
  value?: unknown;
  otherField?: string | null | undefined;
  configurationField?: string | null | undefined;
  clear?: unknown;
  window?: { aggregation: Aggregation; seconds: number } | null | undefined;
  absentSeconds?: number | null | undefined;
  circle?: { center: string; meters: number } | null | undefined;
  polygon?: readonly string[] | null | undefined;
  from?: unknown;
  to?: unknown;
}

interface KnownField {
  key: number;
  identifier: string;
  type: FieldType;
  meaning?: FieldMeaning | undefined;
}

/** The fields and configuration fields that a product's rules can refer to. */
export interface Ground {
  fields: readonly KnownField[];
  configuration: readonly { key: number; identifier: string; type: ConfigurationType }[];
}

const KINDS = {
  absent: ['absentSeconds', 'field'],
  place: ['field', 'operator', 'circle', 'polygon'],
  changed: ['field', 'from', 'to'],
  threshold: ['field', 'operator', 'value', 'otherField', 'configurationField', 'clear', 'window'],
} as const satisfies Record<Condition['kind'], readonly (keyof GivenCondition)[]>;

/** Words for each kind, in messages. */
const NAMES: Record<Condition['kind'], string> = {
  absent: 'absentSeconds',
  place: 'INSIDE and OUTSIDE',
  changed: 'from and to',
  threshold: 'a threshold',
};

const CONFIGURED: Record<ConfigurationType, FieldType> = { NUMBER: 'FLOAT', STRING: 'STRING', BOOLEAN: 'BOOLEAN' };
/** The operators for values of a type. */
const OPERATORS: Record<FieldType, readonly ConditionOperator[]> = {
  FLOAT: ['GT', 'GTE', 'LT', 'LTE', 'EQ', 'NEQ'],
  INTEGER: ['GT', 'GTE', 'LT', 'LTE', 'EQ', 'NEQ'],
  BOOLEAN: ['EQ', 'NEQ'],
  STRING: ['EQ', 'NEQ', 'CONTAINS'],
  GEOLOCATION: ['INSIDE', 'OUTSIDE'],
};
const WORDS: Record<FieldType, string> = {
  FLOAT: 'a number',
  INTEGER: 'a number',
  BOOLEAN: 'a boolean',
  STRING: 'a text',
  GEOLOCATION: 'a place',
};

/** The condition in its normal form; BAD_USER_INPUT naming the path of the first mistake. */
export function checkCondition(given: GivenCondition, ground: Ground, path: string): Condition {
  const kind = kindOf(given);
  if (kind === null)
    throw badInput(
      `${path}: say what is watched: "operator" with a value, "absentSeconds", "circle" or "polygon", or "from" and "to".`,
    );
  const foreign = (Object.keys(given) as (keyof GivenCondition)[]).find(
    (name) => given[name] != null && !(KINDS[kind] as readonly string[]).includes(name),
  );
  if (foreign !== undefined) throw badInput(`${path}.${foreign}: does not go with ${NAMES[kind]}; leave it out.`);
  if (kind === 'absent') {
    const seconds = checkSeconds(given.absentSeconds!, `${path}.absentSeconds`, 1);
    return { kind, field: given.field == null ? null : fieldOf(ground, given.field, `${path}.field`).key, seconds };
  }
  if (given.field == null) throw badInput(`${path}.field: name the field that is watched.`);
  const field = fieldOf(ground, given.field, `${path}.field`);
  if (kind === 'place') return checkPlace(given, field, path);
  return kind === 'changed' ? checkChanged(given, field, path) : checkThreshold(given, field, ground, path);
}

/** A duration in seconds; BAD_USER_INPUT naming the path and the bounds. */
export function checkSeconds(seconds: number, path: string, least: number): number {
  if (!Number.isFinite(seconds) || seconds < least || seconds > MAX_SECONDS)
    throw badInput(`${path}: expected ${least} to ${MAX_SECONDS} seconds (31 days), not ${seconds}.`);
  return seconds;
}

function kindOf(given: GivenCondition): Condition['kind'] | null {
  const { operator } = given;
  if (given.absentSeconds != null) return 'absent';
  if (given.circle != null || given.polygon != null || operator === 'INSIDE' || operator === 'OUTSIDE') return 'place';
  if (given.from != null || given.to != null) return 'changed';
  const isThreshold = [operator, given.value, given.otherField, given.configurationField].some((part) => part != null);
  return isThreshold ? 'threshold' : null;
}

function fieldOf({ fields }: Ground, identifier: string, path: string): KnownField {
  const field = fields.find((one) => one.identifier === identifier);
  if (field === undefined)
    throw badInput(`${path}: the product has no field "${identifier.slice(0, 64)}" (identifiers are case-sensitive).`);
  return field;
}

function checkPlace(given: GivenCondition, { key, identifier, type }: KnownField, path: string): Condition {
  const { operator, circle, polygon } = given;
  if (type !== 'GEOLOCATION')
    throw badInput(`${path}.field: "${identifier}" is ${WORDS[type]}; INSIDE and OUTSIDE are for a GEOLOCATION field.`);
  if (operator !== 'INSIDE' && operator !== 'OUTSIDE')
    throw badInput(`${path}.operator: a circle or polygon needs INSIDE or OUTSIDE.`);
  if ((circle == null) === (polygon == null)) throw badInput(`${path}: give either "circle" or "polygon".`);
  const area = circle == null ? checkPolygon(polygon!, `${path}.polygon`) : checkCircle(circle, `${path}.circle`);
  return { kind: 'place', field: key, operator, area };
}

function checkCircle({ center, meters }: { center: string; meters: number }, path: string): Area {
  if (!Number.isFinite(meters) || meters <= 0 || meters > 20_000_000)
    throw badInput(`${path}.meters: expected more than 0 and at most 20000000 metres, not ${meters}.`);
  return { center: checkCorner(center, `${path}.center`), meters };
}

function checkPolygon(polygon: readonly string[], path: string): Area {
  const corners = polygon.slice(0, MAX_CORNERS + 2).map((text, index) => checkCorner(text, `${path}[${index}]`));
  const [first, last] = [corners[0], corners.at(-1)];
  // The first corner repeated, as GeoJSON closes its rings.
  if (corners.length > 1 && first![0] === last![0] && first![1] === last![1]) corners.pop();
  if (corners.length < 3 || corners.length > MAX_CORNERS)
    throw badInput(`${path}: expected 3 to ${MAX_CORNERS} corners, not ${polygon.length}.`);
  return { corners };
}

function checkCorner(text: string, path: string) {
  const place = parseGeolocation(text);
  if (place === null) throw badInput(`${path}: expected ${EXPECTED_VALUE.GEOLOCATION}, not ${describe(text)}.`);
  return cornerOf(place);
}

function checkChanged({ from, to }: GivenCondition, { key, identifier, type }: KnownField, path: string): Condition {
  if (type !== 'BOOLEAN' && type !== 'STRING')
    throw badInput(
      `${path}.field: "${identifier}" is ${WORDS[type]}; "from" and "to" are for BOOLEAN and STRING fields.`,
    );
  const ends = {
    from: from == null ? null : checkValue(type, from, `${path}.from`),
    to: to == null ? null : checkValue(type, to, `${path}.to`),
  };
  if (ends.from === ends.to) throw badInput(`${path}.to: must differ from "from".`);
  return { kind: 'changed', field: key, ...ends };
}

function checkThreshold(given: GivenCondition, field: KnownField, ground: Ground, path: string): Condition {
  const { operator, clear } = given;
  const window = given.window ?? null;
  const read = window === null ? field.type : typeInWindow(window.aggregation, field, `${path}.window.aggregation`);
  // Whole numbers may be compared with any.
  const type = read === 'INTEGER' ? 'FLOAT' : read;
  if (window !== null) checkSeconds(window.seconds, `${path}.window.seconds`, 1);
  if (operator == null) throw badInput(`${path}.operator: say how "${field.identifier}" is compared, such as GT.`);
  if (!OPERATORS[type].includes(operator))
    throw badInput(
      `${path}.operator: ${operator} is not for ${WORDS[type]} such as "${field.identifier}": use ${OPERATORS[type].join(', ')}.`,
    );
  const operand = checkOperand(given, type, ground, path);
  const condition: Threshold = {
    kind: 'threshold',
    field: field.key,
    operator: operator as Threshold['operator'],
    operand,
    clear: clear == null ? null : checkValue(type, clear, `${path}.clear`),
    window: window && { aggregation: window.aggregation, seconds: window.seconds },
  };
  if (condition.clear !== null) checkClear(condition, path);
  return condition;
}

/** Hysteresis is for numbers, and on the other side of the operand. */
function checkClear({ operator, operand, clear }: Threshold, path: string): void {
  const isUp = operator === 'GT' || operator === 'GTE';
  if (!isUp && operator !== 'LT' && operator !== 'LTE')
    throw badInput(`${path}.clear: goes with GT, GTE, LT and LTE, not with ${operator}; leave it out.`);
  if (!('value' in operand) || (isUp ? clear! <= operand.value : clear! >= operand.value)) return;
  throw badInput(
    `${path}.clear: with ${operator} ${operand.value} it must be ${operand.value} or ${isUp ? 'less' : 'more'}, not ${clear}.`,
  );
}

function checkOperand(given: GivenCondition, type: FieldType, ground: Ground, path: string): Operand {
  const { value, otherField, configurationField } = given;
  if ([value, otherField, configurationField].filter((one) => one != null).length !== 1)
    throw badInput(`${path}: give exactly one of "value", "otherField" and "configurationField" to compare with.`);
  if (value != null) return { value: checkValue(type, value, `${path}.value`) };
  if (otherField != null) {
    const other = fieldOf(ground, otherField, `${path}.otherField`);
    if (WORDS[other.type] !== WORDS[type])
      throw badInput(`${path}.otherField: "${otherField}" is ${WORDS[other.type]}, compared with ${WORDS[type]}.`);
    return { field: other.key };
  }
  const configured = ground.configuration.find(({ identifier }) => identifier === configurationField);
  if (configured === undefined)
    throw badInput(
      `${path}.configurationField: the product has no configuration field "${configurationField!.slice(0, 64)}".`,
    );
  if (WORDS[CONFIGURED[configured.type]] !== WORDS[type])
    throw badInput(
      `${path}.configurationField: "${configured.identifier}" is ${WORDS[CONFIGURED[configured.type]]}, compared with ${WORDS[type]}.`,
    );
  return { configuration: configured.key };
}

function checkValue(type: FieldType, raw: unknown, path: string): StoredValue {
  const value = acceptedValue(type, raw);
  if (value === null) throw badInput(`${path}: expected ${EXPECTED_VALUE[type]}, not ${describe(raw)}.`);
  return value;
}

/** The type of the aggregations; those of numbers are numbers, also shares of booleans. */
function typeInWindow(aggregation: Aggregation, { identifier, type, meaning }: KnownField, path: string): FieldType {
  if (aggregation === 'COUNT') return 'FLOAT';
  if (aggregation === 'FIRST' || aggregation === 'LAST') return type;
  if (type === 'STRING' || type === 'GEOLOCATION')
    throw badInput(
      `${path}: ${aggregation} is not for ${WORDS[type]} such as "${identifier}": use FIRST, LAST or COUNT.`,
    );
  if (meaning === 'ANGLE' && (aggregation === 'MIN' || aggregation === 'MAX'))
    throw badInput(
      `${path}: ${aggregation} is not for directions such as "${identifier}": use AVG, FIRST, LAST or COUNT.`,
    );
  return 'FLOAT';
}
