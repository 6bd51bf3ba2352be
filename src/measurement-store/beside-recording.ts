import { setTimeout as pause } from 'node:timers/promises';
import type { Piece } from '../domain/ports/store.ts';

/** Factor of a rest over the piece before it, and maximum rest in ms. */
const REST = 3;
const MAX_REST_MS = 250;

/**
 * Runs pieces of background work, each with a rest behind it while this node is recording: one after the other they
 * would take half of the database for as long as there is something to do. `flushes`: number begun until now;
 * `hurries`: whether it goes on without rests, so as not to fall behind what comes in.
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
