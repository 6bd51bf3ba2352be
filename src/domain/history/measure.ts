import type { FieldMeaning } from '../entities/field.ts';
import type { Aggregation } from '../ports/series-request.ts';

/**
 * Facts about the numbers of a bucket: `numbers` themselves, which summaries have too; `steps` from each to the next;
 * `held`: the time for which each holds; `directions`.
 */
export type Measure = 'numbers' | 'steps' | 'held' | 'directions';

/** The measure that an aggregation needs for a field of that meaning (CONTRACT 7, Meaning). */
export function measureOf(aggregation: Aggregation, meaning: FieldMeaning): Measure {
  switch (aggregation) {
    case 'TIME_AVG':
      return 'held';
    case 'AVG':
      return meaning === 'STATE' ? 'held' : meaning === 'ANGLE' ? 'directions' : 'numbers';
    case 'SUM':
      return meaning === 'STATE' ? 'held' : 'numbers';
    case 'DIFFERENCE':
      return 'steps';
    default:
      return 'numbers';
  }
}
