import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one connection that wait for the one before them; then its socket is read no further. */
const MAX_WAITING = 16;

/** A request and its answer. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
}

interface ConnectionsDeps {
  /** Answers a request whose turn has come. */
  listener: RequestListener;
  /** Called when its answer has ended, or its sender has gone; seconds since its turn came. */
  ended: (exchange: Exchange, seconds: number) => void;
}

/**
 * A server's connections and what each is busy with; the requests of one wait for each other. One object and one
 * listener for a connection, none for a request: a set of open requests, or listeners made anew for each, cost a quarter
 * of the requests/s (what such objects hold is promoted and collected dearly).
 */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();

  constructor(server: Server, deps: ConnectionsDeps) {
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Connection(deps));
      socket.once('close', () => {
        this.#connections.get(socket)?.closed();
        this.#connections.delete(socket);
      });
    });
    server.on('request', (request, response) => {
      this.#connections.get(request.socket)?.receive({ request, response });
    });
  }

  /** How many connections are open. */
  get size(): number {
    return this.#connections.size;
  }

  /** Those that are open. */
  sockets(): Iterable<Socket> {
    return this.#connections.keys();
  }

  /** How many requests have not been answered yet. */
  get unanswered(): number {
    let count = 0;
    for (const connection of this.#connections.values()) count += connection.unanswered;
    return count;
  }

  /** The requests that are being answered, one at most for each connection. */
  *exchanges(): Generator<Exchange> {
    for (const { current } of this.#connections.values()) if (current !== null) yield current;
  }

  /** Ends those without a request that were opened before `time` (`performance.now()`). */
  closeQuiet(time: number): void {
    for (const [socket, connection] of this.#connections)
      if (connection.unanswered === 0 && connection.openedAt < time) socket.destroy();
  }
}

class Connection {
  readonly openedAt = performance.now();
  readonly #deps: ConnectionsDeps;
  #current: Exchange | null = null;
  #from = 0;
  #waiting: Exchange[] = [];
  #isClosed = false;

  constructor(deps: ConnectionsDeps) {
    this.#deps = deps;
  }

  get current(): Exchange | null {
    return this.#current;
  }

  get unanswered(): number {
    return this.#waiting.length + (this.#current === null ? 0 : 1);
  }

  receive(exchange: Exchange): void {
    if (this.#current === null) return this.#begin(exchange);
    this.#waiting.push(exchange);
    if (this.#waiting.length === MAX_WAITING) exchange.request.socket.pause();
  }

  /** Who has gone is not answered any more. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  #begin(exchange: Exchange): void {
    const { request, response } = exchange;
    this.#current = exchange;
    this.#from = performance.now();
    response.on('close', this.#ended);
    this.#deps.listener(request, response);
  }

  readonly #ended = (): void => {
    const exchange = this.#current!;
    const next = this.#waiting.shift();
    this.#current = null;
    this.#deps.ended(exchange, (performance.now() - this.#from) / 1000);
    if (next === undefined || this.#isClosed) return;
    if (this.#waiting.length === MAX_WAITING - 1) exchange.request.socket.resume();
    this.#begin(next);
  };
}
