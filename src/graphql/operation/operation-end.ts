import { GraphQLError, type ExecutionResult } from 'graphql';
import type { Executed } from './query-coalescing.ts';
import { AppError, databaseAway } from '../../errors.ts';
import { type WorkBudget, MAX_SECONDS } from '../context/work-budget.ts';
import { tooComplex } from './shape-limits.ts';

/** The result of an operation that could not be executed to its end. */
export function failed(error: unknown): Executed {
  const originalError = error instanceof Error ? error : new Error(String(error));
  return {
    result: { errors: [new GraphQLError(originalError.message, { originalError })], data: null },
    bytes: 0,
    written: null,
  };
}

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

/** The result, or QUERY_TOO_COMPLEX when it takes too long: then nothing more is loaded for it. */
export function withinTime(running: Promise<ExecutionResult>, budget: WorkBudget): Promise<ExecutionResult> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      const error = tooComplex('seconds', MAX_SECONDS, null);
      budget.end(error);
      reject(error);
    }, MAX_SECONDS * 1000);
    running.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
