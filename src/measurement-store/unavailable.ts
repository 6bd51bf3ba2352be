import { AppError } from '../errors.ts';

/** What every failure of a database becomes on its way out; the reason is for the log. */
export function unavailable(cause: unknown): never {
  throw new AppError('UNAVAILABLE', 'The database does not answer. Try again in a moment.', { cause });
}
