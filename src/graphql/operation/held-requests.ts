import type { Caller } from '../../scheduling/caller.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { MemoryPool } from '../../scheduling/memory-pool.ts';
import { POOLS } from '../../scheduling/pools.ts';
import type { CheckedDocument } from './checked-documents.ts';

/** Variables up to this size are not counted: a connection takes as much anyway … */
const SMALL = 16_384;
/** … nor documents up to this size, of which thousands may be there. */
const SMALL_DOCUMENT = 131_072;

/** Bytes of a value beside its characters, and of a list or an object beside its values. */
export const VALUE = 32;
const CONTAINER = 64;

/** Bytes from which a value is not measured again: a message, what it asks, and its variables are each asked about. */
const LONG = 16_384;
const LEVELS = 3;
const measured = new WeakMap<object, number>();

interface Held {
  /** null: it was not parsed yet. */
  document: CheckedDocument | null;
  /** Bytes of the variables. */
  bytes: number;
}

/** Whether it is too little to count. */
export function isLittle({ document, bytes }: Held): boolean {
  return bytes <= SMALL && (document === null || document.bytes <= SMALL_DOCUMENT);
}

/** Bounds the memory of requests that wait or run: a token may have hundreds waiting. */
export class HeldRequests {
  readonly #shares: Pick<FairScheduler, 'spend'>;
  readonly #pool = new MemoryPool(POOLS.requests);

  /** `shares`: charges the caller for measuring what it sent. */
  constructor(shares: Pick<FairScheduler, 'spend'>) {
    this.#shares = shares;
  }

  /** Estimates the bytes in memory of a request. */
  memoryOf(asked: unknown, party: Caller): number {
    const started = performance.now();
    const bytes = memoryOf(asked);
    if (bytes > SMALL) this.#shares.spend(party, performance.now() - started);
    return bytes;
  }

  /** Runs `work`, for which the bytes, and the document, are held until its end. Throws AppError OVERLOADED. */
  async during<T>(party: Caller, { document, bytes }: Held, work: () => Promise<T>): Promise<T> {
    const release = this.hold(party, document, bytes);
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Counts the bytes and the document until the returned function is called. Throws AppError OVERLOADED. */
  hold(caller: Caller, document: CheckedDocument | null, bytes: number): () => void {
    if (isLittle({ document, bytes })) return () => {};
    const request = this.#pool.enter(caller, bytes, document);
    return () => this.#pool.close(request);
  }
}

/** Estimates the bytes of a value in memory; a value asked about before must not have changed. */
export function memoryOf(value: unknown): number {
  return memoryAt(value, 0);
}

function memoryAt(value: unknown, level: number): number {
  if (typeof value === 'string') return VALUE + 2 * value.length;
  if (typeof value !== 'object' || value === null) return VALUE;
  if (level > LEVELS) return memoryOfParts(value, level + 1);
  const before = measured.get(value);
  if (before !== undefined) return before;
  const bytes = memoryOfParts(value, level + 1);
  if (bytes >= LONG) measured.set(value, bytes);
  return bytes;
}

function memoryOfParts(value: object, level: number): number {
  let bytes = CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) bytes += memoryAt(value[at], level);
    return bytes;
  }
  for (const name in value)
    bytes += VALUE + 2 * name.length + memoryAt((value as Record<string, unknown>)[name], level);
  return bytes;
}
