import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { request } from '../../api/request.ts';
import { useAction } from '../../api/use-action.ts';
import { useLive } from '../../api/use-live.ts';
import { type CallParts, CallsLive, CallsPage } from '../../decoding/decoding.graphql.ts';
import { type CallFilter, passes } from './call-filter.ts';

/** The log begins with so many calls; older ones are fetched page by page. */
const LAST = 200;
const PAGE = 100;
/** Of calls in memory; the oldest go. */
const MAX_CALLS = 3_000;
/** Calls that arrive within this time are drawn together. */
const TOGETHER_MS = 100;

/** The call log of a product on this page. */
interface CallLog {
  /** Newest first, those that pass the filter. */
  calls: readonly CallParts[];
  /** How many are in memory, whether they pass or not. */
  loaded: number;
  /** How many came, or were changed, while the log was paused. */
  waiting: number;
  /** Fetches calls of the filter that are older than those shown. */
  older: { run: () => Promise<boolean>; busy: boolean; error: string | null };
  /** Whether there may be older ones. */
  hasOlder: boolean;
}

/** Follows the log: the last calls, then each as it comes; while paused they wait. */
export function useCallLog(productId: string, filter: CallFilter, isPaused: boolean): CallLog {
  const known = useRef(new Map<string, CallParts>());
  const held = useRef(new Map<string, CallParts>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const [revision, setRevision] = useState(0);
  const [ended, setEnded] = useState<string | null>(null);
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
  useLive(
    CallsLive,
    { productId, last: LAST },
    {
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
  const calls = useMemo(
    () => newestFirst(known.current.values()).filter((call) => passes(filter, call)),
    [revision, filter],
  );
  const isNarrowed = filter.statuses.length > 0 || filter.from !== null || filter.to !== null;
  const asked = JSON.stringify([filter.statuses, filter.from, filter.to]);
  const older = useAction(async () => {
    const oldest = calls.at(-1);
    // Of the same millisecond there may be more.
    const to = oldest === undefined ? filter.to : Date.parse(oldest.receivedAt) + 1;
    const { product } = await request(CallsPage, {
      productId,
      first: PAGE,
      status: filter.statuses.length === 0 ? null : filter.statuses,
      from: filter.from === null ? null : new Date(filter.from).toISOString(),
      to: to === null ? null : new Date(to).toISOString(),
    });
    take(product.calls.edges.map(({ node }) => node));
    if (!product.calls.pageInfo.hasNextPage) setEnded(asked);
  });
  // What is asked of the server, not of what is here: the last calls alone may hold none of them.
  useEffect(() => {
    if (isNarrowed) void older.run();
  }, [asked]);
  const isWhole = !isNarrowed && known.current.size < LAST;
  const hasOlder = ended !== asked && !isWhole && known.current.size < MAX_CALLS;
  return { calls, loaded: known.current.size, waiting: held.current.size, older, hasOlder };
}

function newestFirst(calls: Iterable<CallParts>): CallParts[] {
  return [...calls].sort((a, b) =>
    a.receivedAt === b.receivedAt ? compare(b.id, a.id) : compare(b.receivedAt, a.receivedAt),
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
