import { type Client, createClient } from 'graphql-ws';
import { sessionDoubted } from './session-end.ts';
import { createStore } from './store.ts';

/**
 * What the badge says. `live`: connected, and whatever this page follows is up to date. `syncing`: connecting for the
 * first time, or fetching what was missed. `retrying`: the connection is lost and is being tried again.
 */
export type LiveState = 'live' | 'syncing' | 'retrying';

/** A silent connection is asked; without an answer in this time it is given up. */
const PING_EVERY_MS = 10_000;
const PONG_WITHIN_MS = 5_000;
const LONGEST_WAIT_MS = 15_000;
/** What the server closes with when the token is gone, or may do other things than before. */
const FORBIDDEN = 4403;

/** The state of the one connection of this page. */
export const liveState = createStore<LiveState>('syncing');

let isConnected = false;
let catchingUp = 0;

function tell(): void {
  if (isConnected) liveState.set(catchingUp > 0 ? 'syncing' : 'live');
}

/** Something followed is being fetched anew: `syncing` until the promise settles. */
export async function whileSyncing<Value>(work: Promise<Value>): Promise<Value> {
  catchingUp += 1;
  tell();
  try {
    return await work;
  } finally {
    catchingUp -= 1;
    tell();
  }
}

let client: Client | null = null;
const followers = new Set<() => void>();

/** Calls now if there is a connection, and each time there is one again, until the returned function is called. */
export function onConnected(listener: () => void): () => void {
  followers.add(listener);
  if (isConnected) listener();
  return () => void followers.delete(listener);
}

/** The connection to `/graphql`, opened at the first call and kept: it comes back by itself. */
export function connection(): Client {
  client ??= open();
  return client;
}

/** Ends the connection, as when somebody signs out; the next call of `connection` opens another. */
export function disconnect(): void {
  void client?.dispose();
  client = null;
  isConnected = false;
  liveState.set('syncing');
}

function open(): Client {
  const url = new URL('/graphql', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  let socket: WebSocket | null = null;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  return createClient({
    url: url.href,
    lazy: false,
    onNonLazyError: () => {},
    keepAlive: PING_EVERY_MS,
    retryAttempts: Infinity,
    shouldRetry: (reason) => !(reason instanceof CloseEvent) || reason.code !== FORBIDDEN,
    retryWait: (retries) => wait(Math.min(LONGEST_WAIT_MS, 500 * 2 ** retries) * (0.5 + Math.random() / 2)),
    on: {
      opened: (opened) => (socket = opened as WebSocket),
      connected: () => {
        isConnected = true;
        tell();
        for (const listener of followers) listener();
      },
      closed: (event) => {
        clearTimeout(unanswered);
        isConnected = false;
        liveState.set('retrying');
        if (!(event instanceof CloseEvent) || event.code !== FORBIDDEN) return;
        // Whoever goes on following opens another connection.
        client = null;
        sessionDoubted();
      },
      ping: (received) => {
        if (!received) unanswered = setTimeout(() => socket?.close(4408, 'no answer'), PONG_WITHIN_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(unanswered);
      },
    },
  });
}

/** Waits, but no longer than until the network or the page is back. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      removeEventListener('online', done);
      document.removeEventListener('visibilitychange', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
    document.addEventListener('visibilitychange', done);
  });
}
