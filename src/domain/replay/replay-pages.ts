import { badInput, notFound } from '../../errors.ts';
import type { CallQuery, CallRow, CallStatus, MeasurementStore } from '../ports/store.ts';

/** A filter of calls: all given conditions must hold; without any it matches the whole log. Times in milliseconds. */
export interface ReplayQuery {
  callIds?: string[] | null | undefined;
  /** Receipt time, inclusive / exclusive. */
  from?: number | null | undefined;
  to?: number | null | undefined;
  status?: CallStatus[] | null | undefined;
  /** Reports what would be stored; stores nothing and leaves the log as it is. */
  dryRun?: boolean | null | undefined;
}

/** Calls per page: each may have half a megabyte, and stays in memory until it is replayed. */
const PAGE = 10;
const MAX_CALL_IDS = 1_000;

/**
 * The calls, oldest first and page by page, without those received after `received`, which the active decoder has run.
 * Named calls that were deleted meanwhile are left out.
 */
export async function* replayPages(
  store: MeasurementStore,
  productKey: number,
  { callIds, from, to, status }: ReplayQuery,
  received: number,
): AsyncGenerator<CallRow[]> {
  if (callIds != null) {
    const isAsked = (row: CallRow): boolean =>
      (from == null || row.receivedAt >= from) &&
      (to == null || row.receivedAt < to) &&
      (status == null || status.includes(row.status));
    const ids = await namedCalls(store, productKey, callIds, isAsked);
    for (let at = 0; at < ids.length; at += PAGE) {
      const page: CallRow[] = [];
      for (const id of ids.slice(at, at + PAGE)) {
        const row = await store.call(productKey, id);
        if (row !== null) page.push(row);
      }
      if (page.length > 0) yield page;
    }
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

/** The ids of the matching calls, in their order; NOT_FOUND when a given one is no call of the product. */
async function namedCalls(
  store: MeasurementStore,
  productKey: number,
  callIds: string[],
  isAsked: (row: CallRow) => boolean,
): Promise<string[]> {
  if (callIds.length > MAX_CALL_IDS) throw badInput(`callIds: at most ${MAX_CALL_IDS}; use from and to for more.`);
  const asked: string[] = [];
  for (const id of [...new Set(callIds.map((given) => given.toLowerCase()))].sort()) {
    const row = id.includes('\0') ? null : await store.call(productKey, id);
    if (row === null) throw notFound('call', id);
    // Keep ids instead of calls: a thousand calls may have half a gigabyte.
    if (isAsked(row)) asked.push(id);
  }
  return asked;
}
