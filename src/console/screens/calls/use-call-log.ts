import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLive } from '../../api/use-live.ts';
import { type CallParts, CallsLive } from '../../decoding/decoding.graphql.ts';
import { type CallFilter, isOutlined, passes } from './call-filter.ts';
import { type CallSearch, useCallSearch } from './use-call-search.ts';

/** Calls that the subscription repeats, so that none is lost between the search and the live calls. */
const LAST = 20;
/** Maximum live calls kept; the oldest are dropped. */
const MAX_CALLS = 3_000;
/** Time within which arriving calls are drawn together. */
const TOGETHER_MS = 100;

/** The call log of a product on this page. */
interface CallLog {
  /** Matching calls, newest first. */
  calls: readonly CallParts[];
  /** True when no call has come at all, as far as known. */
  isEmpty: boolean;
  /** Number of matching calls that arrived during a pause. */
  waiting: number;
  search: CallSearch;
}

/** Follows the log: the server's search results, and live calls; during a pause its end stays. */
export function useCallLog(productId: string, filter: CallFilter, isPaused: boolean): CallLog {
  const known = useRef(new Map<string, CallParts>());
  const held = useRef(new Map<string, CallParts>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [revision, setRevision] = useState(0);
  const tell = (): void => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setRevision((before) => before + 1);
    }, TOGETHER_MS);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (calls: Iterable<CallParts>): void => {
    for (const call of calls) known.current.set(call.id, call);
    if (known.current.size > MAX_CALLS)
      for (const { id } of newestFirst(known.current.values()).slice(MAX_CALLS)) known.current.delete(id);
    tell();
  };
  const search = useCallSearch(productId, filter);
  // Wait for the search: the repeated calls come oldest first, and each would push down the others.
  const hasFound = useRef(false);
  hasFound.current ||= !search.busy || search.calls.length > 0;
  useLive(
    CallsLive,
    { productId, last: LAST },
    {
      missed: search.anew,
      next: ({ webhookCalled: call }) => {
        if (!isPaused) return take([call]);
        held.current.set(call.id, call);
        for (const id of held.current.keys()) {
          if (held.current.size <= MAX_CALLS) break;
          held.current.delete(id);
        }
        tell();
      },
    },
  );
  useEffect(() => {
    if (isPaused) return;
    take(held.current.values());
    held.current.clear();
  }, [isPaused]);
  // A search during a pause also finds newer calls: hide them.
  const end = useMemo(
    () => (isPaused ? newestFirst([...known.current.values(), ...search.calls])[0] : undefined),
    [isPaused],
  );
  const isSince = (call: CallParts): boolean => end !== undefined && order(call, end) < 0;
  const calls = useMemo(() => {
    if (!hasFound.current) return [];
    // Match found calls by outcome only, the one property that live events change: the server has matched the rest.
    const found = new Map(search.calls.map((call) => [call.id, known.current.get(call.id) ?? call]));
    const fits = search.key === JSON.stringify(filter) ? isOutlined : passes;
    const shown = [...found.values()].filter((call) => !isSince(call) && fits(filter, call));
    for (const call of known.current.values()) if (!found.has(call.id) && passes(filter, call)) shown.push(call);
    return newestFirst(shown);
  }, [revision, filter, search.key, search.calls, end, hasFound.current]);
  const isEmpty = known.current.size === 0 && search.calls.length === 0;
  const waiting = [...held.current.values()].filter(
    (call) => (end === undefined || isSince(call)) && passes(filter, call),
  ).length;
  return { calls, isEmpty, waiting, search };
}

function newestFirst(calls: Iterable<CallParts>): CallParts[] {
  return [...calls].sort(order);
}

/** Compares two calls; below 0: the first one is newer. */
function order(a: CallParts, b: CallParts): number {
  return a.receivedAt === b.receivedAt ? compare(b.id, a.id) : compare(b.receivedAt, a.receivedAt);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
