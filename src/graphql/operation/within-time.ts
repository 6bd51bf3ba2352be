import type { ExecutionResult } from 'graphql';
import { MAX_SECONDS, type WorkBudget } from '../context/work-budget.ts';
import { tooComplex } from './shape-limits.ts';

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
