import { AppError } from '../../errors.ts';
import { answerBytes } from './answer-size.ts';
import type { OperationMemory } from './loaded-memory.ts';
import { type Promised } from './promised.ts';

/** Maximum bytes of JSON per answer. */
export const MAX_ANSWER_BYTES = 16 * 1_048_576;
/** Maximum bytes per operation of loaded rows that can be long, whether they come into the answer or not. */
const MAX_LOADED_BYTES = 64 * 1_048_576;
/** Maximum bytes of memory per character. */
const CHARACTER_BYTES = 2;
/** Maximum seconds per query once it runs. */
export const MAX_SECONDS = 30;

/** The rest that one operation may use. A loader of much asks first, so that work stops once the result is unwanted. */
export class WorkBudget {
  /** Memory of its operation while that runs. */
  memory: OperationMemory | null = null;
  #bytesLeft = MAX_LOADED_BYTES;
  #workedMs = 0;
  #ended: AppError | null = null;
  #loading: Promise<unknown> = Promise.resolve();
  readonly #asked: readonly WorkBudget[];

  /** `asked`: budgets of the operations that it is executed for; with the last of them this one ends too. */
  constructor(asked: readonly WorkBudget[] = []) {
    this.#asked = asked;
    this.memory = asked[0]?.memory ?? null;
  }

  /** Takes bytes off. Throws QUERY_TOO_COMPLEX for more than an operation may load, or what ended the operation. */
  take(bytes: number): void {
    this.check();
    this.#bytesLeft -= bytes;
    if (this.#bytesLeft < 0) throw answerTooLarge();
  }

  /** Bytes loaded until now. */
  get loadedBytes(): number {
    return MAX_LOADED_BYTES - this.#bytesLeft;
  }

  /** Notes milliseconds of work that depends on the length of a list, not on what was asked. */
  work(milliseconds: number): void {
    this.#workedMs += milliseconds;
  }

  /** Milliseconds that `work` was told of. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** Resolves when there is room in memory for what it has loaded and makes of it; throws what ended it. */
  room(bytes: number): Promised<void> {
    this.check();
    return this.memory?.room(bytes);
  }

  /** Counts what was loaded in another way, and stays in memory. */
  took(bytes: number): void {
    this.holds(this.#inMemory(bytes));
  }

  /** Adds bytes to its memory, or takes them off. */
  holds(bytes: number): void {
    this.memory?.add(bytes);
  }

  /**
   * Loads rows that can be long: one read after the other, so that at most one is there uncounted, however many parts
   * of the operation ask at once. `bytesOf`: their estimated bytes in an answer; `most`: their maximum, where that is
   * much. Throws as `take` does.
   */
  load<T>(
    read: () => Promise<T>,
    bytesOf: (rows: T) => number = (rows) => answerBytes(rows, MAX_LOADED_BYTES),
    most = 0,
  ): Promise<T> {
    // Nothing more is read after too much.
    return this.inOrder(read, (rows) => this.#inMemory(bytesOf(rows)), CHARACTER_BYTES * most);
  }

  /** Runs `make` one after the other as `load` does; `bytesOf`: the bytes of its result in memory. */
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

  /** Ends the loading: the client is gone, or its time is over. */
  end(error: AppError): void {
    this.#ended ??= error;
  }

  /** Whether the result is unwanted by now. */
  get isEnded(): boolean {
    return this.ended !== null;
  }

  /** Whether the error ended it, or one of the budgets that it is executed for. */
  wasEndedBy(error: unknown): boolean {
    return error !== null && (this.#ended === error || this.#asked.some((asked) => asked.wasEndedBy(error)));
  }

  /** Throws what ended the operation. */
  check(): void {
    const { ended } = this;
    if (ended !== null) throw ended;
  }

  /** The error that ended the operation; null: it goes on. */
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
