import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ExecutionArgs } from 'graphql';
import { CloseCode, type Context, handleProtocols, makeServer } from 'graphql-ws';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Cluster } from '../../domain/ports/cluster.ts';
import { eachInTurns } from '../../scheduling/yield-to-event-loop.ts';
import { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import { LANES } from '../../scheduling/lanes.ts';
import { asAppError } from '../../errors.ts';
import { type BodyMemory, countHalfMessages } from './half-messages.ts';
import { SocketMessages } from './socket-messages.ts';
import { CLOSES_MS, SessionRights } from './session-rights.ts';
import { type SocketExtra, SocketOperations, type SocketOperationsDeps } from './socket-operations.ts';
import { FORBIDDEN, SERVICE_RESTART, SocketSession, TRY_AGAIN_LATER } from './socket-session.ts';

/** Dependencies of sockets: they run operations and learn rights from these. */
export interface GraphqlSocketsDeps extends SocketOperationsDeps {
  /** `http/anonymous-requests`: counts requests without a valid token; throws RATE_LIMITED. */
  anonymous: {
    begin: (request: IncomingMessage) => void;
    wasKnown: (request: IncomingMessage) => void;
    failed: (request: IncomingMessage, error: unknown) => never;
    addressOf: (request: IncomingMessage) => string;
  };
  cluster: Cluster;
  secretOf: (authorization: string | undefined) => string | null;
  sessionSecretOf: (request: IncomingMessage) => string | null;
  refusedPage: (request: IncomingMessage) => string | null;
  requestIdOf: (request: IncomingMessage) => string;
  maxMessageBytes: number;
  bodies: BodyMemory;
  now: () => number;
}

const PATH = '/graphql';
/** Bytes of a long message. Shorter ones that wait for an id are not counted: maximum 20 per connection. */
const LONG_MESSAGE = 262_144;
/** Maximum frames per message, enough for a megabyte in 4 KB each (Go): tiny ones are all read in one turn. */
const MAX_FRAGMENTS = 272;
/** Maximum pieces of one frame that the kernel hands over: each takes a hundred bytes beside its own. */
const MAX_PIECES = 4096;
const [INIT_WITHIN_MS, DRAIN_MS, CLOSE_MS] = [5000, 5000, 2000];
const RESTARTS = [SERVICE_RESTART, 'the server restarts, connect again'] as const;

/** `graphql-transport-ws` on /graphql (CONTRACT 7): the door for subscriptions; queries and mutations may use it too. */
export class GraphqlSockets {
  readonly #deps: GraphqlSocketsDeps;
  readonly #server: WebSocketServer;
  readonly #protocol;
  readonly #sessions = new Set<SocketSession>();
  /** Turns in which all connections read. */
  readonly #reading = new EventLoopQueue(LANES.socketMessages);
  readonly #rights: SessionRights;
  #draining = false;

  constructor(deps: GraphqlSocketsDeps) {
    this.#deps = deps;
    this.#protocol = this.#createProtocol();
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: deps.maxMessageBytes,
      maxBufferedChunks: MAX_PIECES,
      maxFragments: MAX_FRAGMENTS,
      // `SocketMessages` answers, no faster than it is read.
      autoPong: false,
      perMessageDeflate: false,
      // One message per turn of the event loop: a piece of 64 KiB may hold thousands.
      allowSynchronousEvents: false,
      handleProtocols,
    });
    this.#server.on('connection', (socket, request) => this.#opened(socket, request));
    const onError = (error: unknown): void => deps.log.warn({ err: error }, 'asking for the rights of sockets failed');
    this.#rights = new SessionRights({ ...deps, sessions: this.#sessions, onError });
  }

  /** Connections that are open, and subscriptions that listen on them. */
  get load(): { sockets: number; subscriptions: number } {
    let subscriptions = 0;
    for (const { listening } of this.#sessions) subscriptions += listening.size;
    return { sockets: this.#sessions.size, subscriptions };
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const path = (request.url ?? '').split('?', 1)[0]?.replace(/\/$/, '');
      if (path !== PATH) return refuseUpgrade(socket, '404 Not Found');
      if (this.#draining) return refuseUpgrade(socket, '503 Service Unavailable');
      try {
        // Anonymous until it has shown a valid token.
        this.#deps.anonymous.begin(request);
      } catch {
        return refuseUpgrade(socket, '429 Too Many Requests');
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => this.#server.emit('connection', opened, request));
    });
  }

  async stop(): Promise<void> {
    this.#draining = true;
    for (const session of this.#sessions) session.beginsToEnd(...RESTARTS);
    await eachInTurns([...this.#sessions], (session) => session.end(...RESTARTS), CLOSES_MS);
    await this.#until(() => [...this.#sessions].every((session) => session.running.size === 0), DRAIN_MS);
    await eachInTurns([...this.#sessions], ({ socket }) => socket.close(...RESTARTS), CLOSES_MS);
    await this.#until(() => this.#sessions.size === 0, CLOSE_MS);
    for (const session of this.#sessions) session.socket.terminate();
    this.#server.close();
  }

  async #until(done: () => boolean, withinMs: number): Promise<void> {
    const end = Date.now() + withinMs;
    while (!done() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  #opened(socket: WebSocket, request: IncomingMessage): void {
    const session = new SocketSession(socket, request.socket, this.#deps.now, this.#deps.requestIdOf(request));
    this.#sessions.add(session);
    const onFailed = (error: unknown): void => this.#failed(session, error);
    const onRead = countHalfMessages(socket, request, this.#deps.bodies, onFailed);
    // Too large a message, broken frames: ws closes by itself and says why. Anybody can send them: no stack of ours.
    socket.on('error', ({ message }) =>
      this.#deps.log.info({ reason: message, requestId: session.requestId }, 'WebSocket of a client broken'),
    );
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (text) => {
          session.push(text);
          return session.sent();
        },
        close: (code, reason) => {
          // What ends is told why: graphql-ws would say that it is forbidden, and such a client comes no more.
          if (session.ending) session.end(...RESTARTS);
          // A reason of over 123 bytes would be an error, and graphql-ws puts the client's id into one.
          else socket.close(code, reason?.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 123));
        },
        onMessage: (receive) => {
          const { operations } = this.#deps;
          const hold = (message: unknown): (() => void) => {
            const party = session.access;
            const bytes = party === null ? 0 : operations.held.memoryOf(message, party);
            return party === null || bytes < LONG_MESSAGE ? () => {} : operations.held.hold(party, null, bytes);
          };
          const reading = { turns: this.#reading, shares: operations.shares, caller: () => session.access, hold };
          new SocketMessages({ socket, ...reading, receive, onRead, onFailed }).read();
        },
      },
      { session, request, address: this.#deps.anonymous.addressOf(request) },
    );
    socket.once('close', (code, reason) => {
      this.#sessions.delete(session);
      const done = session.gone().then(() => closed(code, reason.toString('utf8')));
      done.catch((error: unknown) =>
        this.#deps.log.error({ err: error, requestId: session.requestId }, 'closing a WebSocket failed'),
      );
    });
    if (this.#draining) session.end(...RESTARTS);
  }

  #failed(session: SocketSession, error: unknown): void {
    if (session.socket.readyState !== session.socket.OPEN) return;
    const known = asAppError(error);
    if (known !== null) return session.socket.close(TRY_AGAIN_LATER, known.message.slice(0, 100));
    this.#deps.log.error({ err: error, requestId: session.requestId }, 'WebSocket message failed');
    session.socket.close(CloseCode.InternalServerError, 'internal error');
  }

  async #connect(context: Context<Record<string, unknown>, SocketExtra>): Promise<boolean> {
    const { session, request } = context.extra;
    const { anonymous, authenticator, refusedPage } = this.#deps;
    const failed = (error: unknown): never => anonymous.failed(request, error);
    // A page reads the reason of a close, but no answer to an upgrade.
    const refusal = refusedPage(request);
    const secret = refusal === null ? this.#secret(context.connectionParams, request) : null;
    for (;;) {
      const before = this.#rights.revision;
      const access = secret === null ? null : await authenticator.authenticate(secret).catch(failed);
      if (before !== this.#rights.revision) continue;
      if (access === null) {
        const reason = secret === null ? 'send connectionParams.token' : 'the token is unknown, expired or revoked';
        session.end(FORBIDDEN, refusal ?? reason);
        return false;
      }
      anonymous.wasKnown(request);
      session.grant(access);
      return !session.ending;
    }
  }

  #secret(params: Readonly<Record<string, unknown>> | undefined, request: IncomingMessage): string | null {
    const token = params?.['token'];
    if (typeof token === 'string') return this.#deps.secretOf(token) ?? (token === '' ? null : token);
    const authorization = params?.['authorization'] ?? params?.['Authorization'];
    if (typeof authorization === 'string') return this.#deps.secretOf(authorization);
    return this.#deps.secretOf(request.headers.authorization) ?? this.#deps.sessionSecretOf(request);
  }

  #createProtocol() {
    const operations = new SocketOperations(this.#deps);
    return makeServer<Record<string, unknown>, SocketExtra>({
      connectionInitWaitTimeout: INIT_WITHIN_MS,
      onConnect: (context) => this.#connect(context),
      onSubscribe: (context, id, payload) => operations.admit(context, id, payload),
      execute: (args: ExecutionArgs) => operations.execute(args),
      subscribe: (args: ExecutionArgs) => operations.subscribe(args),
      onNext: ({ extra }, _id, _payload, _args, result) =>
        result.errors === undefined
          ? undefined
          : { ...result, errors: operations.formatted(result.errors, extra.session) },
      onError: ({ extra }, _id, _payload, errors) => operations.formatted(errors, extra.session),
      onComplete: (context, id, payload) => context.extra.session.over(id, payload),
    });
  }
}

function refuseUpgrade(socket: Duplex, status: string): void {
  socket.once('finish', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`, () => socket.destroy());
}
