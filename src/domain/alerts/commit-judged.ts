import { asAppError } from '../../errors.ts';
import type { Judged } from './judged.ts';

/** Writes what was judged, in one transaction; `setAside`: keys of devices of which nothing is written. */
type Write = (judged: readonly Judged[], setAside: readonly number[], isLast: boolean) => Promise<void>;

/**
 * Commits what was judged. When that fails, and the database is not away, each device alone: one that cannot be
 * committed stops no others. Nobody is set aside while nothing can be committed at all. Resolves with what was wrong
 * with those that were, by their keys.
 */
export async function commitJudged(
  judged: readonly Judged[],
  write: Write,
  isPassing: (error: unknown) => boolean,
): Promise<ReadonlyMap<number, unknown>> {
  const failed = new Map<number, unknown>();
  try {
    await write(judged, [], true);
    return failed;
  } catch (error) {
    if (isPassing(error) || isAway(error) || judged.length === 0) throw error;
  }
  for (const one of judged)
    try {
      await write([one], [], false);
    } catch (error) {
      if (isPassing(error) || isAway(error)) throw error;
      failed.set(one.deviceKey, error);
    }
  await write([], [...failed.keys()], true);
  return failed;
}

/** Whether the database is away, or has too much to do: it is nobody's fault. */
export function isAway(error: unknown): boolean {
  const code = asAppError(error)?.code;
  return code === 'UNAVAILABLE' || code === 'OVERLOADED';
}
