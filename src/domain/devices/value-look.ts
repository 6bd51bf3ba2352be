import { badInput } from '../../errors.ts';
import type { Access } from '../access/access.ts';
import type { FieldRole } from '../entities/field.ts';
import type { StoredValue } from '../ports/store.ts';

/** Maximum devices whose newest values one list, count or change of many looks through. */
export const MAX_LOOKED_THROUGH = 10_000;
/** Maximum conditions on values. */
const MAX_CONDITIONS = 10;

/** A field, by its identifier or its role: that of each product. */
export interface FieldChoice {
  field?: string | null | undefined;
  role?: FieldRole | null | undefined;
}

/** A comparison of the newest value of a field with a fixed one; a device without a value does not meet it. */
export interface ValueCondition extends FieldChoice {
  operator: 'GT' | 'GTE' | 'LT' | 'LTE' | 'EQ' | 'NEQ' | 'CONTAINS' | 'INSIDE' | 'OUTSIDE';
  value: number | string | boolean;
}

/** The look at newest values: conditions that must all hold, and the field to sort by. */
export interface ByValue {
  conditions: readonly ValueCondition[];
  /** True: only devices whose battery is low; false: only others. */
  lowBattery: boolean | null;
  order: FieldChoice | null;
}

/** A device that may match. */
export interface Candidate {
  key: number;
  workspace_id: string;
  product_id: string;
  sorted_by?: string | number;
}

/** Looks at the newest values of devices, which no column of the database holds. */
export interface ValueLook {
  /**
   * The candidates that meet the conditions, with the text of the value sorted by (`sortedText`) where there is an
   * order. BAD_USER_INPUT for conditions that none of their products can meet, and for a field that `isField` says is
   * none. `spend`: gets the ms of search, and may end it by an error.
   */
  find(
    access: Access,
    candidates: readonly Candidate[],
    by: ByValue,
    watch: { isField: (identifier: string) => Promise<boolean>; spend: (ms: number) => void },
  ): Promise<Candidate[]>;
}

/** The look that a filter and an order ask for; null: none. BAD_USER_INPUT for one that says nothing clear. */
export function byValueOf(
  conditions: readonly ValueCondition[] | null | undefined,
  lowBattery: boolean | null | undefined,
  order: FieldChoice | null | undefined,
): ByValue | null {
  const given = conditions ?? [];
  if (given.length > MAX_CONDITIONS) throw badInput(`values: at most ${MAX_CONDITIONS}, not ${given.length}.`);
  given.forEach((condition, at) => {
    if ((condition.field == null) === (condition.role == null))
      throw badInput(`values[${at}]: give either "field" or "role".`);
    if (condition.operator === 'INSIDE' || condition.operator === 'OUTSIDE')
      throw badInput(`values[${at}].operator: ${condition.operator} is for conditions of rules.`);
  });
  const isEmpty = given.length === 0 && lowBattery == null && order == null;
  return isEmpty ? null : { conditions: given, lowBattery: lowBattery ?? null, order: order ?? null };
}

/** Compares values of `sortedText`: numbers before texts, and behind all devices those without one. */
export function compareSorted(one: string, other: string, descending: boolean): number {
  if (one === other) return 0;
  if (one === '' || other === '') return one === '' ? 1 : -1;
  const [a, b] = [JSON.parse(one) as StoredValue, JSON.parse(other) as StoredValue];
  const isLess = typeof a === typeof b ? a < b : typeof a === 'number';
  return isLess === descending ? 1 : -1;
}

/** Maximum characters of a text that devices are sorted by. */
const MAX_SORTED = 100;

/** The text of a value that devices are sorted by; empty: none. */
export function sortedText(value: StoredValue | undefined): string {
  if (value === undefined) return '';
  return JSON.stringify(typeof value === 'string' ? value.slice(0, MAX_SORTED).toWellFormed() : value);
}
