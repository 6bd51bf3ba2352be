import type { StoredValue } from '../ports/store.ts';
import { cornerOf, isWithin } from './area.ts';
import type { Changed, Condition, Operand, Threshold } from './definition.ts';

/** The values that a condition is judged by: newest of each field, and the configuration of the device; by key. */
export interface Known {
  values: Readonly<Record<string, StoredValue>>;
  configuration: Readonly<Record<string, StoredValue | null>>;
}

/**
 * Whether the condition is met from now on, by the newest values; `held`: whether it was, `before`: the value of its
 * field before, `window`: the aggregation of its window. A missing value changes nothing. `absent` is of the clock.
 */
export function isMet(
  condition: Condition,
  held: boolean,
  known: Known,
  before: StoredValue | undefined,
  window: StoredValue | null | undefined,
): boolean {
  switch (condition.kind) {
    case 'absent':
      return held;
    case 'place': {
      const value = known.values[condition.field];
      if (typeof value !== 'string') return held;
      return isWithin(condition.area, cornerOf(value)) === (condition.operator === 'INSIDE');
    }
    case 'changed': {
      const value = known.values[condition.field];
      return value === undefined ? held : hasTurned(condition, held, before, value);
    }
    case 'threshold': {
      const left = condition.window === null ? known.values[condition.field] : window;
      const right = operandOf(condition.operand, known);
      if (left == null || right == null) return held;
      return compare(condition, left, held && condition.clear !== null ? condition.clear : right);
    }
  }
}

function operandOf(operand: Operand, { values, configuration }: Known): StoredValue | null | undefined {
  if ('value' in operand) return operand.value;
  return 'field' in operand ? values[operand.field] : configuration[operand.configuration];
}

function compare({ operator }: Threshold, left: StoredValue, right: StoredValue): boolean {
  switch (operator) {
    case 'GT':
      return left > right;
    case 'GTE':
      return left >= right;
    case 'LT':
      return left < right;
    case 'LTE':
      return left <= right;
    case 'EQ':
      return left === right;
    case 'NEQ':
      return left !== right;
    case 'CONTAINS':
      return String(left).includes(String(right));
  }
}

function hasTurned({ from, to }: Changed, held: boolean, before: StoredValue | undefined, value: StoredValue): boolean {
  if (held) return to === null ? value !== from : value === to;
  if (before === undefined || before === value) return false;
  return (from === null || before === from) && (to === null || value === to);
}
