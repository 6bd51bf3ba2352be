import type { FieldMeaning } from '../entities/field.ts';
import type { Aggregation } from '../ports/series-request.ts';

/**
 * What must be known of the numbers of a bucket: `numbers` as they are, which summaries know too; `steps` from each to the
 * next; `held`: how long each holds; `directions`.
 */
export type Measure = 'numbers' | 'steps' | 'held' | 'directions';

/** What an aggregation of a field of that meaning needs (CONTRACT 7, Meaning). */
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
