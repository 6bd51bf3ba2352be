import { AppError } from '../../errors.ts';
import type { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { ResourcePool } from '../../scheduling/resource-pool.ts';

/** What all histories of one operation may bring together. */
const MAX_OPERATION_POINTS = 500_000;
/** There may be hundreds of long ones in an operation. */
const PAGES_AT_ONCE = 2;

/** What a point takes in memory until its operation is answered: in what was read, and in what is shown. */
const POINT_BYTES = 48;

/** Whose points these are. */
interface Operation {
  /** Throws what ended it. */
  check(): void;
  /** As soon as there is room in memory for so many bytes more. */
  room(bytes: number): Promise<void> | void;
  /** It has so many bytes more in memory, or less. */
  holds(bytes: number): void;
}

const NOBODY: Operation = { check: () => {}, room: () => {}, holds: () => {} };

/** What is read for files, of whom there are turns. */
const FILES: Caller = { tokenId: 'files', tenant: 'files' };

/**
 * The points of one operation (CONTRACT 7, Shares): many histories run side by side as long as the worst of each fits
 * together, and one after the other else, so that what is in memory at once stays bounded.
 */
export class PointBudget {
  /** For whom it is. */
  readonly party: Caller;
  readonly #operation: Operation;
  readonly #pages = new ResourcePool(PAGES_AT_ONCE, () => null);
  readonly #shown = new WeakSet<readonly unknown[]>();
  #spent = 0;
  #underWay = 0;
  #waiting: (() => void)[] = [];
  #reading = 0;
  #readingSince = 0;
  #readMs = 0;
  #workedMs = 0;
  #planning: Promise<unknown> = Promise.resolve();
  #planMs = 0;

  constructor(operation: Operation = NOBODY, party: Caller = FILES) {
    this.party = party;
    this.#operation = operation;
  }

  /** Throws what ended the operation, or QUERY_TOO_COMPLEX when it has brought too much: nothing more is read for it. */
  check(): void {
    this.#operation.check();
    if (this.#spent > MAX_OPERATION_POINTS) throw tooManyPoints();
  }

  /** What `read` gives, a page of values or a count: so many are read at a time. Throws what ended the operation. */
  page<T>(read: () => Promise<T>): Promise<T> {
    return this.#pages.use(async () => {
      this.#operation.check();
      return read();
    });
  }

  /** A column of points goes into the answer: under each further name it counts again. Throws as `check` does. */
  show(column: readonly unknown[]): void {
    if (this.#shown.has(column)) this.#spent += column.length;
    this.#shown.add(column);
    this.check();
  }

  /** How many there were so far. */
  get spent(): number {
    return this.#spent;
  }

  /** For how long something was read for the operation, in milliseconds: that is done by other threads. */
  get readMs(): number {
    return this.#reading === 0 ? this.#readMs : this.#readMs + performance.now() - this.#readingSince;
  }

  /** For how long other threads worked for the operation, in milliseconds, while what was read for it ran. */
  get workedMs(): number {
    return this.#workedMs;
  }

  /** So many milliseconds were worked for it. */
  worked(milliseconds: number): void {
    this.#workedMs += milliseconds;
  }

  /** How long planning took, which is done on the event loop, whatever came of it. */
  get planMs(): number {
    return this.#planMs;
  }

  /**
   * What `make` gives, in one of the `turns` that all operations share; of this one only one plan waits for its turn.
   * Throws what `make` throws, and what `within` does.
   */
  plan<T>(turns: EventLoopQueue, make: () => T): Promise<T> {
    const planned = this.#planning.then(() => turns.run(async () => this.#timed(make)));
    this.#planning = planned.catch(() => {});
    return planned;
  }

  #timed<T>(make: () => T): T {
    this.check();
    const from = performance.now();
    try {
      return make();
    } finally {
      this.#planMs += performance.now() - from;
    }
  }

  /** What `work` gives; QUERY_TOO_COMPLEX when its points are more than is left. It brings `worst` points at most. */
  async within<T>(worst: number, work: () => Promise<T>, pointsOf: (result: T) => number): Promise<T> {
    while (this.#underWay > 0 && this.#spent + this.#underWay + worst > MAX_OPERATION_POINTS)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.check();
    this.#underWay += worst;
    try {
      await this.#operation.room(worst * POINT_BYTES);
      return await this.#read(worst, work, pointsOf);
    } finally {
      this.#underWay -= worst;
      const waiting = this.#waiting;
      this.#waiting = [];
      for (const wake of waiting) wake();
    }
  }

  async #read<T>(worst: number, work: () => Promise<T>, pointsOf: (result: T) => number): Promise<T> {
    if (this.#reading++ === 0) this.#readingSince = performance.now();
    let points = 0;
    try {
      const result = await work();
      points = pointsOf(result);
      this.#spent += points;
      if (this.#spent > MAX_OPERATION_POINTS) throw tooManyPoints();
      return result;
    } finally {
      if (--this.#reading === 0) this.#readMs += performance.now() - this.#readingSince;
      this.#operation.holds((points - worst) * POINT_BYTES);
    }
  }
}

function tooManyPoints(): AppError {
  return new AppError(
    'QUERY_TOO_COMPLEX',
    `The histories of this operation are more than ${MAX_OPERATION_POINTS} points. Ask for buckets ("resolution" or ` +
      '"maxPoints"), for fewer fields or devices, or for a shorter range; page raw values with "measurements".',
    { details: { limit: 'points', allowed: MAX_OPERATION_POINTS } },
  );
}
