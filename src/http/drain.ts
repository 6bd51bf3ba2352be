import type { RequestListener, Server, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { AppError } from '../errors.ts';
import type { ClientConnections } from './client-connections.ts';
import { Connections, type Exchange } from './connections.ts';
import { respondWithProblem, toProblem } from './error-responder.ts';
import { giveRequestId } from './request-id.ts';
import { UnreadAnswers } from './unread-answers.ts';

const LOOK_EVERY_MS = 20;
/** Milliseconds in which a body may go on coming in once the server stops. */
const BODY_MS = 3_000;
/** Milliseconds in which an answer that has begun may go on: its reader decides how fast it is. */
const ANSWER_MS = 3_000;
/** Milliseconds after the last answer in which a quiet connection stays open: its next request may be on the way. */
const LATE_MS = 200;
const HEALTH = /^\/(?:healthz|readyz)\/?(?:\?|$)/;

interface Draining {
  /** Ends the WebSockets. */
  endSockets: () => Promise<void>;
  /** Milliseconds in which requests are still served, so that a load balancer notices `readyz` first. */
  graceMs: number;
}

interface DrainingDeps {
  serve: RequestListener;
  clients: ClientConnections;
  /** Told of each request that has ended: its answer, and seconds. */
  ended: (exchange: Exchange, seconds: number) => void;
  /** Milliseconds for which a client may leave an answer unread. */
  idleMs: number;
  log: Logger;
}

/**
 * A server's requests from the first to the last. `stop`, in order: serves on for the grace; answers what was accepted,
 * and whatever comes then with 503 and `Connection: close` (CONTRACT 3), never a cut; gives half-sent bodies, and
 * answers that are half read, three seconds; stops listening and closes quiet connections.
 */
export class DrainingListener {
  readonly #server: Server;
  readonly #log: Logger;
  readonly #connections: Connections;
  readonly #unread: UnreadAnswers;
  #state: 'serving' | 'grace' | 'draining' = 'serving';

  constructor(server: Server, { serve, clients, ended, idleMs, log }: DrainingDeps) {
    this.#server = server;
    this.#log = log;
    const listener: RequestListener = (request, response) => {
      giveRequestId(request, response);
      if (this.#state !== 'serving') response.shouldKeepAlive = false;
      const isServed = this.#state !== 'draining' || HEALTH.test(request.url ?? '');
      if (isServed && clients.begin(request)) return serve(request, response);
      const problem = isServed ? toProblem(tooMany(), log) : this.#stopping();
      respondWithProblem(response, problem, { stored: 0, rejected: [] });
      request.resume();
    };
    this.#connections = new Connections(server, {
      listener,
      ended: (exchange, seconds) => {
        clients.end(exchange.request);
        ended(exchange, seconds);
      },
    });
    this.#unread = new UnreadAnswers(() => this.#connections.sockets(), idleMs);
  }

  /** False from the moment the server begins to stop. */
  get accepting(): boolean {
    return this.#state === 'serving';
  }

  /** Whether all requests of a connection have been answered. */
  isQuiet(socket: Socket): boolean {
    return this.#connections.isQuiet(socket);
  }

  /** Answers what came whole on a connection, then ends it; false: only a half request waits there. */
  endBehindAnswers(socket: Socket): boolean {
    return this.#connections.endBehindAnswers(socket);
  }

  async stop({ endSockets, graceMs }: Draining): Promise<void> {
    this.#state = 'grace';
    // Each connection is closed by its last answer now.
    for (const { response } of this.#connections.exchanges()) response.shouldKeepAlive = false;
    await pause(graceMs);
    this.#state = 'draining';
    await endSockets();
    const incompleteUntil = performance.now() + BODY_MS;
    const begun = new Map<ServerResponse, number>();
    let cut = 0;
    while (this.#connections.unanswered > 0) {
      if (performance.now() > incompleteUntil) this.#refuseIncomplete();
      cut += this.#cutSlow(begun);
      await pause(LOOK_EVERY_MS);
    }
    if (cut > 0) this.#log.warn({ answers: cut }, 'stopping: answers that were still being read were cut');
    // The close of net: the HTTP server's own cuts connections whose next request is on the way.
    NetServer.prototype.close.call(this.#server);
    const from = performance.now();
    while (this.#connections.size > 0) {
      await pause(LOOK_EVERY_MS);
      const now = performance.now();
      if (now > from + BODY_MS) this.#server.closeAllConnections();
      else if (now > from + LATE_MS) this.#connections.closeQuiet(now - LATE_MS);
    }
    // Its looks at heads that do not come would go on, and keep all that the server had.
    this.#server.close();
    this.#unread.end();
  }

  /** Refuses requests whose body has not come in full. */
  #refuseIncomplete(): void {
    for (const { request, response } of this.#connections.exchanges()) {
      if (request.complete) continue;
      respondWithProblem(response, this.#stopping(), { stored: 0, rejected: [] });
      // The rest of the body is read by nothing any more.
      response.once('finish', () => request.destroy());
    }
  }

  /** Cuts answers that were first seen `begun` too long ago; returns their number. */
  #cutSlow(begun: Map<ServerResponse, number>): number {
    const now = performance.now();
    let cut = 0;
    for (const { request, response } of this.#connections.exchanges()) {
      if (!response.headersSent) continue;
      const from = begun.get(response) ?? now;
      begun.set(response, from);
      if (now < from + ANSWER_MS || request.socket.destroyed) continue;
      request.socket.destroy();
      cut += 1;
    }
    return cut;
  }

  #stopping(): ReturnType<typeof toProblem> {
    return toProblem(new AppError('UNAVAILABLE', 'The server is stopping; send this again in a moment.'), this.#log);
  }
}

function tooMany(): AppError {
  return new AppError('OVERLOADED', 'Too many connections from this address; wait.', {
    details: { retryAfterSeconds: 5 },
  });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
