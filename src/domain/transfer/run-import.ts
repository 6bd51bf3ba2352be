import { AppError, asAppError } from '../../errors.ts';
import type { FilePlaces } from '../../scheduling/file-places.ts';
import type { Access } from '../access/access.ts';

/**
 * Runs an import that holds a place as long as it lasts. OVERLOADED when none is free; an error of `work` gets the
 * counts so far into its details.
 */
export async function runImport(
  { access, places, counts }: { access: Access; places: FilePlaces; counts: () => Record<string, unknown> },
  work: () => Promise<void>,
): Promise<void> {
  places.require(access);
  const leave = places.take(access);
  try {
    await work();
  } catch (error) {
    // Pass on an unknown error, such as one of a look-up's database.
    const known = asAppError(error);
    if (known === null) throw error;
    throw new AppError(known.code, known.message, {
      details: { ...known.details, ...counts() },
      cause: known.cause,
    });
  } finally {
    leave();
  }
}
