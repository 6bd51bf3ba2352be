import type { SeriesAnswer, SeriesRequest } from '../../domain/ports/series-request.ts';
import type { WriteTurns } from '../../domain/ports/database.ts';
import type {
  CallCount,
  CallOutcome,
  CallQuery,
  CallRow,
  Columns,
  DeviceKeys,
  KnownValues,
  LatestQuery,
  LatestRow,
  MeasurementStore,
  Piece,
  RangeQuery,
  RecordedPage,
  RecordedQuery,
  Receipt,
  RemoveQuery,
  Rewrite,
} from '../../domain/ports/store.ts';
import type { SegmentColumns } from '../../domain/measurements/segment.ts';
import { SERVER } from '../../scheduling/caller.ts';
import { programFile } from '../../program-file.ts';
import { compaction, type Edit, expiry, isEmpty, type Plan, forgetting, removal } from '../chunks/edit.ts';
import { besideRecording } from '../beside-recording.ts';
import { isLongRead } from '../chunks/reader-job.ts';
import { Compactor } from '../compactor.ts';
import { GroupCommit } from '../group-commit.ts';
import { handOver } from '../hand-over.ts';
import { LatestSearches } from '../latest-searches.ts';
import { Purger } from '../purger.ts';
import { atOnce, type EditManner, runEdit, type SliceResult } from '../run-edit.ts';
import { STORE_DEFAULTS, type StoreOptions } from '../store-options.ts';
import { Thread } from '../thread.ts';
import { Threads } from '../threads.ts';
import { stopping, unavailable } from '../unavailable.ts';
import { DeviceLocks, SqliteRewrites } from './sqlite-rewrites.ts';
import type { SqliteReaderJob } from './reader/reader-messages.ts';
import { SqliteFlushes } from './sqlite-flushes.ts';
import { SqliteWriteTurns } from './sqlite-write-turns.ts';
import type { WriterJob } from './writer/writer-messages.ts';
import { must } from '../../must.ts';

/** Where the store is, and how large its queues may be. */
export interface SqliteStoreOptions extends StoreOptions {
  /** A file whose migrations have run. */
  path: string;
}

/** One for what is short; the others start when they are needed. */
const READERS = 3;
/** Of the longest ones they are 13 MB. */
const CALLS_A_CHUNK = 50;
/** Of what was committed and waits to be sorted in, before an edit that must find all of it. */
const SLICES_FIRST = 256;
/** They go through very many calls or all readings that there are, or write many chunks anew. */
const OTHER_LONG_READS: ReadonlySet<SqliteReaderJob['kind']> = new Set(['countCalls', 'due', 'plan', 'withdraw']);
/** For what takes as long as there is something to read. */
const LONG_JOB_MS = 60_000;

/**
 * Whoever waits for a turn gives up by itself. The question must not: the answer to one that was given up (the process
 * stood still for eight seconds) would leave the writer paused for ever, as nobody lets it go on.
 */
const HOLD_MS = 2 ** 31 - 1;

/**
 * The measurement store on SQLite: one thread writes, others read. Everything that fails in SQLite rejects with
 * AppError UNAVAILABLE, its reason as `cause`; if the writer thread dies in the middle of a flush, its receipts may have
 * been stored: sending them again is harmless.
 */
