import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useLive } from '../../api/use-live.ts';
import { type CallParts, CallsLive } from '../../decoding/decoding.graphql.ts';
import { type CallFilter, isOutlined, passes } from './call-filter.ts';
import { type CallSearch, useCallSearch } from './use-call-search.ts';

/** So many are told again, so that none falls between what the server has found and what comes live. */
const LAST = 20;
/** Of calls that came live; the oldest go. */
const MAX_CALLS = 3_000;
/** Calls that arrive within this time are drawn together. */
const TOGETHER_MS = 100;

/** The call log of a product on this page. */
interface CallLog {
  /** Newest first, those that pass the filter. */
  calls: readonly CallParts[];
  /** Whether no call has come at all, as far as is known. */
  isEmpty: boolean;
  /** How many came while the log was paused, of those that pass the filter. */
  waiting: number;
  search: CallSearch;
}

/** Follows the log: what the server finds in it, and each call as it comes; while paused it ends where it ended then. */
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
  // The last calls come live from the oldest on: drawn before what the server has found, each would push down those below.
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
  // What is looked for while the log is paused finds what came since, too.
  const end = useMemo(
    () => (isPaused ? newestFirst([...known.current.values(), ...search.calls])[0] : undefined),
    [isPaused],
  );
  const isSince = (call: CallParts): boolean => end !== undefined && order(call, end) < 0;
  const calls = useMemo(() => {
    if (!hasFound.current) return [];
    // The server has looked into those that it found; only how they ended can have changed since, as live ones say.
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

/** Below 0: the first one is newer. */
function order(a: CallParts, b: CallParts): number {
  return a.receivedAt === b.receivedAt ? compare(b.id, a.id) : compare(b.receivedAt, a.receivedAt);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
