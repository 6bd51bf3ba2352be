import { type Client, createClient } from 'graphql-ws';

interface Request {
  query: string;
  operationName?: string | null | undefined;
  variables?: Record<string, unknown> | null | undefined;
}

interface Asking {
  documentAST?: { definitions: readonly { kind: string; operation?: string; name?: { value: string } | undefined }[] };
}

let sockets: Client | null = null;

/**
 * Asks the server with the session's cookie: by HTTP, subscriptions by WebSocket. Without a session it leads to the
 * sign-in page.
 */
export function fetcher(request: Request, { documentAST }: Asking = {}): Promise<unknown> | AsyncIterable<unknown> {
  const isLive = documentAST?.definitions.some(
    ({ kind, operation, name }) =>
      kind === 'OperationDefinition' &&
      operation === 'subscription' &&
      (request.operationName == null || name?.value === request.operationName),
  );
  if (isLive !== true) return ask(request);
  const url = new URL('/graphql', location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  sockets ??= createClient({ url: url.href });
  return sockets.iterate({ query: request.query, operationName: request.operationName, variables: request.variables });
}

async function ask(request: Request): Promise<unknown> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(request),
  });
  // Lead to the console's sign-in, which leads back.
  if (response.status === 401) location.assign('/console/sign-in?to=/graphql');
  return response.json();
}
