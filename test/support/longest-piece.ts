import { setTimeout as pause } from 'node:timers/promises';
import { eventLoopTime } from './processor-time.ts';
import type { TestServer } from './server.ts';

/** Asked without a pause they would take a processor from what they look at. */
const PAUSE_MS = 4;

/**
 * For how long, in ms of its own processor time, a server's event loop heard nobody else while the work was done: somebody
 * asks for nothing again and again. Of two pieces of work that follow each other at once one may be added to the other.
 * By `path` it may be nobody whom files and queries let go first (they get a third beside others): then they go on as fast as
 * they can.
 */
export async function longestPieceMs(
  server: TestServer,
  work: () => Promise<unknown>,
  path: '/healthz' | '/graphql/nothing' = '/healthz',
): Promise<number> {
  const pid = server.process.child.pid!;
  const over = new AbortController();
  let longest = 0;
  const probing = (async (): Promise<void> => {
    while (!over.signal.aborted) {
      const before = eventLoopTime(pid).ranMs;
      await (await fetch(`${server.url}${path}`)).arrayBuffer();
      longest = Math.max(longest, eventLoopTime(pid).ranMs - before);
      await pause(PAUSE_MS);
    }
  })();
  try {
    await work();
  } finally {
    over.abort();
    await probing;
  }
  return longest;
}
