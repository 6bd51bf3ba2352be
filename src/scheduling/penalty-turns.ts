import type { PenaltyBucket } from './penalty-bucket.ts';
import type { EventLoopQueue } from './event-loop-queue.ts';

/** Pieces of long work, each run when its turn has come. */
export interface HeldTurns {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Turns of the event loop for one long work of a source: each piece is held against its tenant with the ms that it took.
 * `ms`: what a piece takes, before that is known.
 */
export function heldTurns(
  held: PenaltyBucket,
  turns: EventLoopQueue,
  { tenant, source, ms: expectedMs }: { tenant: string; source: string; ms: number },
): HeldTurns {
  let goesOn = false;
  return {
    run: <T>(work: () => Promise<T>): Promise<T> => {
      let ms = expectedMs;
      const piece = { tenant, source, ms, goesOn };
      goesOn = true;
      const timed = async (): Promise<T> => {
        const from = performance.now();
        try {
          return await work();
        } finally {
          ms = performance.now() - from;
        }
      };
      return held.run(
        piece,
        () => turns.run(timed),
        () => ms,
      );
    },
  };
}
