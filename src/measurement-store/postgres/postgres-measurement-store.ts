import type pg from 'pg';
import type { SeriesAnswer, SeriesRequest } from '../../domain/ports/series-request.ts';
import type { WriteTurns } from '../../domain/ports/database.ts';
import { Lane } from '../../scheduling/lane.ts';
import { LANES } from '../../scheduling/lanes.ts';
import type { SegmentColumns } from '../../domain/measurements/segment.ts';
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
  Place,
  RangeQuery,
  RecordedPage,
  RecordedQuery,
  Receipt,
  RemoveQuery,
  Rewrite,
} from '../../domain/ports/store.ts';
import { SERVER } from '../../scheduling/caller.ts';
import { currentCaller } from '../../scheduling/current-caller.ts';
import { programFile } from '../../program-file.ts';
import { compaction, type Edit, expiry, forgetting, removal } from '../chunks/edit.ts';
import { isLongRead } from '../chunks/reader-job.ts';
import { Compactor, dueSelect } from '../compactor.ts';
import { checkReceipt } from '../check-receipt.ts';
import { GroupCommit } from '../group-commit.ts';
import { handOver } from '../hand-over.ts';
import { LatestSearches } from '../latest-searches.ts';
import { Purger, type PurgeRow } from '../purger.ts';
import { atOnce, type EditManner, runEdit, untilWritten } from '../run-edit.ts';
import { STORE_DEFAULTS, type StoreOptions } from '../store-options.ts';
import { Threads } from '../threads.ts';
import { stopping, unavailable } from '../unavailable.ts';
import { noteFirstHistory } from './first-history.ts';
import { PostgresCallLog } from './postgres-call-log.ts';
import { openPool, PipelinedConnection } from './postgres-connection.ts';
import { PostgresFlushes } from './postgres-flushes.ts';
import type {
  PostgresReaderJob,
  PostgresReaderQuestion,
  PostgresSliceResult,
  RewriteResult,
} from './reader-messages.ts';
import { ReadingVacuum } from './reading-vacuum.ts';
import { COMMITTED, LOOK_AT_PRIMARY, type PrimaryLook, primaryLook } from './replica-guard.ts';
import { Replicas } from './replicas.ts';
import { takeInRestored } from './take-in-restored.ts';
import { toBigint } from './to-bigint.ts';
import { must } from '../../must.ts';

/** Where the store is, and how large its queues may be. */
export interface PostgresStoreOptions extends StoreOptions {
  /** Of a database whose migrations have run. */
  url: string;
  /** Of its replicas. */
  replicaUrls?: readonly string[];
}

const READ_CONNECTIONS = 4;
/** They start when they are needed; the first one gets nothing that may take long. */
const READERS = 3;
/** For what takes as long as there is something to read; each statement has the connection's limit. */
const LONG_JOB_MS = 60_000;
const LAST_PURGE = 'SELECT coalesce(max(id), 0) FROM purge';

/**
 * The measurement store on PostgreSQL: every flush is one statement; threads with connections of their own read and
 * edit. Everything that fails in the database rejects with AppError UNAVAILABLE, its reason as `cause`. If the
 * connection is lost during a commit, its receipts are refused though they may have been stored: sending them again is
 * harmless.
 */
export class PostgresMeasurementStore implements MeasurementStore, WriteTurns {
  readonly #writes: PipelinedConnection;
  readonly #pool: pg.Pool;
  readonly #readers: Threads<PostgresReaderQuestion>;
  readonly #searches = new LatestSearches((queries, progress) => this.#read({ kind: 'latest', queries, progress }));
  readonly #flushes: PostgresFlushes;
  readonly #commits: GroupCommit;
  readonly #turns = new Lane(LANES.postgresChanges);
  readonly #purger: Purger;
  readonly #compactor: Compactor;
  readonly #callLog: PostgresCallLog;
  readonly #vacuum: ReadingVacuum;
  /** null: there are none. */
  readonly replicas: Replicas | null;
  #stopping = false;
  #stopped: Promise<void> | null = null;

