import { noDatabase } from '../errors.ts';

/** What every failure of a database becomes on its way out; the reason is for the log. */
export function unavailable(cause: unknown): never {
  throw noDatabase(cause);
}
