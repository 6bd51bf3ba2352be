import type { IncomingMessage, Server } from 'node:http';
import type Koa from 'koa';
import type { Access } from '../../domain/access/access.ts';
import type { Cluster } from '../../domain/ports/cluster.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import type { Authenticator } from '../../domain/accounts/authenticator.ts';
import type { WatchExecution } from '../operation/compiled-operation.ts';
import { Operations } from '../operation/operations.ts';
import { GraphqlContext, type LiveSources, type NoAccess } from '../context/graphql-context.ts';
import type { Promised } from '../context/promised.ts';
import type { GraphqlLog } from './format-error.ts';
import { GraphqlHttp } from './graphql-http.ts';
import { GraphqlSockets } from './graphql-sockets.ts';
import type { BodyMemory } from './half-messages.ts';
import type { LoaderSources } from '../context/loaders.ts';
import type { ResolverDeps } from '../resolvers/resolvers.ts';
import { createSchema } from '../schema.ts';
import { warmUp } from './warm-up.ts';

interface GraphqlDoorDeps {
  resolvers: ResolverDeps;
  sources: LoaderSources;
  live: LiveSources;
  authenticator: Authenticator;
  /** `http/anonymous-requests`: counts requests without a valid token; throws RATE_LIMITED. */
  anonymous: {
    begin: (request: IncomingMessage) => void;
    during: <T>(request: IncomingMessage, lookUp: () => Promise<T>) => Promise<T>;
    wasKnown: (request: IncomingMessage) => void;
    failed: (request: IncomingMessage, error: unknown) => never;
    addressOf: (request: IncomingMessage) => string;
  };
  cluster: Cluster;
  /** `http/authenticate`: the secret in an Authorization header. */
  secretOf: (authorization: string | undefined) => string | null;
  /** `http/authenticate`: whether the header has no token at all. */
  isEmptyAuthorization: (authorization: string) => boolean;
  /** `http/session-cookie`: the secret of the console's session, for requests of its own pages. */
  sessionSecretOf: (request: IncomingMessage) => string | null;
  /** `http/cross-origin`: the reason to refuse a WebSocket of a page; null: it is let in. */
  refusedPage: (request: IncomingMessage) => string | null;
  /** `http/request-watch`: the id of a request. */
  requestIdOf: (request: IncomingMessage) => string;
  /** Maximum bytes per WebSocket message, as for bodies. */
  maxMessageBytes: number;
  bodies: BodyMemory;
  watchExecution?: WatchExecution | undefined;
  shares: FairScheduler;
  now: () => number;
  log: GraphqlLog;
}

/** GraphQL for an HTTP server, until it is stopped. */
export interface GraphqlTransport {
  /** Answers a request whose body was read. */
  handle(context: Koa.Context): Promise<void>;
  /** Takes over the server's WebSocket upgrades. */
  attachWebSocket(server: Server): void;
  /** Connections that are open, subscriptions that run on them, documents in memory. */
  load(): { sockets: number; subscriptions: number; documents: number };
  /** Runs once the code that the first request would wait for; rejects when the database does not answer. */
  warmUp(): Promise<void>;
  /** Lets what runs on the WebSockets end, then closes them: clients may connect again elsewhere. */
  endSockets(): Promise<void>;
  /** Stops after the last HTTP request: later operations fail. */
  stop(): Promise<void>;
}

/** Paths whose requests wait for other traffic: GraphQL, and files in and out. */
const TAKES_TURNS = /^\/(?:graphql|v1\/(?:export|import|devices\/[^/]+\/(?:history|import)))/;

/** The GraphQL door (CONTRACT 7): one schema, over HTTP and WebSocket, with the same access, limits and errors. */
export async function createGraphqlTransport(deps: GraphqlDoorDeps): Promise<GraphqlTransport> {
  const operations = new Operations(createSchema(deps.resolvers), deps.shares, deps.watchExecution);
  const { authenticator, anonymous, secretOf, isEmptyAuthorization, sessionSecretOf, sources, live, log } = deps;
  const present = (access: Access): Promised<Access | null> => authenticator.present(access);
  const contextOf = (access: Access | NoAccess, address: string): GraphqlContext =>
    new GraphqlContext(access, address, sources, live, undefined, present);
  const contextFor = async ({ headers: { authorization }, req, method }: Koa.Context): Promise<GraphqlContext> => {
    const address = anonymous.addressOf(req);
    // A body of JSON is what no form and no link of another site can send.
    const fromSession = authorization === undefined && method === 'POST';
    const secret = fromSession ? sessionSecretOf(req) : secretOf(authorization);
    const cached = secret === null ? null : authenticator.cached(secret);
    if (cached !== null) return contextOf(cached, address);
    if (secret !== null) {
      const access = await anonymous.during(req, () => authenticator.authenticate(secret));
      return contextOf(access ?? 'invalid', address);
    }
    anonymous.begin(req);
    if (authorization === undefined) return contextOf('missing', address);
    return contextOf(isEmptyAuthorization(authorization) ? 'empty' : 'malformed', address);
  };
  const http = new GraphqlHttp({ operations, contextFor, log });
  const sockets = new GraphqlSockets({ ...deps, operations });
  await http.start();
  return {
    handle: (context) => http.handle(context),
    attachWebSocket: (server) => {
      sockets.attach(server);
      server.on('request', ({ url = '' }) => {
        if (!TAKES_TURNS.test(url)) deps.shares.noteOtherTraffic();
      });
    },
    load: () => ({ ...sockets.load, documents: operations.documents.size }),
    warmUp: () => warmUp(operations, (access) => new GraphqlContext(access, '', sources, live)),
    endSockets: () => sockets.stop(),
    stop: () => http.stop(),
  };
}
