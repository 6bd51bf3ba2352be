import type { ExecutionResult } from 'graphql';
import { AppError, databaseAway } from '../../errors.ts';

/** What says that the database did not answer; null: it did. That the client is gone (`ended`) says nothing of it. */
export function databaseFailure({ errors = [] }: ExecutionResult, ended: AppError | null): AppError | null {
  for (const { originalError } of errors) {
    if (originalError === ended) continue;
    if (!(originalError instanceof AppError)) {
      const away = databaseAway(originalError);
      if (away !== null) return away;
    } else if (originalError.code === 'UNAVAILABLE') return originalError;
  }
  return null;
}
