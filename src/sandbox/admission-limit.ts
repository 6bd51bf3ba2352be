import { AppError } from '../errors.ts';
import { poolCountsOf } from '../scheduling/pool-counts.ts';
import { POOLS } from '../scheduling/pools.ts';
import type { Admitted, Amount, PoolProduct } from './pool-job.ts';

const counts = poolCountsOf(POOLS.decoderCalls.name);

/**
 * Limits open jobs. A workspace may have as much as is free, and a product as much as its workspace leaves of that:
 * alone a half and a third of all, so that a newcomer always finds room.
 */
export class AdmissionLimit {
  readonly #most: Amount;
  readonly #open: Amount = { jobs: 0, bytes: 0 };

  constructor(most: Amount) {
    this.#most = most;
  }

  /** Throws OVERLOADED when the job would pass a limit. */
  enter(product: PoolProduct, inputBytes: number): Admitted {
    refuseMore(product, this.#most, this.#open);
    const admitted = { product, inputBytes, bytes: 0 };
    this.#count(admitted, 1, 2 * inputBytes);
    return admitted;
  }

  /** Counts more bytes for the job. Throws OVERLOADED when that would pass a limit. */
  grow(admitted: Admitted, bytes: number): void {
    refuseMore(admitted.product, this.#most, this.#open);
    this.#count(admitted, 0, bytes);
  }

  leave(admitted: Admitted): void {
    this.#count(admitted, -1, -admitted.bytes);
  }

  #count(admitted: Admitted, jobs: number, bytes: number): void {
    admitted.bytes += bytes;
    counts.bytes += bytes;
    const { product } = admitted;
    for (const open of [this.#open, product.workspace.open, product.open]) {
      open.jobs += jobs;
      open.bytes += bytes;
    }
  }
}

function refuseMore({ workspace, open }: PoolProduct, most: Amount, all: Amount): void {
  for (const what of ['jobs', 'bytes'] as const) {
    const free = most[what] - all[what];
    if (free <= 0) throw refusal('Too many calls are waiting for a decoder');
    const left = free - workspace.open[what];
    if (left <= 0) throw refusal("Too many calls are waiting for this workspace's decoders");
    if (open[what] >= left) throw refusal("Too many calls are waiting for this product's decoder");
  }
}

function refusal(what: string): AppError {
  counts.refused += 1;
  return overloaded(what);
}

/** Error of a full pool, with the advice to try again. */
export const overloaded = (what: string): AppError => new AppError('OVERLOADED', `${what}; try again later.`);
