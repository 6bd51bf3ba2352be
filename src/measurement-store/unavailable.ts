import { AppError, noDatabase } from '../errors.ts';

/** Turns any failure of a database into UNAVAILABLE; the reason is for the log. Errors meant for the client stay. */
export function unavailable(cause: unknown): never {
  throw cause instanceof AppError ? cause : noDatabase(cause);
}

/** Refuses a job that has not begun, or not come to its end. */
export function stopping(): AppError {
  return new AppError('UNAVAILABLE', 'The server is stopping. Try again later.');
}
