import { vi } from 'vitest';

/** Whoever goes on in one ms has so many turns of the event loop for it. */
const TURNS = 4;

/**
 * Lets so many ms of a fake clock pass, each with the same number of turns of the event loop: by
 * `vi.advanceTimersByTimeAsync` there are as many as the machine has time for.
 */
export async function pass(ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 1) {
    for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(1);
  }
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
