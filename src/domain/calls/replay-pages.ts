import { badInput, notFound } from '../../errors.ts';
import type { CallQuery, CallRow, CallStatus, MeasurementStore } from '../measurements/store.ts';

/** Which calls: those that fit all that is given, every one in the log when nothing is. Times in milliseconds. */
export interface ReplayQuery {
  callIds?: string[] | null | undefined;
  /** Receipt time, inclusive / exclusive. */
  from?: number | null | undefined;
  to?: number | null | undefined;
  status?: CallStatus[] | null | undefined;
  /** Reports what would be stored; stores nothing and leaves the log as it is. */
  dryRun?: boolean | null | undefined;
}

const PAGE = 100;
const MAX_CALL_IDS = 1_000;

/** The calls, oldest first and page by page; none received after `received`: the active decoder has had those. */
export async function* replayPages(
  store: MeasurementStore,
  productKey: number,
  { callIds, from, to, status }: ReplayQuery,
  received: number,
): AsyncGenerator<CallRow[]> {
  if (callIds != null) {
    const rows = (await namedCalls(store, productKey, callIds)).filter(
      (row) =>
        (from == null || row.receivedAt >= from) &&
        (to == null || row.receivedAt < to) &&
        (status == null || status.includes(row.status)),
    );
    for (let at = 0; at < rows.length; at += PAGE) yield rows.slice(at, at + PAGE);
    return;
  }
  const query: CallQuery = {
    productKey,
    to: Math.min(to ?? Number.MAX_SAFE_INTEGER, received + 1),
    oldestFirst: true,
    limit: PAGE,
  };
  if (from != null) query.from = from;
  if (status != null) query.statuses = status;
  for (;;) {
    const page = await store.calls(query);
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    query.after = last.id;
  }
}

/** NOT_FOUND when one of the ids is no call of the product. */
async function namedCalls(store: MeasurementStore, productKey: number, callIds: string[]): Promise<CallRow[]> {
  if (callIds.length > MAX_CALL_IDS) throw badInput(`callIds: at most ${MAX_CALL_IDS}; use from and to for more.`);
  const ids = [...new Set(callIds.map((id) => id.toLowerCase()))].sort();
  const rows: CallRow[] = [];
  for (const id of ids) {
    const row = id.includes('\0') ? null : await store.call(productKey, id);
    if (row === null) throw notFound('call', id);
    rows.push(row);
  }
  return rows;
}
