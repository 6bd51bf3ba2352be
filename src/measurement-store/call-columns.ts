import type { CallFilter, CallQuery, CallRow, CallStatus } from '../domain/measurements/store.ts';

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
] as const;

/** What a replay changes of a call. */
export type CallOutcome = Pick<CallRow, 'productKey' | 'id' | 'status' | 'decoderVersion' | 'run'>;

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
  };
}

/** The statement that answers the query; `placeholder` is the database's for its nth value, counted from 1. */
export function callSelect(
  query: CallQuery,
  placeholder: (n: number) => string,
): { sql: string; values: (string | number)[] } {
  const values: (string | number)[] = [];
  const bind = (value: string | number): string => placeholder(values.push(value));
  const where = conditions(query, bind);
  if (query.after !== undefined) where.push(`id ${query.oldestFirst ? '>' : '<'} ${bind(query.after)}`);
  const order = query.oldestFirst ? 'ASC' : 'DESC';
  const sql = `SELECT ${CALL_COLUMNS.join(', ')} FROM webhook_call WHERE ${where.join(' AND ')} ORDER BY id ${order} LIMIT ${bind(query.limit)}`;
  return { sql, values };
}

/** The statement that counts what the filter lets through. */
export function callCount(
  filter: CallFilter,
  placeholder: (n: number) => string,
): { sql: string; values: (string | number)[] } {
  const values: (string | number)[] = [];
  const where = conditions(filter, (value) => placeholder(values.push(value)));
  return { sql: `SELECT count(*) AS count FROM webhook_call WHERE ${where.join(' AND ')}`, values };
}

function conditions(filter: CallFilter, bind: (value: string | number) => string): string[] {
  const where = [`product_key = ${bind(filter.productKey)}`];
  if (filter.statuses)
    where.push(filter.statuses.length ? `status IN (${filter.statuses.map(bind).join(', ')})` : '1 = 0');
  // By id, which begins with the receipt time: the index on it serves the order as well.
  if (filter.from !== undefined) where.push(`id >= ${bind(firstIdAt(filter.from))}`);
  if (filter.to !== undefined) where.push(`id < ${bind(firstIdAt(filter.to))}`);
  return where;
}

/** The smallest UUIDv7 of a millisecond. */
function firstIdAt(time: number): string {
  const hex = Math.min(Math.max(0, Math.ceil(time)), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}
