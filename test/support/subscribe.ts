import { expect } from 'vitest';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from './eventually.ts';
import type { GqlAnswer } from './server.ts';

/** The first thing a subscription pushes, errors included; null: nothing within `quietMs` (say so where nothing may come), or it ended. */
export async function firstPush(
  url: string,
  token: string,
  query: string,
  variables: Record<string, unknown>,
  quietMs = 120_000,
): Promise<GqlAnswer | null> {
  const client: Client = createClient({
    url: `${url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token },
    retryAttempts: 0,
  });
  try {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), quietMs);
      const end = (answer: GqlAnswer | null): void => {
        clearTimeout(timer);
        resolve(answer);
      };
      client.subscribe(
        { query, variables },
        {
          next: (result) => end(result as GqlAnswer),
          error: (error) => end({ data: null, errors: (Array.isArray(error) ? error : [error]) as never }),
          complete: () => end(null),
        },
      );
    });
  } finally {
    await client.dispose();
  }
}

/** How many subscriptions listen on the server, by the metrics that an operator's token reads. */
export async function subscriptionsOf(url: string, token: string): Promise<number> {
  const response = await fetch(`${url}/metrics`, { headers: { Authorization: `Token ${token}` } });
  return Number(/^inlet_subscriptions (\d+)$/m.exec(await response.text())?.[1]);
}

/** Resolves when at least so many of them listen. */
export const listening = (url: string, token: string, count = 1): Promise<void> =>
  eventually(async () => expect(await subscriptionsOf(url, token)).toBeGreaterThanOrEqual(count));
