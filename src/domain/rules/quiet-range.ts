import type { StoredValue } from '../ports/store.ts';
import type { Known } from './conditions.ts';
import type { Condition, Threshold } from './definition.ts';

/** Numbers strictly between the two change nothing. */
export interface QuietRange {
  above: number;
  below: number;
}

/** The range in which a condition stays as it is, whatever number of its field comes; null: there is none. */
export function quietRange(condition: Condition, held: boolean, { values, configuration }: Known): QuietRange | null {
  // Hearing of it only moves the time at which it will be silent.
  if (condition.kind === 'absent') return held ? null : { above: -Infinity, below: Infinity };
  if (condition.kind !== 'threshold' || condition.window !== null || 'field' in condition.operand) return null;
  const { operand, clear } = condition;
  const right = 'value' in operand ? operand.value : configuration[operand.configuration];
  const bound = held && clear !== null ? clear : right;
  return typeof bound === 'number' ? sideOf(condition, held, bound, values[condition.field]) : null;
}

function sideOf(
  { operator }: Threshold,
  held: boolean,
  bound: number,
  last: StoredValue | undefined,
): QuietRange | null {
  switch (operator) {
    case 'GT':
    case 'GTE':
      return held ? { above: bound, below: Infinity } : { above: -Infinity, below: bound };
    case 'LT':
    case 'LTE':
      return held ? { above: -Infinity, below: bound } : { above: bound, below: Infinity };
    case 'EQ':
    case 'NEQ':
      if (held !== (operator === 'NEQ') || typeof last !== 'number' || last === bound) return null;
      return last < bound ? { above: -Infinity, below: bound } : { above: bound, below: Infinity };
    case 'CONTAINS':
      return null;
  }
}
