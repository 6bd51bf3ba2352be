import { AppError } from '../../errors.ts';
import { answerBytes } from './answer-size.ts';
import type { OperationMemory } from './loaded-memory.ts';
import { type Promised } from './promised.ts';

/** The largest answer, in bytes of JSON. */
export const MAX_ANSWER_BYTES = 16 * 1_048_576;
/** What one operation may load of rows that can be long, whether they come into the answer or not. */
const MAX_LOADED_BYTES = 64 * 1_048_576;
/** What a character of it takes in memory, at most. */
const CHARACTER_BYTES = 2;
/** How long a query may take once it runs. */
export const MAX_SECONDS = 30;

/** What one operation may still use. Whoever loads much asks first, so that work stops once nobody gets its result. */
export class WorkBudget {
  /** What its operation has in memory, while it runs. */
  memory: OperationMemory | null = null;
  #bytesLeft = MAX_LOADED_BYTES;
  #workedMs = 0;
  #ended: AppError | null = null;
  #loading: Promise<unknown> = Promise.resolve();
  readonly #asked: readonly WorkBudget[];

  /** `asked`: those of the operations that it is executed for; with the last of them this one ends too. */
  constructor(asked: readonly WorkBudget[] = []) {
    this.#asked = asked;
    this.memory = asked[0]?.memory ?? null;
  }

  /** Throws QUERY_TOO_COMPLEX when that is more than an operation may load, or what ended the operation. */
  take(bytes: number): void {
    this.check();
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw answerTooLarge();
  }

  /** How many bytes were loaded so far. */
  get loadedBytes(): number {
    return MAX_LOADED_BYTES - this.#bytesLeft;
  }

  /** Milliseconds of work that depends on how long a list is, not on what was asked. */
  work(milliseconds: number): void {
    this.#workedMs += milliseconds;
  }

  /** What `work` was told of so far. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** As soon as there is room in memory for so many bytes of what it has loaded and makes of it; throws what ended it. */
  room(bytes: number): Promised<void> {
    this.check();
    return this.memory?.room(bytes);
  }

  /** `take` of what was loaded in another way, and stays in memory. */
  took(bytes: number): void {
    this.holds(this.#inMemory(bytes));
  }

  /** It has so many bytes more in memory, or less. */
  holds(bytes: number): void {
    this.memory?.add(bytes);
  }

  /**
   * Loads rows that can be long: one read after the other, so that no more than one is there that has not been counted,
   * however many parts of the operation ask at once. `bytesOf`: about what they take in an answer; `most`: what they may
   * be where that is much. Throws as `take` does.
   */
  load<T>(
    read: () => Promise<T>,
    bytesOf: (rows: T) => number = (rows) => answerBytes(rows, MAX_LOADED_BYTES),
    most = 0,
  ): Promise<T> {
    // Of what was too much already nothing more is read.
    return this.inOrder(read, (rows) => this.#inMemory(bytesOf(rows)), CHARACTER_BYTES * most);
  }

  /** What `make` gives, one after the other as `load` does; `bytesOf`: what it takes in memory. */
  inOrder<T>(make: () => Promise<T>, bytesOf: (made: T) => number, most = 0): Promise<T> {
    const loading = this.#loading.then(async () => {
      this.take(0);
      const coming = this.room(most);
      if (coming instanceof Promise) await coming;
      let bytes = 0;
      try {
        const made = await make();
        bytes = bytesOf(made);
        return made;
      } finally {
        this.holds(bytes - most);
      }
    });
    this.#loading = loading.catch(() => {});
    return loading;
  }

  #inMemory(bytes: number): number {
    this.take(bytes);
    return bytes * CHARACTER_BYTES;
  }

  /** From now on nothing is loaded any more: the client is gone, or its time is over. */
  end(error: AppError): void {
    this.#ended ??= error;
  }

  /** Whether nobody waits for the result any more. */
  get isEnded(): boolean {
    return this.ended !== null;
  }

  /** Whether that ended it, or one of those that it is executed for. */
  wasEndedBy(error: unknown): boolean {
    return error !== null && (this.#ended === error || this.#asked.some((asked) => asked.wasEndedBy(error)));
  }

  /** Throws what ended the operation. */
  check(): void {
    const { ended } = this;
    if (ended !== null) throw ended;
  }

  /** What ended the operation; null: nothing has. */
  get ended(): AppError | null {
    if (this.#ended !== null) return this.#ended;
    let last: AppError | null = null;
    for (const asked of this.#asked) {
      last = asked.ended;
      if (last === null) return null;
    }
    return last;
  }
}

/** QUERY_TOO_COMPLEX: the answer is over its bytes. */
export function answerTooLarge(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `The answer is over the limit of ${MAX_ANSWER_BYTES} bytes. Ask for smaller pages ("first"), shorter times, a ` +
      '"resolution" or "maxPoints" for history, or leave long fields (body, source, dashboard, metadata) out of lists.',
    { details: { limit: 'bytes', allowed: MAX_ANSWER_BYTES } },
  );
}
