import { useEffect, useRef } from 'preact/hooks';
import { errorOf } from './api-error.ts';
import { connection, onConnected } from './connection.ts';
import type { Operation } from './operation.ts';

interface LiveHandlers<Data> {
  /** One pushed event. */
  next: (data: Data) => void;
  /** Its place in the stream, where the operation has one: after a break it goes on from there (`$after`). */
  cursorOf?: (data: Data) => string;
  /** Events were missed, or may have been: fetch what is shown anew. */
  missed?: () => void;
}

const AGAIN_MS = 2_000;

/**
 * Follows a subscription while the component stands, across broken connections; `variables` null follows nothing. The
 * handlers of the latest drawing are called.
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
  // Sent anew on each connection, so the cursor in it moves along.
  const sent: Variables & { after?: string } = { ...variables };
  let connections = 0;
  // Without a cursor nobody knows what was missed meanwhile.
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
