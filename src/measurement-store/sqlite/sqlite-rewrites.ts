import type { Rewrite } from '../../domain/ports/store.ts';
import { checkReceipt } from '../check-receipt.ts';
import type { Change } from '../chunks/edit.ts';
import type { Withdrawal } from '../chunks/plan-withdrawal.ts';
import { ReadingFrames } from '../readings/reading-frames.ts';
import { untilWritten } from '../run-edit.ts';
import type { SqliteReaderJob } from './reader/reader-messages.ts';
import type { WriterJob } from './writer/writer-messages.ts';

interface Threads {
  read<T>(job: SqliteReaderJob): Promise<T>;
  write<T>(job: WriterJob): Promise<T>;
  /** Sorts earlier commits into the readings. */
  sortIn(): Promise<void>;
}

/** Commits the changes of replays: a reader thread plans removals, the writer thread does all of it. */
export class SqliteRewrites {
  readonly #locks: DeviceLocks;
  readonly #threads: Threads;

  constructor(locks: DeviceLocks, threads: Threads) {
    this.#locks = locks;
    this.#threads = threads;
  }

  /** Implements `MeasurementStore.rewrite`. */
  async write({ batches, removals, shared, calls }: Rewrite): Promise<number> {
    checkReceipt({ batches });
    const written = new ReadingFrames();
    for (const batch of batches) written.add(batch);
    const { buffer, length } = written.take(undefined);
    const frames = new Uint8Array(buffer.slice(0, length));
    const { read, write, sortIn } = this.#threads;
    const commit = (changes: Change[]): Promise<boolean> => write({ kind: 'rewrite', frames, changes, shared, calls });
    if (removals.length === 0) {
      await commit([]);
      return 0;
    }
    const attempt = async (): Promise<number | null> => {
      await write<void>({ kind: 'settle' });
      await sortIn();
      const planned = await read<Withdrawal[]>({ kind: 'withdraw', removals });
      const isWritten = await commit(planned.map(({ change }) => change));
      return isWritten ? planned.reduce((sum, { left }) => sum + left, 0) : null;
    };
    const keys = removals.map(({ deviceKey }) => deviceKey);
    return this.#locks.runAll(keys, () => untilWritten(attempt));
  }
}

/** One at a time for each device, in the order of asking. */
export class DeviceLocks {
  readonly #last = new Map<number, Promise<unknown>>();

  async run<T>(deviceKey: number, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(deviceKey) ?? Promise.resolve()).then(work, work);
    this.#last.set(deviceKey, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(deviceKey) === mine) this.#last.delete(deviceKey);
    }
  }

  /** Locks all of these, in the order of their keys, so that no two wait for each other. */
  runAll<T>(deviceKeys: readonly number[], work: () => Promise<T>): Promise<T> {
    const [first, ...others] = deviceKeys.toSorted((a, b) => a - b);
    return first === undefined ? work() : this.run(first, () => this.runAll(others, work));
  }
}
