import type { PoolProduct } from './pool-job.ts';

/** Decoders that take longer than this on average share the process of the slow ones. */
const SLOW_MS = 20;
const APART_MS = 10_000;
const MAX_APART_MS = 300_000;

/**
 * Which products run apart from the others. A run that had to be ended costs a whole limit of execution time, so its
 * product moves to a process of low priority, for longer each time, and those that behave never wait behind it.
 */
export function runsApart(product: PoolProduct, now: number): boolean {
  return now < product.apartUntil || product.averageMs > SLOW_MS;
}

export function noteEnded(product: PoolProduct, now: number): void {
  const apartMs = Math.min(MAX_APART_MS, APART_MS * 2 ** product.strikes);
  // Runs that were under way together are one offence.
  if (now >= product.apartUntil) product.strikes = Math.min(product.strikes + 1, 10);
  product.apartUntil = now + apartMs;
}

export function noteRun(product: PoolProduct, durationMs: number, now: number): void {
  product.averageMs += (durationMs - product.averageMs) * 0.1;
  if (product.strikes > 0 && now > product.apartUntil + MAX_APART_MS) product.strikes = 0;
}
