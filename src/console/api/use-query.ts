import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api-error.ts';
import { whileSyncing } from './connection.ts';
import type { Operation } from './operation.ts';
import { isToldReachable } from './reachable.ts';
import { request } from './request.ts';

const MAX_REMEMBERED = 40;
const AGAIN_MS = 3_000;

/** The last answer to each query, so that going back shows it at once; the oldest is evicted. */
const remembered = new Map<string, unknown>();

/** Forgets every answer, as when another person signs in. */
export function forgetAnswers(): void {
  remembered.clear();
  ahead.clear();
}

const AHEAD_MS = 10_000;

/** Answers requested before their screen is drawn. */
const ahead = new Map<string, Promise<unknown>>();

/** Requests a screen's data in advance: the screen gets this answer if it asks within ten seconds. */
export function askAhead<Data, Variables>(operation: Operation<Data, Variables>, variables: Variables): void {
  const key = keyOf(operation, variables);
  const answer = request(operation, variables);
  // Errors reach the screen that takes the answer.
  answer.catch(() => {});
  ahead.set(key, answer);
  setTimeout(() => ahead.delete(key), AHEAD_MS);
}

function takeAhead<Data>(key: string, ask: () => Promise<Data>): Promise<Data> {
  const early = ahead.get(key) as Promise<Data> | undefined;
  ahead.delete(key);
  return early ?? ask();
}

function keyOf<Data, Variables>(operation: Operation<Data, Variables>, variables: Variables): string {
  return operation.text + JSON.stringify(variables);
}

/** State of a query: the old `data` stays while new data is fetched, so that nothing jumps. */
export interface QueryState<Data> {
  data: Data | null;
  /** Error of the latest attempt; null once it has succeeded, and where the page tells that there is no server. */
  error: ApiError | null;
  /** True while a request is in progress. */
  loading: boolean;
  /** True when `data` answers the present variables. */
  fresh: boolean;
  /** Fetches again; resolves when answered, whatever the answer. */
  refetch: () => Promise<void>;
  /** Replaces the data, as after a mutation or a pushed event. */
  change: (next: (data: Data) => Data) => void;
}

interface Held<Data> {
  key: string | null;
  data: Data | null;
  error: ApiError | null;
  loading: boolean;
}

/** Runs a query whenever its variables change; `variables` null asks nothing. Retries by itself when offline. */
export function useQuery<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables | null,
): QueryState<Data> {
  const key = variables === null ? null : keyOf(operation, variables);
  const [held, setHeld] = useState<Held<Data>>(() => ({
    key: key !== null && remembered.has(key) ? key : null,
    data: key === null ? null : ((remembered.get(key) as Data | undefined) ?? null),
    error: null,
    loading: key !== null,
  }));
  const asking = useRef<AbortController | null>(null);
  const ask = useCallback(async (): Promise<void> => {
    if (key === null || variables === null) return;
    asking.current?.abort();
    const asked = (asking.current = new AbortController());
    const { signal } = asked;
    const known = remembered.get(key) as Data | undefined;
    setHeld((before) => ({
      key: known === undefined ? before.key : key,
      data: known ?? before.data,
      error: before.error,
      loading: true,
    }));
    try {
      const data = await whileSyncing(takeAhead(key, () => request(operation, variables, signal)));
      if (signal.aborted) return;
      remember(key, data);
      setHeld({ key, data, error: null, loading: false });
    } catch (error) {
      if (signal.aborted) return;
      const said = error instanceof ApiError ? error : new ApiError('UNKNOWN', String(error));
      const isTold = said.code === 'OFFLINE' && isToldReachable();
      setHeld((before) => ({ ...before, error: isTold ? null : said, loading: isTold }));
      if (said.code === 'OFFLINE' || said.code === 'UNAVAILABLE') {
        const timer = setTimeout(() => void ask(), AGAIN_MS);
        signal.addEventListener('abort', () => clearTimeout(timer));
      }
    }
  }, [operation, key]);
  // Ask before the empty state is painted.
  useLayoutEffect(() => {
    void ask();
    return () => asking.current?.abort();
  }, [ask]);
  const change = useCallback(
    (next: (data: Data) => Data) =>
      setHeld((before) => {
        if (before.data === null) return before;
        const data = next(before.data);
        if (before.key !== null) remember(before.key, data);
        return { ...before, data };
      }),
    [],
  );
  const { data, error, loading } = held;
  return { data, error, loading, fresh: held.key === key, refetch: ask, change };
}

function remember(key: string, data: unknown): void {
  remembered.delete(key);
  remembered.set(key, data);
  for (const oldest of remembered.keys()) {
    if (remembered.size <= MAX_REMEMBERED) return;
    remembered.delete(oldest);
  }
}