  private constructor(options: PostgresStoreOptions) {
    const { url, log } = options;
    this.#writes = new PipelinedConnection(url);
    this.#pool = openPool(url, READ_CONNECTIONS, log);
    const file = programFile('measurement-store/postgres/reader.worker');
    this.#readers = new Threads(READERS, { name: 'reader', file, workerData: { url }, log });
    this.#callLog = new PostgresCallLog(this.#pool);
    this.#vacuum = new ReadingVacuum(this.#pool, log);
    const { replicaUrls: urls = [] } = options;
    this.replicas = urls.length === 0 ? null : new Replicas({ urls, primary: () => this.#lookAtPrimary(), log });
    const { replicas } = this;
    this.#flushes = new PostgresFlushes(this.#writes, replicas ? (...commit) => replicas.note(...commit) : undefined);
    this.#commits = new GroupCommit(this.#flushes, { ...STORE_DEFAULTS, ...options });
    this.#purger = new Purger({
      list: (handsOver, after, limit) => this.#purges(handsOver, after, limit),
      last: async () => Number(must((await this.#rows<[string]>({ text: LAST_PURGE, values: [] }))[0])[0]),
      settled: () => this.#commits.settled(),
      handOver: (purge, isStopped) =>
        handOver({ store: this, edit: (deviceKey, edit) => this.#edit(deviceKey, edit) }, purge, isStopped),
      position: () => this.position(),
      forget: async ({ deviceKey, fieldKey }, upTo) =>
        (await this.#edit(deviceKey, forgetting(fieldKey, upTo))) === null,
      forgetHeard: async (key) => {
        await this.#flushes.showHeard();
        await this.#rows({ text: 'DELETE FROM device_state WHERE device_key = $1', values: [key] });
      },
      end: (id) => this.#rows({ text: 'DELETE FROM purge WHERE id = $1', values: [id] }),
      log,
    });
    this.#compactor = new Compactor({
      due: async ({ after, storedBefore, atLeast, overdueBefore, limit }) => {
        const values = [after, toBigint(storedBefore), atLeast, toBigint(overdueBefore), limit];
        const rows = await this.#rows<[number]>({ text: dueSelect((n) => `$${n}`), values });
        return rows.map(([deviceKey]) => deviceKey);
      },
      compact: (deviceKey, edit, manner) => this.#edit(deviceKey, edit, manner),
      flushes: () => this.#commits.flushes,
      keptMs: options.keptMs ?? STORE_DEFAULTS.keptMs,
      everyMs: options.compactEveryMs ?? STORE_DEFAULTS.compactEveryMs,
      now: Date.now,
      log,
    });
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresMeasurementStore> {
    const store = new PostgresMeasurementStore(options);
    try {
      await takeInRestored(store.#pool).catch(unavailable);
      await noteFirstHistory(store.#pool).catch(unavailable);
    } catch (error) {
      await store.stop();
      throw error;
    }
    store.#purger.start();
    return store;
  }

  append(receipt: Receipt): Promise<number> {
    return this.#commits.append(receipt);
  }

  /** Values that wait for their commit. */
  get waitingValues(): number {
    return this.#commits.waitingRows;
  }

  async take(party = SERVER): Promise<() => void> {
    return this.#turns.take(party);
  }

  latest(queries: LatestQuery[], spend?: (ms: number) => void): Promise<LatestRow[]> {
    return this.#searches.latest(queries, spend);
  }

  series(requests: readonly SeriesRequest[], place?: Place): Promise<(SeriesAnswer | undefined)[]> {
    const deviceKeys = requests.map(({ deviceKey }) => deviceKey);
    return this.#readAt(place, deviceKeys, { kind: 'series', requests });
  }

  async range(query: RangeQuery, place?: Place): Promise<Columns> {
    const asked = this.#readAt<SegmentColumns>(place, [query.deviceKey], { kind: 'range', query });
    const { timestamps, values } = await asked;
    return { timestamps: Array.from(timestamps), values: Array.isArray(values) ? values : Array.from(values) };
  }

  position(): Promise<string> {
    return this.#read({ kind: 'position' });
  }

  recorded(query: RecordedQuery): Promise<RecordedPage> {
    return this.#read({ kind: 'recorded', query });
  }

  async lastHeard(deviceKeys: number[]): Promise<Map<number, number>> {
    await this.#flushes.showHeard();
    const rows = await this.#rows<[number, number]>({
      text: 'SELECT device_key, last_heard_at FROM device_state WHERE device_key = ANY($1::int4[]) AND last_heard_at > 0',
      values: [deviceKeys],
    });
    return new Map(rows);
  }

  showHeard(): Promise<void> {
    return this.#flushes.showHeard();
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
    for (const deviceKey of deviceKeys) await this.#edit(deviceKey, compaction(storedBefore));
    await this.#vacuum.runIfDue();
  }

  settlePurges(): Promise<void> {
    return this.#purger.settle();
  }

  compactSoon(): Promise<void> {
    this.#compactor.start();
    return Promise.resolve();
  }

  calls(query: CallQuery): Promise<CallRow[]> {
    return this.#callLog.find(query).catch(unavailable);
  }

  countCalls(query: CallQuery): Promise<CallCount> {
    return this.#callLog.count(query).catch(unavailable);
  }

  call(productKey: number, id: string): Promise<CallRow | null> {
    return this.#callLog.get(productKey, id).catch(unavailable);
  }

  updateCalls(calls: CallOutcome[]): Promise<void> {
    return this.#callLog.update(calls).catch(unavailable);
  }

  removeCalls(receivedBefore: number, productKey: number | undefined, isStopping: () => boolean): Promise<number> {
    return this.#callLog.remove(receivedBefore, productKey, isStopping).catch(unavailable);
  }

  async valuesAt(keys: readonly DeviceKeys[]): Promise<KnownValues[]> {
    const [values, others] = await Promise.all([
      this.#read<KnownValues['values'][]>({ kind: 'valuesAt', keys }),
      this.#callLog.others(keys).catch(unavailable),
    ]);
    return values.map((ofDevice, at) => ({ values: ofDevice, others: must(others[at]) }));
  }

  async rewrite(rewrite: Rewrite): Promise<number> {
    if (this.#stopping) throw stopping();
    checkReceipt(rewrite);
    const { left, rowsGone } = await untilWritten(() => this.#read<RewriteResult | null>({ kind: 'rewrite', rewrite }));
    this.#vacuum.noteGone(rowsGone);
    await this.#noteCommit([...rewrite.batches, ...rewrite.removals].map(({ deviceKey }) => deviceKey));
    return left;
  }

  async ping(): Promise<void> {
    await this.#rows({ text: 'SELECT 1', values: [] });
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.#commits.stop();
    await this.#flushes.stop();
    this.#stopping = true;
    await Promise.all([this.#purger.stop(), this.#compactor.stop(), this.#vacuum.stop()]);
    await this.replicas?.stop();
    await Promise.all([this.#writes.end(), this.#pool.end(), this.#readers.terminate()]);
  }

  /** Slices of one device come one after the other, on whatever node. */
  async #edit(deviceKey: number, edit: Edit, manner?: EditManner): Promise<Edit | null> {
    const slice = async (key: number, current: Edit): Promise<PostgresSliceResult | null> => {
      const result = await this.#read<PostgresSliceResult | null>({ kind: 'edit', deviceKey: key, edit: current });
      this.#vacuum.noteGone(result?.rowsGone ?? 0);
      return result;
    };
    const left = await runEdit(slice, deviceKey, edit, () => this.#stopping, manner);
    if (!this.#stopping) void this.#vacuum.runIfDue();
    // Chunks say the same as the readings that went into them.
    if (edit.kind !== 'compact') await this.#noteCommit([deviceKey]);
    return left;
  }

  async #purges(handsOver: boolean, after: number, limit: number): Promise<PurgeRow[]> {
    const which = `into_device_key IS ${handsOver ? 'NOT ' : ''}NULL`;
    const text = `SELECT id, device_key, field_key, into_device_key, into_field_key FROM purge WHERE id > $1 AND ${which} ORDER BY id LIMIT $2`;
    const rows = await this.#rows<[number, number, number | null, number | null, number | null]>({
      text,
      values: [after, limit],
    });
    return rows.map(([id, deviceKey, fieldKey, intoDeviceKey, intoFieldKey]) => ({
      id,
      deviceKey,
      fieldKey,
      intoDeviceKey,
      intoFieldKey,
    }));
  }

  #read<T>(job: PostgresReaderJob): Promise<T> {
    const longMs = job.kind === 'edit' || job.kind === 'rewrite' || isLongRead(job) ? LONG_JOB_MS : undefined;
    return this.#readers.ask<T>({ job, party: currentCaller() }, longMs).catch(unavailable);
  }

  /** The read where it may be done: `any`: by a replica if one has what it needs. */
  #readAt<T>(place: Place | undefined, deviceKeys: readonly number[], job: PostgresReaderJob): Promise<T> {
    const atPrimary = (): Promise<T> => this.#read<T>(job);
    if (place !== 'any' || this.replicas === null) return atPrimary();
    return this.replicas.read({ job, party: currentCaller(), deviceKeys, limitMs: LONG_JOB_MS }, atPrimary);
  }

  /** Tells the replicas of a commit that was none of the flushes. */
  async #noteCommit(deviceKeys: readonly number[]): Promise<void> {
    if (this.replicas === null) return;
    const [row] = await this.#rows<[number]>({ text: `SELECT ${COMMITTED}`, values: [] }).catch(() => []);
    this.replicas.note(deviceKeys, row?.[0] ?? null);
  }

  async #lookAtPrimary(): Promise<PrimaryLook> {
    return primaryLook(must((await this.#rows<[string, number, string]>({ text: LOOK_AT_PRIMARY, values: [] }))[0]));
  }

  async #rows<Row extends unknown[]>(query: pg.QueryConfig): Promise<Row[]> {
    const result = await this.#pool.query<Row>({ ...query, rowMode: 'array' }).catch(unavailable);
    return result.rows;
  }
}
