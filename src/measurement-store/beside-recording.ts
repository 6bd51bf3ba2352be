import { setTimeout as pause } from 'node:timers/promises';
import type { Piece } from '../domain/ports/store.ts';

/** So many times as long as a piece took, in ms at most. */
const REST = 3;
const MAX_REST_MS = 250;

/**
 * Pieces of what is done in the background, each with a rest behind it while somebody records on this node: one after the
 * other they would take half of the database for as long as there is something to do. `flushes`: how many were begun so
 * far; `hurries`: whether it goes on without rests, so that it is not slower than what comes in.
 */
export function besideRecording(flushes: () => number, hurries = (): boolean => false): Piece {
  return async (work) => {
    const [before, from] = [flushes(), performance.now()];
    const result = await work();
    const tookMs = performance.now() - from;
    if (flushes() > before && !hurries()) await pause(Math.min(REST * tookMs, MAX_REST_MS));
    return result;
  };
}
