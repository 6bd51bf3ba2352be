import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api-error.ts';
import { whileSyncing } from './connection.ts';
import type { Operation } from './operation.ts';
import { request } from './request.ts';

const MAX_REMEMBERED = 40;
const AGAIN_MS = 3_000;

/** What was answered last to each query, so that going back shows at once what was there; the oldest goes. */
const remembered = new Map<string, unknown>();

/** Forgets every answer, as when somebody else signs in. */
export function forgetAnswers(): void {
  remembered.clear();
  ahead.clear();
}

const AHEAD_MS = 10_000;

/** What was asked for before somebody drew it. */
const ahead = new Map<string, Promise<unknown>>();

/** Asks for what a screen is about to ask for: if that is within ten seconds, it gets this answer. */
export function askAhead<Data, Variables>(operation: Operation<Data, Variables>, variables: Variables): void {
  const key = keyOf(operation, variables);
  const answer = request(operation, variables);
  // Whoever takes it is told.
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

/** A query's state: `data` of before stays while new data is fetched, so that nothing jumps. */
interface QueryState<Data> {
  data: Data | null;
  /** Of the latest attempt; null once it has succeeded. */
  error: ApiError | null;
  /** Whether a request is under way. */
  loading: boolean;
  /** Whether `data` answers the variables of now, not those of before. */
  fresh: boolean;
  /** Asks again; resolves when answered, whatever the answer. */
  refetch: () => Promise<void>;
  /** Puts other data in place, as after a mutation or a pushed event. */
  change: (next: (data: Data) => Data) => void;
}

interface Held<Data> {
  key: string | null;
  data: Data | null;
  error: ApiError | null;
  loading: boolean;
}

/** Runs a query whenever its variables change; `variables` null asks nothing. Offline it tries again by itself. */
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
      setHeld((before) => ({ ...before, error: said, loading: false }));
      if (said.code === 'OFFLINE' || said.code === 'UNAVAILABLE') {
        const timer = setTimeout(() => void ask(), AGAIN_MS);
        signal.addEventListener('abort', () => clearTimeout(timer));
      }
    }
  }, [operation, key]);
  // Before it is painted that nothing is there yet.
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
