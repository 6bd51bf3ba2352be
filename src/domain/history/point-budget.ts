import { AppError } from '../../errors.ts';
import type { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { ResourcePool } from '../../scheduling/resource-pool.ts';

/** Maximum points of all histories of one operation. */
const MAX_OPERATION_POINTS = 500_000;
/** Maximum pages read at once per operation, which may have hundreds of long histories. */
const PAGES_AT_ONCE = 2;

/** Bytes of a point until its operation is answered: as read, and as shown. */
const POINT_BYTES = 48;

/** The operation that the points belong to. */
interface Operation {
  /** Throws the error that ended it. */
  check(): void;
  /** Resolves when that many more bytes fit in memory. */
  room(bytes: number): Promise<void> | void;
  /** Adds to the bytes it holds in memory, or subtracts. */
  holds(bytes: number): void;
}

const NOBODY: Operation = { check: () => {}, room: () => {}, holds: () => {} };

/** The caller of files, which the file scheduler limits. */
const FILES: Caller = { tokenId: 'files', tenant: 'files' };

/**
 * The points of one operation (CONTRACT 7, Shares): histories run side by side while the maximums of all fit together,
 * otherwise one after the other, so that memory stays bounded.
 */
export class PointBudget {
  /** The caller it belongs to. */
  readonly caller: Caller;
  readonly #operation: Operation;
  readonly #pages = new ResourcePool(PAGES_AT_ONCE, () => null);
  readonly #shown = new WeakSet<readonly unknown[]>();
  #spent = 0;
  #underWay = 0;
  #waiting: (() => void)[] = [];
  #planning: Promise<unknown> = Promise.resolve();
  readonly #times = new OperationTimes();

  constructor(operation: Operation = NOBODY, caller: Caller = FILES) {
    this.caller = caller;
    this.#operation = operation;
  }

  /** Throws the error that ended the operation, or QUERY_TOO_COMPLEX when it has read too much. */
  check(): void {
    this.#operation.check();
    if (this.#spent > MAX_OPERATION_POINTS) throw tooManyPoints();
  }

  /**
   * Runs `read` for a page of values or a count, within the maximum at once. Throws the error that ended the operation.
   */
  page<T>(read: () => Promise<T>): Promise<T> {
    return this.#pages.use(async () => {
      this.#operation.check();
      return read();
    });
  }

  /** Counts a column of points in the answer again under each further name. Throws as `check` does. */
  show(column: readonly unknown[]): void {
    if (this.#shown.has(column)) this.#spent += column.length;
    this.#shown.add(column);
    this.check();
  }

  /** Number of points so far. */
  get spent(): number {
    return this.#spent;
  }

  /** Time during which other threads read for the operation, in milliseconds. */
  get readMs(): number {
    return this.#times.readMs;
  }

  /** Time that other threads worked for the operation, in milliseconds. */
  get workedMs(): number {
    return this.#times.workedMs;
  }

  /** Adds work of other threads, in milliseconds. */
  worked(milliseconds: number): void {
    this.#times.workedMs += milliseconds;
  }

  /** Time of planning on the event loop, including failed plans. */
  get planMs(): number {
    return this.#times.planMs;
  }

  /**
   * Runs `make` in one of the `turns` that all operations share; one plan per operation is queued at a time. Throws as
   * `make` and `within` do.
   */
  plan<T>(turns: EventLoopQueue, make: () => T): Promise<T> {
    const planned = this.#planning.then(() => turns.run(async () => this.#timed(make)));
    this.#planning = planned.catch(() => {});
    return planned;
  }

  #timed<T>(make: () => T): T {
    this.check();
    return this.#times.planning(make);
  }

  /** Runs `work`, which gives at most `worst` points; QUERY_TOO_COMPLEX when they exceed the rest of the budget. */
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
    this.#times.beginReading();
    let points = 0;
    try {
      const result = await work();
      points = pointsOf(result);
      this.#spent += points;
      if (this.#spent > MAX_OPERATION_POINTS) throw tooManyPoints();
      return result;
    } finally {
      this.#times.endReading();
      this.#operation.holds((points - worst) * POINT_BYTES);
    }
  }
}

/** Milliseconds that were spent for one operation elsewhere than on its own turns. */
class OperationTimes {
  workedMs = 0;
  planMs = 0;
  /** Reads that overlap count once. */
  #reads = 0;
  #readsSince = 0;
  #readMs = 0;

  get readMs(): number {
    return this.#reads === 0 ? this.#readMs : this.#readMs + performance.now() - this.#readsSince;
  }

  beginReading(): void {
    if (this.#reads++ === 0) this.#readsSince = performance.now();
  }

  endReading(): void {
    if (--this.#reads === 0) this.#readMs += performance.now() - this.#readsSince;
  }

  /** Adds what `make` takes, though it may throw. */
  planning<T>(make: () => T): T {
    const from = performance.now();
    try {
      return make();
    } finally {
      this.planMs += performance.now() - from;
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
