import { AppError, type ErrorCode } from '../errors.ts';

/** A job for a thread; the answer has the same id. */
export interface Question<Job> {
  id: number;
  job: Job;
}

/** An error on its way between threads: Error objects lose their code. */
export interface Failure {
  message: string;
  code: string | undefined;
  stack: string | undefined;
  /** It is an AppError. */
  appError?: { code: ErrorCode; details: Record<string, unknown> };
}

/** A message of a thread: an answer, or a report of its own. */
export type Answer =
  | { ready: true }
  | { id: number; value: unknown }
  | { id: number; failure: Failure }
  /** A message that was not asked for. */
  | { notice: unknown }
  /** Something in the background failed, and will be tried again. */
  | { report: string; failure: Failure };

/** An error as text that crosses a thread. */
export function failure(error: unknown): Failure {
  if (!(error instanceof Error)) return { message: String(error), code: undefined, stack: undefined };
  const plain = { message: error.message, code: (error as { code?: string }).code, stack: error.stack };
  return error instanceof AppError ? { ...plain, appError: { code: error.code, details: error.details } } : plain;
}
