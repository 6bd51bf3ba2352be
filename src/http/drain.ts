import type { RequestListener, Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Logger } from 'pino';
import { AppError } from '../errors.ts';
import { respondWithProblem, toProblem } from './error-responder.ts';
import { OpenRequests } from './open-requests.ts';

const LOOK_EVERY_MS = 20;
/** How long a body may go on coming in once the server stops. */
const BODY_MS = 3_000;
/** How long after the last answer a quiet connection stays open: its next request may be on the way. */
const LATE_MS = 200;
const HEALTH = /^\/(?:healthz|readyz)\/?(?:\?|$)/;

interface Draining {
  /** Ends the WebSockets. */
  endSockets: () => Promise<void>;
  /** Milliseconds in which requests are still served, so that a load balancer notices `readyz` first. */
  graceMs: number;
}

/**
 * A server's requests from the first to the last. `stop`, in order: serves on for the grace; answers what was accepted,
 * and whatever comes then with 503 and `Connection: close` (CONTRACT 3), never a cut; gives half-sent bodies three
 * seconds; stops listening and closes what says nothing any more.
 */
export class DrainingListener {
  readonly #server: Server;
  readonly #log: Logger;
  readonly #requests = new OpenRequests();
  readonly #quietSince = new Map<Socket, number>();
  #state: 'serving' | 'grace' | 'draining' = 'serving';

  /** `watch` sees each request first, refused ones too. */
  constructor(server: Server, serve: RequestListener, watch: RequestListener, log: Logger) {
    this.#server = server;
    this.#log = log;
    server.on('connection', (socket) => {
      this.#requests.connected(socket);
      this.#quietSince.set(socket, performance.now());
      socket.once('close', () => this.#quietSince.delete(socket));
    });
    server.on('request', (request, response) => {
      watch(request, response);
      this.#requests.add(request, response);
      if (this.#state !== 'serving') response.shouldKeepAlive = false;
      if (this.#state !== 'draining' || HEALTH.test(request.url ?? '')) return serve(request, response);
      respondWithProblem(response, this.#stopping(), { stored: 0, rejected: [] });
      request.resume();
    });
  }

  /** False from the moment the server begins to stop. */
  get accepting(): boolean {
    return this.#state === 'serving';
  }

  async stop({ endSockets, graceMs }: Draining): Promise<void> {
    this.#state = 'grace';
    this.#requests.closeAfterAnswers();
    await pause(graceMs);
    this.#state = 'draining';
    await endSockets();
    const incompleteUntil = performance.now() + BODY_MS;
    while (this.#requests.count > 0) {
      if (performance.now() > incompleteUntil) this.#refuseIncomplete();
      await pause(LOOK_EVERY_MS);
    }
    // Not the HTTP server's own close: that cuts connections whose next request is on the way.
    NetServer.prototype.close.call(this.#server);
    const from = performance.now();
    while (this.#quietSince.size > 0) {
      await pause(LOOK_EVERY_MS);
      const now = performance.now();
      if (now > from + BODY_MS) this.#server.closeAllConnections();
      else if (this.#requests.count === 0) this.#closeQuiet(from, now);
    }
  }

  #closeQuiet(from: number, now: number): void {
    for (const [socket, since] of this.#quietSince) if (Math.max(since, from) < now - LATE_MS) socket.destroy();
  }

  #refuseIncomplete(): void {
    for (const { request, response } of this.#requests.incomplete()) {
      respondWithProblem(response, this.#stopping(), { stored: 0, rejected: [] });
      // The rest of the body is nobody's any more.
      response.once('finish', () => request.destroy());
    }
  }

  #stopping(): ReturnType<typeof toProblem> {
    return toProblem(new AppError('UNAVAILABLE', 'The server is stopping; send this again in a moment.'), this.#log);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
