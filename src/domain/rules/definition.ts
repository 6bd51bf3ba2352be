import type { Aggregation } from '../ports/series-request.ts';
import type { StoredValue } from '../ports/store.ts';

/** Severities of a level, mildest first. */
export const SEVERITIES = ['INFO', 'WARNING', 'CRITICAL'] as const;
/** One of `SEVERITIES`. */
export type Severity = (typeof SEVERITIES)[number];

/** Operators of conditions: the last two are of places, the others of thresholds. */
export const CONDITION_OPERATORS = ['GT', 'GTE', 'LT', 'LTE', 'EQ', 'NEQ', 'CONTAINS', 'INSIDE', 'OUTSIDE'] as const;
/** One of `CONDITION_OPERATORS`. */
export type ConditionOperator = (typeof CONDITION_OPERATORS)[number];

/** Maximum rules per product. */
export const MAX_RULES = 50;
/** Maximum conditions per level. */
export const MAX_CONDITIONS = 10;
/** Maximum corners per polygon. */
export const MAX_CORNERS = 100;
/** Maximum seconds of any duration of a rule: 31 days. */
export const MAX_SECONDS = 31 * 86_400;

/** The right side of a threshold: a value, or the key of another field or of a configuration field. */
export type Operand = { value: StoredValue } | { field: number } | { configuration: number };

/** The newest value of a field, or its aggregation over the seconds before it, compared with an operand. */
export interface Threshold {
  kind: 'threshold';
  field: number;
  operator: Exclude<ConditionOperator, 'INSIDE' | 'OUTSIDE'>;
  operand: Operand;
  /** The operand by which it goes on being met once it is (hysteresis); null: the same. */
  clear: StoredValue | null;
  window: { aggregation: Aggregation; seconds: number } | null;
}

/** No value of the field (null: nothing of the device) for so many seconds by the clock. */
interface Absent {
  kind: 'absent';
  field: number | null;
  seconds: number;
}

/** A corner or center as latitude and longitude in degrees. */
export type Corner = readonly [lat: number, lon: number];

/** A circle in metres, or a polygon without a final repeated corner. */
export type Area = { center: Corner; meters: number } | { corners: Corner[] };

/** A place inside or outside an area. */
interface Place {
  kind: 'place';
  field: number;
  operator: 'INSIDE' | 'OUTSIDE';
  area: Area;
}

/** A field that turned from one value to another; null: from, or to, any other. Met until it turns again. */
export interface Changed {
  kind: 'changed';
  field: number;
  from: StoredValue | null;
  to: StoredValue | null;
}

/** A condition of a level; fields and configuration fields by their keys, so that a renamed one stays the same. */
export type Condition = Threshold | Absent | Place | Changed;

/** One severity, and when it is met. */
export interface Level {
  severity: Severity;
  /** True: every condition; false: at least one. */
  all: boolean;
  conditions: Condition[];
}

/** When something may be told: weekdays (0: Monday) and minutes of the day, in a zone; null: any. */
export interface Schedule {
  days: number[] | null;
  /** From (inclusive) to (exclusive) in minutes of the day; over midnight where `to` is not after `from`. */
  hours: { from: number; to: number } | null;
  timeZone: string;
}

/** What a rule watches for: its normal form, as it is stored. */
export interface RuleDefinition {
  /** Mildest first. */
  levels: Level[];
  forSeconds: number;
  clearForSeconds: number;
  latched: boolean;
  schedule: Schedule | null;
}

/** Every condition of a rule, mildest level first. */
export function conditionsOf({ levels }: Pick<RuleDefinition, 'levels'>): Condition[] {
  return levels.flatMap(({ conditions }) => conditions);
}

/** The keys of all fields whose values a rule judges. */
export function fieldsOf(definition: Pick<RuleDefinition, 'levels'>): Set<number> {
  const keys = new Set<number>();
  for (const condition of conditionsOf(definition)) {
    if (condition.field !== null) keys.add(condition.field);
    if (condition.kind === 'threshold' && 'field' in condition.operand) keys.add(condition.operand.field);
  }
  return keys;
}

/** The keys of all configuration fields that a rule compares with. */
export function configurationOf(definition: Pick<RuleDefinition, 'levels'>): Set<number> {
  const keys = new Set<number>();
  for (const condition of conditionsOf(definition))
    if (condition.kind === 'threshold' && 'configuration' in condition.operand)
      keys.add(condition.operand.configuration);
  return keys;
}
