import { lruCache } from '../scheduling/lru-cache.ts';
import type { DecoderFailureKind, DecoderStatistics } from '../domain/decoders/decoder-engine.ts';
import { must } from '../must.ts';

const KEPT_DURATIONS = 256;
const KEPT_PRODUCTS = 5_000;

interface ProductRecord {
  runs: number;
  failures: Partial<Record<DecoderFailureKind, number>>;
  /** Ring of the latest durations in ms. */
  durations: Float32Array;
}

/** Counts of runs and failures and recent durations of the most recently active products, in bounded memory. */
export class RunStatistics {
  readonly #records = lruCache<string, ProductRecord>(KEPT_PRODUCTS);

  record(productId: string, durationMs: number, failure: DecoderFailureKind | null): void {
    let record = this.#records.get(productId);
    if (record === undefined) {
      record = { runs: 0, failures: {}, durations: new Float32Array(KEPT_DURATIONS) };
      this.#records.set(productId, record);
    }
    record.durations[record.runs % KEPT_DURATIONS] = durationMs;
    record.runs += 1;
    if (failure !== null) record.failures[failure] = (record.failures[failure] ?? 0) + 1;
  }

  of(productId: string): DecoderStatistics {
    const record = this.#records.get(productId);
    if (record === undefined) return { runs: 0, failures: {}, p50Ms: null, p99Ms: null };
    const sorted = record.durations.slice(0, Math.min(record.runs, KEPT_DURATIONS)).sort();
    const at = (share: number): number => must(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]);
    return { runs: record.runs, failures: { ...record.failures }, p50Ms: at(0.5), p99Ms: at(0.99) };
  }
}
