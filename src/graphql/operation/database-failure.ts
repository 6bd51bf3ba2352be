import type { ExecutionResult } from 'graphql';
import { AppError, databaseAway } from '../../errors.ts';
import type { WorkBudget } from '../context/work-budget.ts';

/** The error that says that the database did not answer; null: it did. A client's going says nothing of it. */
export function databaseFailure({ errors = [] }: ExecutionResult, budget: WorkBudget): AppError | null {
  for (const { originalError } of errors) {
    if (budget.wasEndedBy(originalError)) continue;
    if (!(originalError instanceof AppError)) {
      const away = databaseAway(originalError);
      if (away !== null) return away;
    } else if (originalError.code === 'UNAVAILABLE') return originalError;
  }
  return null;
}
