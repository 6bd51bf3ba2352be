import { ApiError, errorOf } from './api-error.ts';
import type { Operation } from './operation.ts';
import { serverMissed } from './reachable.ts';
import { ownFetch } from './own-fetch.ts';
import { sessionEnded } from './session-end.ts';
import { t } from '../texts/texts.ts';

const NOT_READ = t('The server cannot be reached. Check the connection; this page tries again by itself.');
/** No mutation is sent twice: it may have been done. */
const NOT_DONE = t('The server cannot be reached, so this was perhaps not done. Look when it is back, and try again.');

/**
 * Runs a query or mutation with the session's cookie, or the token that the page presents; returns its data. Throws ApiError in the server's words; an
 * expired session also leads to the sign-in page. An aborted request rejects with the signal's reason.
 */
export async function request<Data, Variables>(
  operation: Operation<Data, Variables>,
  variables: Variables,
  signal?: AbortSignal,
): Promise<Data> {
  const answer = await post(operation.text, variables, signal);
  if (answer.errors !== undefined && answer.errors.length > 0) {
    const error = errorOf(answer.errors);
    if (error.code === 'UNAUTHENTICATED') sessionEnded();
    throw error;
  }
  return answer.data as Data;
}

interface Answer {
  data?: unknown;
  errors?: { message: string; extensions?: Record<string, unknown> }[];
}

async function post(query: string, variables: unknown, signal: AbortSignal | undefined): Promise<Answer> {
  let response: Response;
  try {
    response = await ownFetch('/graphql', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
      body: JSON.stringify({ query, variables }),
      signal: signal ?? null,
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    serverMissed();
    throw new ApiError('OFFLINE', query.startsWith('mutation') ? NOT_DONE : NOT_READ);
  }
  const body = (await response.json().catch(() => ({}))) as Answer & { detail?: string; code?: string };
  if (body.data !== undefined || body.errors !== undefined) return body;
  // A problem (RFC 9457), from a proxy or a stopping server.
  throw new ApiError(
    body.code ?? String(response.status),
    body.detail ?? t('The server answered {status}.', { status: response.status }),
  );
}