export class SqliteMeasurementStore implements MeasurementStore, WriteTurns {
  readonly #writer: Thread<WriterJob>;
  readonly #readers: Threads<SqliteReaderJob>;
  readonly #searches = new LatestSearches((queries, progress) => this.#read({ kind: 'latest', queries, progress }));
  readonly #turns: SqliteWriteTurns;
  readonly #commits: GroupCommit;
  readonly #locks = new DeviceLocks();
  readonly #rewrites = new SqliteRewrites(this.#locks, {
    read: (job) => this.#read(job),
    write: (job) => this.#overwrite(job),
    sortIn: () => this.#sortIn(),
  });
  readonly #purger: Purger;
  readonly #flushes = new SqliteFlushes((job, transfer) => this.#write(job, transfer));
  readonly #compactor: Compactor;
  /** Calls that came in so far. */
  #calls = 0;
  #stopping = false;
  #stopped: Promise<void> | null = null;

  private constructor(options: SqliteStoreOptions) {
    const { log, path } = options;
    const workerData = { path };
    this.#turns = new SqliteWriteTurns(
      () => this.#write({ kind: 'hold' }, [], HOLD_MS),
      () => this.#writer.tell({ kind: 'release' }),
    );
    // A new writer does not know that somebody else is writing.
    const beforeRestart = (): Promise<void> => this.#turns.free();
    const thread = (name: string): string => programFile(`measurement-store/sqlite/${name}/${name}.worker`);
    // The only notice is that the log became long.
    const onNotice = (): void => {
      void this.#copyLog().catch((err: unknown) => {
        // Whoever stops does not wait for it: the next start finds the log as it is.
        if (!this.#stopping)
          log?.warn({ err }, 'copying the log of commits into the file failed and will be tried again');
      });
    };
    this.#writer = new Thread({ name: 'writer', file: thread('writer'), workerData, log, beforeRestart, onNotice });
    this.#readers = new Threads(READERS, { name: 'reader', file: thread('reader'), workerData, log });
    this.#commits = new GroupCommit(this.#flushes, {
      ...STORE_DEFAULTS,
      ...options,
    });
    this.#purger = new Purger({
      list: (handsOver, after, limit) => this.#read({ kind: 'purges', handsOver, after, limit }),
      last: () => this.#read({ kind: 'lastPurge' }),
      settled: () => this.#commits.settled(),
      handOver: (purge, isStopped) =>
        handOver({ store: this, edit: (deviceKey, edit) => this.#edit(deviceKey, edit) }, purge, isStopped),
      position: () => this.position(),
      forget: async ({ deviceKey, fieldKey }, upTo) =>
        (await this.#edit(deviceKey, forgetting(fieldKey, upTo))) === null,
      forgetHeard: (deviceKey) => this.#write({ kind: 'forgetHeard', deviceKey }),
      end: (id) => this.#write({ kind: 'endPurge', id }),
      log,
    });
    this.#compactor = new Compactor({
      due: (query) => this.#read({ kind: 'due', query }),
      compact: (deviceKey, edit, manner) => this.#edit(deviceKey, edit, manner),
      flushes: () => this.#commits.flushes,
      keptMs: options.keptMs ?? STORE_DEFAULTS.keptMs,
      everyMs: options.compactEveryMs ?? STORE_DEFAULTS.compactEveryMs,
      now: Date.now,
      log,
    });
  }

  static async open(options: SqliteStoreOptions): Promise<SqliteMeasurementStore> {
    const store = new SqliteMeasurementStore(options);
    try {
      await Promise.all([store.#writer.start(), store.#readers.start()]);
    } catch (error) {
      await store.stop().catch(() => {});
      throw error;
    }
    store.#purger.start();
    return store;
  }

  append(receipt: Receipt): Promise<number> {
    if (receipt.call !== undefined) this.#calls += 1;
    return this.#commits.append(receipt);
  }

  /** Values that wait for their commit. */
  get waitingValues(): number {
    return this.#commits.waitingRows;
  }

  /** Hold it briefly, and do not wait for the store while you do: it answers when the turn has been given back. */
  take(party = SERVER): Promise<() => void> {
    return this.#turns.take(party);
  }

  latest(queries: LatestQuery[], spend?: (ms: number) => void): Promise<LatestRow[]> {
    return this.#searches.latest(queries, spend);
  }

  series(requests: readonly SeriesRequest[]): Promise<(SeriesAnswer | undefined)[]> {
    return this.#read({ kind: 'series', requests });
  }

  async range(query: RangeQuery): Promise<Columns> {
    const { timestamps, values } = await this.#read<SegmentColumns>({ kind: 'range', query });
    return { timestamps: Array.from(timestamps), values: Array.isArray(values) ? values : Array.from(values) };
  }

  position(): Promise<string> {
    return this.#read({ kind: 'position' });
  }

  async recorded(query: RecordedQuery): Promise<RecordedPage> {
    return this.#flushes.recent.recorded(query) ?? this.#read<RecordedPage>({ kind: 'recorded', query });
  }

  async lastHeard(deviceKeys: number[]): Promise<Map<number, number>> {
    return new Map(await this.#read<[number, number][]>({ kind: 'lastHeard', deviceKeys }));
  }

  /** A list is worth more without the last second than not at all. */
  showHeard(): Promise<void> {
    return this.#write<void>({ kind: 'showHeard' }).catch(() => {});
  }

  async remove(query: RemoveQuery, piece: Piece = atOnce): Promise<number> {
    const { deviceKey, fieldKeys, from, to, dryRun } = query;
    const count = await piece(() => this.#read<number>({ kind: 'count', query }));
    if (dryRun || count === 0) return count;
    if ((await this.#edit(deviceKey, removal(fieldKeys, from, to), { piece })) !== null) throw stopping();
    return count;
  }

  async dropOlderThan(deviceKeys: number[], before: number): Promise<void> {
    for (const deviceKey of deviceKeys) await this.#edit(deviceKey, expiry(before));
  }

  async compact(deviceKeys: number[], storedBefore: number): Promise<void> {
    await this.#sortIn();
    await this.#flushes.recent.without(async () => {
      for (const deviceKey of deviceKeys) await this.#edit(deviceKey, compaction(storedBefore));
    });
  }

  settlePurges(): Promise<void> {
    return this.#purger.settle();
  }

  compactSoon(): Promise<void> {
    this.#compactor.start();
    return Promise.resolve();
  }

  calls(query: CallQuery): Promise<CallRow[]> {
    return this.#read({ kind: 'calls', query });
  }

  countCalls(query: CallQuery): Promise<CallCount> {
    return this.#read({ kind: 'countCalls', query });
  }

  call(productKey: number, id: string): Promise<CallRow | null> {
    return this.#read({ kind: 'call', productKey, id });
  }

  updateCalls(calls: CallOutcome[]): Promise<void> {
    return this.#write({ kind: 'updateCalls', calls });
  }

  async valuesAt(keys: readonly DeviceKeys[]): Promise<KnownValues[]> {
    const [values, others] = await Promise.all([
      this.#read<KnownValues['values'][]>({ kind: 'valuesAt', keys }),
      this.#read<number[][]>({ kind: 'others', keys }),
    ]);
    return values.map((ofDevice, at) => ({ values: ofDevice, others: must(others[at]) }));
  }

  async rewrite(rewrite: Rewrite): Promise<number> {
    if (this.#stopping) throw stopping();
    return this.#rewrites.write(rewrite);
  }

  async removeCalls(
    receivedBefore: number,
    productKey: number | undefined,
    isStopping: () => boolean,
  ): Promise<number> {
    let removed = 0;
    const before = this.#calls;
    // Old ones go no more slowly than new ones come: the log would grow for as long as they do.
    const hurries = (): boolean => productKey === undefined && this.#calls - before > removed;
    const piece = besideRecording(() => this.#commits.flushes, hurries);
    const job: WriterJob = { kind: 'removeCalls', receivedBefore, productKey, limit: CALLS_A_CHUNK };
    for (;;) {
      const some = await piece(() => this.#write<number>(job));
      removed += some;
      if (some < CALLS_A_CHUNK || isStopping()) return removed;
      // Nobody is to go on as if all were gone.
      if (this.#stopping) throw stopping();
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
    this.#stopping = true;
    await Promise.all([this.#purger.stop(), this.#compactor.stop()]);
    try {
      await this.#write({ kind: 'stop' });
    } finally {
      await Promise.all([this.#writer.terminate(), this.#readers.terminate()]);
    }
  }

  /** A reader copies most of it while commits go on, the writer what came meanwhile: all of it, if there is no reader. */
  async #copyLog(): Promise<void> {
    try {
      await this.#readers.ask({ kind: 'copyLog' }, LONG_JOB_MS);
    } finally {
      if (!this.#stopping) await this.#writer.ask({ kind: 'copyLog' }, undefined, LONG_JOB_MS);
    }
  }

  /** Slices of one device come one after the other; in between, others may have their turn. */
  #edit(deviceKey: number, edit: Edit, manner?: EditManner): Promise<Edit | null> {
    const slice = (key: number, current: Edit): Promise<SliceResult> =>
      this.#locks.run(key, async () => {
        const durable = current.kind !== 'compact';
        const plan = (): Promise<Plan> => this.#read<Plan>({ kind: 'plan', deviceKey: key, edit: current });
        // A change that was not answered in time is still in the writer's line: planned before it is written, this one
        // would bring back what that removes.
        await this.#write<void>({ kind: 'settle' });
        let planned = await plan();
        if (durable && !isEmpty(planned.change)) {
          await this.#sortIn();
          planned = await plan();
        }
        const { change, next } = planned;
        if (isEmpty(change)) return { next, missed: 0 };
        const job: WriterJob = { kind: 'change', change, durable };
        // What only moves from one place to another is told as before.
        const isTold = !durable && change.filled === null;
        return { next, missed: await (isTold ? this.#write<number>(job) : this.#overwrite<number>(job)) };
      });
    return runEdit(slice, deviceKey, edit, () => this.#stopping, manner);
  }

  /** Slice by slice: commits come in between. What came meanwhile is left. */
  async #sortIn(): Promise<void> {
    for (let slices = 0; slices < SLICES_FIRST && (await this.#write<boolean>({ kind: 'sortIn' })); slices += 1);
  }

  #write<T>(job: WriterJob, transfer?: ArrayBuffer[], limitMs?: number): Promise<T> {
    return this.#writer.ask<T>(job, transfer, limitMs).catch(unavailable);
  }

  /** Writes what makes flushes in memory untrue. */
  #overwrite<T>(job: WriterJob): Promise<T> {
    return this.#flushes.recent.without(() => this.#write<T>(job));
  }

  #read<T>(job: SqliteReaderJob): Promise<T> {
    return this.#readers.ask<T>(job, mayTakeLong(job) ? LONG_JOB_MS : undefined).catch(unavailable);
  }
}

function mayTakeLong(job: SqliteReaderJob): boolean {
  return isLongRead(job) || OTHER_LONG_READS.has(job.kind);
}
