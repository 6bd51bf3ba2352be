import type pg from 'pg';
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
  StoredValue,
} from '../domain/measurements/store.ts';
import type { CallOutcome } from './call-columns.ts';
import { GroupCommit } from './group-commit.ts';
import { PostgresCallLog } from './postgres-call-log.ts';
import { openPool, PipelinedConnection } from './postgres-connection.ts';
import { PostgresFlushes } from './postgres-flushes.ts';
import { PostgresPurger } from './postgres-purger.ts';
import type { StoreLog } from './store-log.ts';
import { toBigint } from './to-bigint.ts';
import { unavailable } from './unavailable.ts';

export interface PostgresStoreOptions {
  /** Of a database whose migrations have run. */
  url: string;
  log?: StoreLog;
  /** Default 200,000. */
  maxWaitingRows?: number;
  /** Default 32 MiB. */
  maxWaitingBytes?: number;
}

const READ_CONNECTIONS = 6;
/** What is in proportion to what it finds may take longer than other statements. */
const LONG_MS = 60_000;
/**
 * The measurement store on PostgreSQL: every flush is one statement, so what is acknowledged is in `measurement`.
 * Everything that fails in the database rejects with AppError UNAVAILABLE, its reason as `cause`. If the connection is
 * lost during a commit, its receipts are refused though they may have been stored: sending them again is harmless.
 */
export class PostgresMeasurementStore implements MeasurementStore, WriteTurns {
  readonly #writes: PipelinedConnection;
  readonly #reads: pg.Pool;
  readonly #commits: GroupCommit;
  readonly #purger: PostgresPurger;
  readonly #callLog: PostgresCallLog;
  #stopped: Promise<void> | null = null;

  private constructor(options: PostgresStoreOptions) {
    this.#writes = new PipelinedConnection(options.url);
    this.#reads = openPool(options.url, READ_CONNECTIONS, options.log);
    this.#callLog = new PostgresCallLog(this.#reads);
    this.#purger = new PostgresPurger(this.#reads, options.log);
    this.#commits = new GroupCommit(new PostgresFlushes(this.#writes), {
      maxWaitingRows: options.maxWaitingRows ?? 200_000,
      maxWaitingBytes: options.maxWaitingBytes ?? 32 * 1024 * 1024,
    });
  }

  static async open(options: PostgresStoreOptions): Promise<PostgresMeasurementStore> {
    const store = new PostgresMeasurementStore(options);
    try {
      await store.ping();
    } catch (error) {
      await Promise.all([store.#writes.end(), store.#reads.end()]);
      throw error;
    }
    store.#purger.start();
    return store;
  }

  append(receipt: Receipt): Promise<CommitPosition> {
    return this.#commits.append(receipt);
  }

  take(): Promise<() => void> {
    return Promise.resolve(() => {});
  }

  async latest(deviceKey: number, fieldKeys: number[]): Promise<LatestRow[]> {
    const rows = await this.#rows<[number, number, number | null, string | null]>({
      name: 'inlet-latest',
      text: `SELECT field_key, ts, number, text FROM unnest($2::int4[]) AS wanted (field_key) CROSS JOIN LATERAL (
               SELECT ts, number, text FROM measurement
               WHERE device_key = $1 AND field_key = wanted.field_key ORDER BY ts DESC LIMIT 1) AS found`,
      values: [deviceKey, [...new Set(fieldKeys)]],
    });
    return rows.map(([fieldKey, timestamp, number, text]) => ({ fieldKey, timestamp, value: toValue(number, text) }));
  }

  async range(query: RangeQuery): Promise<Columns> {
    const order = query.newestFirst ? 'DESC' : 'ASC';
    const rows = await this.#rows<[number, number | null, string | null]>({
      name: `inlet-range-${order}`,
      text: `SELECT ts, number, text FROM measurement
             WHERE device_key = $1 AND field_key = $2 AND ts >= $3 AND ts < $4 ORDER BY ts ${order} LIMIT $5`,
      values: [
        query.deviceKey,
        query.fieldKey,
        toBigint(query.from ?? -Infinity),
        toBigint(query.to ?? Infinity),
        query.limit,
      ],
    });
    return { timestamps: rows.map((row) => row[0]), values: rows.map((row) => toValue(row[1], row[2])) };
  }

  async lastHeard(deviceKeys: number[]): Promise<Map<number, number>> {
    const rows = await this.#rows<[number, number]>({
      text: 'SELECT device_key, last_heard_at FROM device_state WHERE device_key = ANY($1::int4[])',
      values: [deviceKeys],
    });
    return new Map(rows);
  }

  /** There is nothing to do: it is visible when it is acknowledged. */
  settle(): Promise<void> {
    return Promise.resolve();
  }

  async remove(query: RemoveQuery): Promise<number> {
    const where = 'device_key = $1 AND field_key = ANY($2::int4[]) AND ts >= $3 AND ts < $4';
    const values = [query.deviceKey, query.fieldKeys, toBigint(query.from), toBigint(query.to)];
    if (!query.dryRun) return this.#change(`DELETE FROM measurement WHERE ${where}`, values);
    const text = `SELECT count(*) FROM measurement WHERE ${where}`;
    const rows = await this.#rows<[number]>({ text, values, query_timeout: LONG_MS } as pg.QueryConfig);
    return rows[0]![0];
  }

  /** Resolves when it is written down what to forget; the forgetting goes on in the background. */
  async purge(purges: Purge[]): Promise<void> {
    if (purges.length > 0) await this.#purger.add(purges).catch(unavailable);
  }

  calls(query: CallQuery): Promise<CallRow[]> {
    return this.#callLog.find(query).catch(unavailable);
  }

  countCalls(query: CallFilter): Promise<number> {
    return this.#callLog.count(query).catch(unavailable);
  }

  call(productKey: number, id: string): Promise<CallRow | null> {
    return this.#callLog.get(productKey, id).catch(unavailable);
  }

  updateCall(call: CallOutcome): Promise<void> {
    return this.#callLog.update(call).catch(unavailable);
  }

  removeCalls(receivedBefore: number, productKey?: number): Promise<number> {
    return this.#callLog.remove(receivedBefore, productKey).catch(unavailable);
  }

  async ping(): Promise<void> {
    await this.#rows({ text: 'SELECT 1', values: [] });
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.#commits.stop();
    await this.#purger.stop();
    await Promise.all([this.#writes.end(), this.#reads.end()]);
  }

  async #rows<Row extends unknown[]>(query: pg.QueryConfig): Promise<Row[]> {
    const result = await this.#reads.query<Row>({ ...query, rowMode: 'array' }).catch(unavailable);
    return result.rows;
  }

  async #change(sql: string, values: unknown[]): Promise<number> {
    const statement: pg.QueryConfig & { query_timeout: number } = { text: sql, values, query_timeout: LONG_MS };
    const result = await this.#reads.query(statement).catch(unavailable);
    return result.rowCount ?? 0;
  }
}

function toValue(number: number | null, text: string | null): StoredValue {
  return number ?? text!;
}
