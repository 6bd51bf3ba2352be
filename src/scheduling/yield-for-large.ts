import { yieldToEventLoop } from './yield-to-event-loop.ts';
import { currentCaller } from './current-caller.ts';

/** In bytes or characters: what a megabyte says takes 50 ms to read, and as long to decide. */
const HEAVY = 131_072;

/**
 * Resolves when work on what somebody sent in one piece may begin: for few bytes at once, for what is heavy in a turn of
 * its own, as many may come in together.
 */
export async function yieldForLarge(bytes: number, party = currentCaller()): Promise<void> {
  if (bytes > HEAVY) await yieldToEventLoop(party);
}
