import { AppError, noDatabase } from '../errors.ts';

/** What every failure of a database becomes on its way out; the reason is for the log. What is meant for the client stays. */
export function unavailable(cause: unknown): never {
  throw cause instanceof AppError ? cause : noDatabase(cause);
}

/** What has not begun, or not come to its end, is refused. */
export function stopping(): AppError {
  return new AppError('UNAVAILABLE', 'The server is stopping. Try again later.');
}
