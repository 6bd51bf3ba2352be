import type { WriteTurns } from '../domain/database.ts';
import type {
  CallFilter,
  CallQuery,
  CallRow,
  Columns,
  CommitPosition,
  LatestRow,
  MeasurementStore,
  Purge,
  RangeQuery,
  Receipt,
  RemoveQuery,
} from '../domain/measurements/store.ts';
import { GroupCommit } from './group-commit.ts';
import type { PackedColumns, ReaderJob } from './reader-messages.ts';
import type { CallOutcome } from './call-columns.ts';
import { SqliteFlushes } from './sqlite-flushes.ts';
import { SqliteWriteTurns } from './sqlite-write-turns.ts';
import type { StoreLog } from './store-log.ts';
import { Thread } from './thread.ts';
import { unavailable } from './unavailable.ts';
import type { WriterJob } from './writer-messages.ts';

export interface SqliteStoreOptions {
  /** A file whose migrations have run. */
  path: string;
  log?: StoreLog;
  /** Default 200,000. */
  maxWaitingRows?: number;
  /** Default 32 MiB. */
  maxWaitingBytes?: number;
}

const CALLS_A_CHUNK = 500;
/** Jobs in steps beside others, as long as there is something to do. */
const LONG_JOB_MS = 60_000;

/**
 * The measurement store on SQLite. A receipt is acknowledged when the flush it is part of is one durable row of the
 * table `inbox`; the writer thread settles the inbox into `measurement` afterwards. Reading settles first what waits
 * for the device. Everything that fails in SQLite rejects with AppError UNAVAILABLE, its reason as `cause`; if the
 * writer thread dies in the middle of a flush, its receipts may have been stored: sending them again is harmless.
 */
export class SqliteMeasurementStore implements MeasurementStore, WriteTurns {
  readonly #writer: Thread<WriterJob>;
  readonly #reader: Thread<ReaderJob>;
  readonly #turns: SqliteWriteTurns;
  readonly #commits: GroupCommit;
  #stopped: Promise<void> | null = null;

  private constructor(options: SqliteStoreOptions) {
    const { log, path } = options;
    const workerData = { path };
    this.#turns = new SqliteWriteTurns(
      () => this.#write({ kind: 'hold' }),
      () => this.#writer.tell({ kind: 'release' }),
    );
    // A new writer settles the inbox at once: not while somebody else is writing.
    const beforeRestart = (): Promise<void> => this.#turns.free();
    this.#writer = new Thread({ name: 'writer.worker', workerData, log, beforeRestart });
    this.#reader = new Thread({ name: 'reader.worker', workerData, log });
    this.#commits = new GroupCommit(new SqliteFlushes((job, transfer) => this.#write(job, transfer)), {
      maxWaitingRows: options.maxWaitingRows ?? 200_000,
      maxWaitingBytes: options.maxWaitingBytes ?? 32 * 1024 * 1024,
    });
  }

  /** Settles what a crash left unsettled, then resolves. */
  static async open(options: SqliteStoreOptions): Promise<SqliteMeasurementStore> {
    const store = new SqliteMeasurementStore(options);
    try {
      await Promise.all([store.#writer.start(), store.#reader.start()]);
    } catch (error) {
      await Promise.all([store.#writer.terminate(), store.#reader.terminate()]);
      throw error;
    }
    return store;
  }

  append(receipt: Receipt): Promise<CommitPosition> {
    return this.#commits.append(receipt);
  }

  /** Hold it briefly, and do not wait for the store while you do: it answers when the turn has been given back. */
  take(): Promise<() => void> {
    return this.#turns.take();
  }

  async latest(deviceKey: number, fieldKeys: number[]): Promise<LatestRow[]> {
    await this.#write({ kind: 'settle', deviceKeys: [deviceKey] });
    return this.#read({ kind: 'latest', deviceKey, fieldKeys });
  }

  async range(query: RangeQuery): Promise<Columns> {
    await this.#write({ kind: 'settle', deviceKeys: [query.deviceKey] });
    const columns = await this.#read<PackedColumns>({ kind: 'range', query });
    const { timestamps, values } = columns;
    return { timestamps: Array.from(timestamps), values: Array.isArray(values) ? values : Array.from(values) };
  }

  async lastHeard(deviceKeys: number[]): Promise<Map<number, number>> {
    // First what waits, then what is settled: what moves over in between is seen at least once.
    const waiting = await this.#write<[number, number][]>({ kind: 'lastHeard', deviceKeys });
    const heard = new Map(await this.#read<[number, number][]>({ kind: 'lastHeard', deviceKeys }));
    for (const [key, at] of waiting) heard.set(key, Math.max(at, heard.get(key) ?? 0));
    return heard;
  }

  settle(): Promise<void> {
    return this.#write({ kind: 'settle' });
  }

  async remove(query: RemoveQuery): Promise<number> {
    if (!query.dryRun) return this.#write({ kind: 'remove', query });
    await this.#write({ kind: 'settle', deviceKeys: [query.deviceKey] });
    return this.#read({ kind: 'count', query });
  }

  /** Resolves when it is written down what to forget; the forgetting goes on in the background. */
  async purge(purges: Purge[]): Promise<void> {
    if (purges.length > 0) await this.#write({ kind: 'purge', purges });
  }

  calls(query: CallQuery): Promise<CallRow[]> {
    return this.#read({ kind: 'calls', query });
  }

  countCalls(query: CallFilter): Promise<number> {
    return this.#read({ kind: 'countCalls', filter: query });
  }

  call(productKey: number, id: string): Promise<CallRow | null> {
    return this.#read({ kind: 'call', productKey, id });
  }

  updateCall(call: CallOutcome): Promise<void> {
    return this.#write({ kind: 'updateCall', call });
  }

  async removeCalls(receivedBefore: number, productKey?: number): Promise<number> {
    let removed = 0;
    for (;;) {
      const some = await this.#write<number>({ kind: 'removeCalls', receivedBefore, productKey, limit: CALLS_A_CHUNK });
      removed += some;
      if (some < CALLS_A_CHUNK) return removed;
    }
  }

  ping(): Promise<void> {
    return this.#read({ kind: 'ping' });
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.#commits.stop();
    try {
      await this.#write({ kind: 'stop' });
    } finally {
      await Promise.all([this.#writer.terminate(), this.#reader.terminate()]);
    }
  }

  #write<T>(job: WriterJob, transfer?: ArrayBuffer[]): Promise<T> {
    const long = job.kind === 'remove' || job.kind === 'stop' || (job.kind === 'settle' && !job.deviceKeys);
    return this.#writer.ask<T>(job, transfer, long ? LONG_JOB_MS : undefined).catch(unavailable);
  }

  #read<T>(job: ReaderJob): Promise<T> {
    const long = job.kind === 'range' || job.kind === 'count';
    return this.#reader.ask<T>(job, undefined, long ? LONG_JOB_MS : undefined).catch(unavailable);
  }
}
