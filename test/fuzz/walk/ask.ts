import { setTimeout as pause } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { TestServer } from '../../support/server.ts';
import type { Operation } from './operation.ts';

/** An answer is there by then, or it never comes. */
const ANSWER_MS = 90_000;
/** Until a subscription has begun; what happened before, or changed nothing, is not told: it happens again so often. */
const BEGUN_MS = 150;
const AGAIN_AFTER_MS = 1_500;
const MOST_TIMES = 6;

/** What came of an operation. */
export interface Answer {
  status: number;
  /** `ok`, or the code of the first error, and the limit that it names. */
  code: string;
  /** What was asked under many names was answered, if only with null. */
  isAnswered: boolean;
  ms: number;
}

/** Asks over HTTP. */
export async function ask(server: TestServer, { query, variables }: Operation, secret: string): Promise<Answer> {
  const from = performance.now();
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Token ${secret}` },
    body: JSON.stringify({ query, variables }),
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  // As bytes: they are a hundred megabytes at times.
  const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
  return { status: response.status, ...read(text), ms: Math.round(performance.now() - from) };
}

/** Subscribes, lets it happen, and takes the first that is told. */
export async function follow(
  server: TestServer,
  operation: Operation,
  secret: string,
  happens: () => Promise<unknown>,
): Promise<Answer> {
  const from = performance.now();
  const client = createClient({
    url: `${server.url.replace(/^http/, 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { token: secret },
    retryAttempts: 0,
  });
  try {
    const told = new Promise<unknown>((resolve) => {
      client.subscribe(
        { ...operation },
        { next: resolve, error: (errors) => resolve({ errors: [errors].flat() }), complete: () => {} },
      );
    });
    await pause(BEGUN_MS);
    let first: unknown;
    for (let times = 0; first === undefined && times < MOST_TIMES; times += 1) {
      await happens();
      const ended = new AbortController();
      first = await Promise.race([
        told,
        pause(AGAIN_AFTER_MS, undefined, { signal: ended.signal }).catch(() => undefined),
      ]);
      ended.abort();
    }
    return { status: 200, ...read(JSON.stringify(first ?? {})), ms: Math.round(performance.now() - from) };
  } finally {
    await client.dispose();
  }
}

function read(text: string): Pick<Answer, 'code' | 'isAnswered'> {
  const isAnswered = text.includes('"a0":');
  if (text.includes('"code":"INTERNAL')) return { code: 'INTERNAL', isAnswered };
  const errors = /"errors":\[\{"message"/.exec(text);
  if (errors === null) return { code: isAnswered ? 'ok' : 'nothing', isAnswered };
  const said = text.slice(errors.index);
  const code = /"extensions":\{[^}]*?"code":"(\w+)"/.exec(said)?.[1] ?? 'error';
  const limit = code === 'QUERY_TOO_COMPLEX' ? /"limit":"([\w ]+)"/.exec(said)?.[1] : undefined;
  return { code: limit === undefined ? code : `${code} ${limit}`, isAnswered };
}
