import type pg from 'pg';
import type {
  Batch,
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
  WriteTurns,
} from '../domain/measurements/store.ts';
import { CALL_COLUMNS, type CallRecord, callSelect, toCallRow } from './call-columns.ts';
import { callBytes } from './check-receipt.ts';
import { type FlushTarget, GroupCommit, toSortable } from './group-commit.ts';
import { PostgresFlush } from './postgres-flush.ts';
import { openPool } from './postgres-pool.ts';
import { PostgresPurger } from './postgres-purger.ts';
import type { StoreLog } from './store-log.ts';
import { unavailable } from './unavailable.ts';

export interface PostgresStoreOptions {
  /** Of a database whose migrations have run. */
  url: string;
  log?: StoreLog;
  /** Default 200,000. */
  maxWaitingRows?: number;
  /** Default 64 MiB. */
  maxWaitingBytes?: number;
}

const READ_CONNECTIONS = 6;
const CALLS_A_CHUNK = 500;
/** Serialization failure, deadlock: nothing was stored, and the same again will do. */
const WORTH_A_RETRY = new Set(['40001', '40P01']);

type CallOutcome = Parameters<MeasurementStore['updateCall']>[0];
type PostgresCallRecord = CallRecord & { body: Buffer; body_truncated: boolean };

/**
 * The measurement store on PostgreSQL: every flush is one statement, so what is acknowledged is in `measurement`.
 * Everything that fails in the database rejects with AppError UNAVAILABLE, its reason as `cause`. If the connection is
 * lost during a commit, its receipts are refused though they may have been stored: sending them again is harmless.
 */
export class PostgresMeasurementStore implements MeasurementStore, WriteTurns {
  readonly #writes: pg.Pool;
  readonly #reads: pg.Pool;
  readonly #commits: GroupCommit;
  readonly #purger: PostgresPurger;
  #stopped: Promise<void> | null = null;

  private constructor(options: PostgresStoreOptions) {
    this.#writes = openPool(options.url, 1, options.log);
    this.#reads = openPool(options.url, READ_CONNECTIONS, options.log);
    this.#purger = new PostgresPurger(this.#reads, options.log);
    this.#commits = new GroupCommit(new PostgresFlushes(this.#writes), {
      maxWaitingRows: options.maxWaitingRows ?? 200_000,
      maxWaitingBytes: options.maxWaitingBytes ?? 64 * 1024 * 1024,
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
    const rows = await this.#rows<[number]>({ text: `SELECT count(*) FROM measurement WHERE ${where}`, values });
    return rows[0]![0];
  }

  /** Resolves when it is written down what to forget; the forgetting goes on in the background. */
  async purge(purges: Purge[]): Promise<void> {
    if (purges.length > 0) await this.#purger.add(purges).catch(unavailable);
  }

  async calls(query: CallQuery): Promise<CallRow[]> {
    const { sql, values } = callSelect(query, (n) => `$${n}`);
    return this.#calls(sql, values);
  }

  async call(productKey: number, id: string): Promise<CallRow | null> {
    const select = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call WHERE product_key = $1 AND id = $2`;
    return (await this.#calls(select, [productKey, id]))[0] ?? null;
  }

  async updateCall(call: CallOutcome): Promise<void> {
    await this.#change(
      'UPDATE webhook_call SET status = $3, decoder_version = $4, run = $5 WHERE product_key = $1 AND id = $2',
      [call.productKey, call.id, call.status, call.decoderVersion, call.run],
    );
  }

  async removeCalls(receivedBefore: number, productKey?: number): Promise<number> {
    const ofProduct = productKey === undefined ? '' : 'AND product_key = $2';
    const sql = `DELETE FROM webhook_call WHERE key = ANY(ARRAY(
                   SELECT key FROM webhook_call WHERE received_at < $1 ${ofProduct} LIMIT ${CALLS_A_CHUNK}))`;
    const values = productKey === undefined ? [toBigint(receivedBefore)] : [toBigint(receivedBefore), productKey];
    let removed = 0;
    for (;;) {
      const some = await this.#change(sql, values);
      removed += some;
      if (some < CALLS_A_CHUNK) return removed;
    }
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
    const result = await this.#reads.query(sql, values).catch(unavailable);
    return result.rowCount ?? 0;
  }

  async #calls(sql: string, values: unknown[]): Promise<CallRow[]> {
    const result = await this.#reads.query<PostgresCallRecord>(sql, values).catch(unavailable);
    return result.rows.map((row) => toCallRow(row, row.body.toString('utf8'), row.body_truncated));
  }
}

/** Gathers receipts and sends them as one statement. */
class PostgresFlushes implements FlushTarget {
  readonly #pool: pg.Pool;
  readonly #flush = new PostgresFlush();
  readonly #openedAt = Date.now();
  #batches: Batch[] = [];
  #calls: CallRow[] = [];
  #count = 0;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  gather(receipt: Receipt): number {
    let bytes = 0;
    for (const batch of receipt.batches) {
      this.#batches.push(batch);
      bytes += 100;
      for (const value of batch.values) bytes += typeof value === 'number' ? 24 : 40 + value.length * 2;
    }
    if (!receipt.call) return bytes;
    this.#calls.push(receipt.call);
    return bytes + callBytes(receipt.call);
  }

  async flush(): Promise<string> {
    const batches = this.#batches;
    const calls = this.#calls;
    this.#batches = [];
    this.#calls = [];
    await this.#run(this.#flush.statement(batches, calls)).catch(unavailable);
    // In the order of this node's commits since it started. Nodes are not ordered among each other: live values that
    // resume will need a place in an order that the database keeps.
    return `${toSortable(this.#openedAt, 9)}.${toSortable(this.#count++, 9)}`;
  }

  async #run(statement: pg.QueryConfig): Promise<void> {
    try {
      await this.#pool.query(statement);
    } catch (error) {
      if (!WORTH_A_RETRY.has((error as { code?: string }).code ?? '')) throw error;
      await this.#pool.query(statement);
    }
  }
}

function toValue(number: number | null, text: string | null): StoredValue {
  return number ?? text!;
}

/** For comparing with integers: rounding up keeps both `>=` and `<` right. */
function toBigint(time: number): number {
  return Math.min(Math.max(Math.ceil(time), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}
