import type { CallCount, CallFilter, CallQuery, CallRow, CallStatus, DeviceKeys } from '../domain/ports/store.ts';
import { must } from '../must.ts';

/** The columns of `webhook_call`, in the order in which both stores write and read them. */
export const CALL_COLUMNS = [
  'id',
  'product_key',
  'received_at',
  'method',
  'path',
  'query',
  'headers',
  'body',
  'body_truncated',
  'status',
  'http_status',
  'decoder_version',
  'run',
  'stored',
] as const;

/** A row as both databases give it back, but for `body` and `body_truncated`. */
export interface CallRecord {
  id: string;
  product_key: number;
  received_at: number;
  method: string;
  path: string;
  query: string;
  headers: string;
  status: CallStatus;
  http_status: number;
  decoder_version: number | null;
  run: string | null;
  stored: string | null;
}

/** A row of `shared_value`. */
export interface OthersRow {
  deviceKey: number;
  fieldKey: number;
  ts: number;
  others: number;
}

/** A row of either database as the call it is; the body as text, whole or cut. */
export function toCallRow(row: CallRecord, body: string, bodyTruncated: boolean): CallRow {
  return {
    id: row.id,
    productKey: row.product_key,
    receivedAt: row.received_at,
    method: row.method,
    path: row.path,
    query: row.query,
    headers: row.headers,
    body,
    bodyTruncated,
    status: row.status,
    httpStatus: row.http_status,
    decoderVersion: row.decoder_version,
    run: row.run,
    stored: row.stored,
  };
}

/** A statement with its values; `placeholder` is the database's for its nth value, counted from 1. */
interface Statement {
  sql: string;
  values: (string | number)[];
}
type Placeholder = (n: number) => string;
type Bind = (value: string | number) => string;

/** The statement that answers the query. */
export function callSelect(query: CallQuery, placeholder: Placeholder): Statement {
  const values: (string | number)[] = [];
  const bind = (value: string | number): string => placeholder(values.push(value));
  const columns = CALL_COLUMNS.join(', ');
  const statuses = statusesOf(query);
  if (statuses.length === 1) return { sql: inOrder(columns, query, statuses[0], bind), values };
  const keys = ofEach('"key", id', query, statuses, bind);
  const sql = `SELECT ${columns} FROM webhook_call WHERE "key" IN (SELECT "key" FROM (${keys}) AS asked) ${tail(query, bind)}`;
  return { sql, values };
}

/** The statement that counts what the query would bring: a row of `count`, `first` and `last`. */
export function callCount(query: CallQuery, placeholder: Placeholder): Statement {
  const values: (string | number)[] = [];
  const bind = (value: string | number): string => placeholder(values.push(value));
  const ids = ofEach('id', query, statusesOf(query), bind);
  const [first, last] = query.oldestFirst ? ['min', 'max'] : ['max', 'min'];
  return {
    sql: `SELECT count(*) AS count, ${first}(id) AS first, ${last}(id) AS last FROM (${ids}) AS asked`,
    values,
  };
}

/** The answer to such a statement; PostgreSQL gives a bigint as text. */
export function toCallCount(row: (Omit<CallCount, 'count'> & { count: number | string }) | undefined): CallCount {
  return { count: Number(row?.count ?? 0), first: row?.first ?? null, last: row?.last ?? null };
}

/** undefined: of any status. */
function statusesOf({ statuses }: CallFilter): (CallStatus | undefined)[] {
  return statuses === undefined ? [undefined] : [...new Set(statuses)];
}

/** Selects each status by itself, by an index in order: several together would all be read and sorted for a page. */
function ofEach(columns: string, query: CallQuery, statuses: (CallStatus | undefined)[], bind: Bind): string {
  if (statuses.length === 0) return `SELECT ${columns} FROM webhook_call WHERE 1 = 0`;
  const each = statuses.map((status) => `SELECT * FROM (${inOrder(columns, query, status, bind)}) AS of_status`);
  if (each.length === 1) return must(each[0]);
  return `SELECT ${columns} FROM (${each.join(' UNION ALL ')}) AS of_all ${tail(query, bind)}`;
}

function inOrder(columns: string, query: CallQuery, status: CallStatus | undefined, bind: Bind): string {
  const where = [`product_key = ${bind(query.productKey)}`];
  if (status !== undefined) where.push(`status = ${bind(status)}`);
  // Compared by id, which begins with the receipt time: the index on it serves the order as well.
  if (query.from !== undefined) where.push(`id >= ${bind(firstIdAt(query.from))}`);
  if (query.to !== undefined) where.push(`id < ${bind(firstIdAt(query.to))}`);
  if (query.after !== undefined) where.push(`id ${query.oldestFirst ? '>' : '<'} ${bind(query.after)}`);
  return `SELECT ${columns} FROM webhook_call WHERE ${where.join(' AND ')} ${tail(query, bind)}`;
}

function tail({ oldestFirst, limit }: CallQuery, bind: Bind): string {
  return `ORDER BY id ${oldestFirst ? 'ASC' : 'DESC'} LIMIT ${bind(limit)}`;
}

/** The smallest UUIDv7 of a millisecond. */
function firstIdAt(time: number): string {
  const hex = Math.min(Math.max(0, Math.ceil(time)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** `others` of `KnownValues` for each device: 0 where there is no row. */
export function othersOf(keys: readonly DeviceKeys[], rows: readonly OthersRow[]): number[][] {
  const found = new Map(rows.map(({ deviceKey, fieldKey, ts, others }) => [`${deviceKey} ${fieldKey} ${ts}`, others]));
  return keys.map(({ deviceKey, fieldKeys, timestamps }) =>
    fieldKeys.map((fieldKey, at) => found.get(`${deviceKey} ${fieldKey} ${timestamps[at]}`) ?? 0),
  );
}
