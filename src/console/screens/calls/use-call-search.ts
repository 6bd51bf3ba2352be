import { useEffect, useRef, useState } from 'preact/hooks';
import { wordsOf } from '../../api/api-error.ts';
import { whileSyncing } from '../../api/connection.ts';
import type { DataOf } from '../../api/operation.ts';
import { request } from '../../api/request.ts';
import { type CallParts, SearchCalls } from '../../decoding/decoding.graphql.ts';
import { useLater } from '../../parts/use-later.ts';
import type { CallFilter } from './call-filter.ts';

const PAGE = 100;
/** Maximum steps of searching before the user has to continue it. */
const MOST_STEPS = 5;
/** Maximum calls found; then the filter should be narrowed. */
export const MOST_FOUND = 3_000;
const SETTLE_MS = 300;

/** Results of the server's search so far, newest first, and its progress. */
export interface CallSearch {
  /** The filter of the results, as JSON: it follows typing with a short delay. */
  key: string;
  calls: readonly CallParts[];
  lookedThrough: number;
  /** Receipt time of the last searched call; null: not begun. */
  reachedAt: string | null;
  /** True when the log may hold more. */
  hasMore: boolean;
  busy: boolean;
  error: string | null;
  /** Continues the search. */
  further: () => void;
  /** Searches again from the newest calls. */
  anew: () => void;
}

interface Progress extends Omit<CallSearch, 'further' | 'anew'> {
  next: string | null;
}

/** Searches the log on the server with the filter, newest first: at once, and again whenever it changes. */
export function useCallSearch(productId: string, filter: CallFilter): CallSearch {
  const key = useLater(JSON.stringify(filter), SETTLE_MS);
  const [state, setState] = useState<Progress>(() => nothingOf(key));
  const progress = state.key === key ? state : nothingOf(key);
  const asking = useRef<AbortController | null>(null);
  const go = async (from: Progress, meanwhile: readonly CallParts[]): Promise<void> => {
    asking.current?.abort();
    const { signal } = (asking.current = new AbortController());
    let now: Progress = { ...from, busy: true, error: null };
    setState({ ...now, calls: meanwhile });
    try {
      for (let step = 0, gained = 0; step < MOST_STEPS && gained < PAGE && isOpen(now); step += 1) {
        const variables = asked(productId, JSON.parse(from.key) as CallFilter, now.next);
        const { product }: DataOf<typeof SearchCalls> = await whileSyncing(request(SearchCalls, variables, signal));
        const { calls, lookedThrough, reachedAt, next } = product.searchCalls;
        gained += calls.length;
        now = {
          ...now,
          calls: [...now.calls, ...calls],
          lookedThrough: now.lookedThrough + lookedThrough,
          reachedAt: reachedAt ?? now.reachedAt,
          next,
          hasMore: next !== null,
        };
        setState(now);
      }
      setState({ ...now, busy: false });
    } catch (error) {
      if (!signal.aborted) setState({ ...now, busy: false, error: wordsOf(error) });
    }
  };
  useEffect(() => {
    void go(nothingOf(key), []);
    return () => asking.current?.abort();
  }, [productId, key]);
  return {
    ...progress,
    further: () => void go(progress, progress.calls),
    anew: () => void go(nothingOf(key), progress.calls),
  };
}

/** True when continuing the search makes sense. */
export function isOpen({ hasMore, calls }: Pick<CallSearch, 'hasMore' | 'calls'>): boolean {
  return hasMore && calls.length < MOST_FOUND;
}

function nothingOf(key: string): Progress {
  const none = { calls: [], lookedThrough: 0, reachedAt: null, next: null, error: null };
  return { key, ...none, hasMore: true, busy: true };
}

function asked(productId: string, { statuses, from, to, text, device }: CallFilter, after: string | null) {
  return {
    productId,
    text: text === '' ? null : text,
    device: device === '' ? null : device,
    status: statuses.length === 0 ? null : statuses,
    from: from === null ? null : new Date(from).toISOString(),
    to: to === null ? null : new Date(to).toISOString(),
    first: PAGE,
    after,
  };
}
