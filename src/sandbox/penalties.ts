import { LruMap } from '../domain/lru-map.ts';

/** A product as the pool knows it: all that is held for or against it. Times are those of `performance.now`. */
export interface PoolProduct {
  readonly id: string;
  readonly no: number;
  /** Jobs in the queue. */
  waiting: number;
  /** Moving average of how long a run keeps a process, in ms of wall time. */
  averageMs: number;
  runs: number;
  /** None of its jobs begins before then; Infinity while one of its runs is waited for aside. */
  heldUntil: number;
  /** In quarantine until then, longer with each offence. */
  quarantinedUntil: number;
  offences: number;
}

/** Decoders that take longer than this on average share the slow lane. */
const SLOW_MS = 20;
const QUARANTINE_MS = 10_000;
const MAX_QUARANTINE_MS = 300_000;
/**
 * A run that had to be ended has had a processor to itself for its whole time; if the server is busy, its product leaves
 * it to the others for twice as long. Beside endless loops they keep 0.95 of their throughput with it, 0.8 without.
 */
const REST_MS = 500;
const KEPT_PRODUCTS = 10_000;

/**
 * The conduct of products. A run that had to be ended costs a whole limit of processor time, so its product goes to the
 * slow lane, for longer each time, and those that behave never wait behind it.
 */
export class Penalties {
  #products = new LruMap<string, PoolProduct>({ most: KEPT_PRODUCTS });
  #numbers = 0;

  /** The product, known or new; the latest 10,000 are remembered. */
  of(id: string): PoolProduct {
    let product = this.#products.get(id);
    if (product === undefined) {
      this.#numbers = (this.#numbers + 1) >>> 0;
      product = {
        id,
        no: this.#numbers,
        waiting: 0,
        averageMs: 0,
        runs: 0,
        heldUntil: 0,
        quarantinedUntil: 0,
        offences: 0,
      };
      this.#products.set(id, product);
    }
    return product;
  }
}

/** Whether the product's jobs go to the slow lane: in quarantine, or slow on average. */
export function isSlow(product: PoolProduct, now: number): boolean {
  return now < product.quarantinedUntil || product.averageMs > SLOW_MS;
}

/** A run came to its end by itself. */
export function noteRun(product: PoolProduct, durationMs: number, now: number): void {
  product.runs += 1;
  // The first ones count in full: a thousand calls may be waiting for what they tell.
  product.averageMs += (durationMs - product.averageMs) * Math.max(0.1, 1 / product.runs);
  if (product.offences > 0 && now > product.quarantinedUntil + MAX_QUARANTINE_MS) product.offences = 0;
}

/** A run had to be ended. */
export function noteOffence(product: PoolProduct, now: number, isServerBusy: boolean): void {
  const quarantineMs = Math.min(MAX_QUARANTINE_MS, QUARANTINE_MS * 2 ** product.offences);
  // Runs that were under way together are one offence.
  if (now >= product.quarantinedUntil) product.offences = Math.min(product.offences + 1, 10);
  product.quarantinedUntil = now + quarantineMs;
  product.heldUntil = isServerBusy ? now + REST_MS : 0;
}
