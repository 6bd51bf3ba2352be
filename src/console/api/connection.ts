import { type Client, createClient } from 'graphql-ws';
import { presentedToken } from './presented-token.ts';
import { sessionDoubted } from './session-end.ts';
import { createStore } from './store.ts';
import { t } from '../texts/texts.ts';

/**
 * State of the badge. `live`: connected, and everything this page follows is up to date. `syncing`: connecting for the
 * first time, or fetching missed changes. `retrying`: the connection is lost and is being tried again.
 */
export type LiveState = 'live' | 'syncing' | 'retrying';

/** A silent connection is checked this often, and closed when no pong arrives in time. */
const PING_EVERY_MS = 10_000;
const PONG_WITHIN_MS = 5_000;
const LONGEST_WAIT_MS = 15_000;
/** Close code of the server when the token is gone, or its rights have changed. */
const FORBIDDEN = 4403;

/** The state of this page's one connection. */
export const liveState = createStore<LiveState>('syncing');

let isConnected = false;
let catchingUp = 0;

function tell(): void {
  if (isConnected) liveState.set(catchingUp > 0 ? 'syncing' : 'live');
}

/** Shows `syncing` until the promise settles. */
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

/** Calls now if connected, and after each reconnection, until the returned function is called. */
export function onConnected(listener: () => void): () => void {
  followers.add(listener);
  if (isConnected) listener();
  return () => void followers.delete(listener);
}

/** The connection to `/graphql`, opened at the first call and kept: it reconnects by itself. */
export function connection(): Client {
  client ??= open();
  return client;
}

/** Ends the connection, as after signing out; the next call of `connection` opens another. */
export function disconnect(): void {
  // It rejects where the connection is refused meanwhile.
  void Promise.resolve(client?.dispose()).catch(() => {});
  client = null;
  isConnected = false;
  liveState.set('syncing');
}

function open(): Client {
  const url = new URL('/graphql', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  let socket: WebSocket | null = null;
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const token = presentedToken();
  return createClient({
    url: url.href,
    connectionParams: token === null ? {} : { token },
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
        // The next follower opens another connection.
        client = null;
        sessionDoubted();
      },
      ping: (received) => {
        if (!received) unanswered = setTimeout(() => socket?.close(4408, t('no answer')), PONG_WITHIN_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(unanswered);
      },
    },
  });
}

/** Waits, or until the network or the page is back. */
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
