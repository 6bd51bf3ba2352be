import { yieldToEventLoop } from './yield-to-event-loop.ts';
import { currentCaller } from './current-caller.ts';

/** Size from which parsing and deciding take a turn of their own, in bytes or characters. */
const LARGE = 131_072;

/**
 * Resolves when work on a received text may start: at once for few bytes, at the caller's turn of the event loop for
 * many.
 */
export async function yieldForLarge(bytes: number, caller = currentCaller()): Promise<void> {
  if (bytes > LARGE) await yieldToEventLoop(caller);
}
