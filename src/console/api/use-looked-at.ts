import { useEffect } from 'preact/hooks';
import type { Operation } from './operation.ts';
import { request } from './request.ts';
import { type QueryState, useQuery } from './use-query.ts';

/**
 * The answer to a query, asked again every so often while the page is seen, for what no subscription tells; `variables`
 * null asks nothing.
 */
export function useLookedAt<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables | null,
  everyMs: number,
): QueryState<Data> {
  const query = useQuery(operation, variables);
  const key = variables === null ? null : JSON.stringify(variables);
  useEffect(() => {
    if (key === null) return;
    const stop = new AbortController();
    const look = (): void => {
      if (document.visibilityState !== 'visible') return;
      request(operation, JSON.parse(key) as Variables, stop.signal).then(
        (data) => !stop.signal.aborted && query.change(() => data),
        // The next look asks again.
        () => {},
      );
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      stop.abort();
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [operation, key, everyMs]);
  return query;
}
