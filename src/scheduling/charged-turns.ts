import type { PenaltyBucket } from './penalty-bucket.ts';
import type { EventLoopQueue } from './event-loop-queue.ts';

/** Runs pieces of long work, each in its turn. */
export interface ChargedTurns {
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Turns of the event loop for one long work of a source; each piece is charged to its tenant. `ms`: expected cost of
 * the first piece.
 */
export function chargedTurns(
  penalties: PenaltyBucket,
  queue: EventLoopQueue,
  { tenant, source, ms: expectedMs }: { tenant: string; source: string; ms: number },
): ChargedTurns {
  let isContinuation = false;
  return {
    run: <T>(work: () => Promise<T>): Promise<T> => {
      let ms = expectedMs;
      const piece = { tenant, source, ms, isContinuation };
      isContinuation = true;
      const measured = async (): Promise<T> => {
        const from = performance.now();
        try {
          return await work();
        } finally {
          ms = performance.now() - from;
        }
      };
      return penalties.run(
        piece,
        () => queue.run(measured),
        () => ms,
      );
    },
  };
}
