import { useEffect, useRef } from 'preact/hooks';
import { errorOf } from './api-error.ts';
import { connection, onConnected } from './connection.ts';
import type { Operation } from './operation.ts';

interface LiveHandlers<Data> {
  /** One pushed event. */
  next: (data: Data) => void;
  /** Position in the stream, for operations with cursors: after a reconnection it continues there (`$after`). */
  cursorOf?: (data: Data) => string;
  /** Called when events were missed, or may have been: fetch the shown data again. */
  missed?: () => void;
}

const AGAIN_MS = 2_000;

/**
 * Follows a subscription while the component is mounted, across reconnections; `variables` null follows nothing. Always
 * calls the latest handlers.
 */
export function useLive<Data, Variables extends object>(
  operation: Operation<Data, Variables>,
  variables: Variables | null,
  handlers: LiveHandlers<Data>,
): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  const key = variables === null ? null : JSON.stringify(variables);
  useEffect(() => {
    if (key === null) return;
    return follow(operation, JSON.parse(key) as Variables, latest);
  }, [operation, key]);
}

function follow<Data, Variables extends object>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  handlers: { current: LiveHandlers<Data> },
): () => void {
  let stopped = false;
  let stop = (): void => {};
  let again: ReturnType<typeof setTimeout> | undefined;
  // Sent again on each connection, so the cursor in it moves along.
  const sent: Variables & { after?: string } = { ...variables };
  let connections = 0;
  // Without a cursor, missed events are unknown.
  const unfollow = onConnected(() => {
    connections += 1;
    if (connections > 1 && sent.after === undefined) handlers.current.missed?.();
  });
  const begin = (): void => {
    stop = connection().subscribe<Data>(
      { query: operation.text, variables: sent as Record<string, unknown> },
      {
        next: ({ data, errors }) => {
          if (errors !== undefined || data == null) return;
          const { cursorOf, next } = handlers.current;
          if (cursorOf !== undefined) sent.after = cursorOf(data);
          next(data);
        },
        error: (error) => {
          if (stopped) return;
          if (Array.isArray(error) && errorOf(error as never).code === 'CURSOR_EXPIRED') {
            delete sent.after;
            handlers.current.missed?.();
          }
          again = setTimeout(begin, AGAIN_MS);
        },
        complete: () => {
          if (!stopped) again = setTimeout(begin, AGAIN_MS);
        },
      },
    );
  };
  begin();
  return () => {
    stopped = true;
    clearTimeout(again);
    unfollow();
    stop();
  };
}
