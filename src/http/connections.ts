import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drain } from './body.ts';

/** Maximum requests per connection behind the one that is being answered; one that sends more at once is cut off. */
const MAX_WAITING = 4;
/** What is left of a body when its answer has ended is read on up to a multiple of this, then cut. */
const REST_BYTES = 1 << 20;

/** Who has closed its side (`nc -N`) gets what is answered so soon; of most that do, nobody reads any more. */
const HALF_OPEN_MS = 1_000;

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
    // Without it Node closes its own side as well, at once.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Connection(socket, deps));
      socket.once('close', () => {
        this.#connections.get(socket)?.closed();
        this.#connections.delete(socket);
      });
      socket.once('end', () => this.#connections.get(socket)?.halfClosed());
    });
    const receive: RequestListener = (request, response) =>
      this.#connections.get(request.socket)?.receive({ request, response });
    server.on('request', receive);
    // Whatever else than 100-continue a head expects is ignored: Node's own 417 waits for nobody, and nobody counts it.
    server.on('checkExpectation', receive);
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

  /** Whether all requests of a connection have been answered. */
  isQuiet(socket: Socket): boolean {
    return (this.#connections.get(socket)?.unanswered ?? 0) === 0;
  }

  /**
   * What comes behind its requests cannot be read: answers those that came whole, then ends the connection. One that came
   * half is not answered; false: nothing was said to it yet, so the caller may.
   */
  endBehindAnswers(socket: Socket): boolean {
    return this.#connections.get(socket)?.endBehindAnswers(socket) ?? false;
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
  readonly #socket: Socket;
  readonly #deps: ConnectionsDeps;
  #current: Exchange | null = null;
  #from = 0;
  #waiting: Exchange[] = [];
  #isClosed = false;
  #endsBehindAnswers = false;

  constructor(socket: Socket, deps: ConnectionsDeps) {
    this.#socket = socket;
    this.#deps = deps;
  }

  get current(): Exchange | null {
    return this.#current;
  }

  get unanswered(): number {
    return this.#waiting.length + (this.#current === null ? 0 : 1);
  }

  receive(exchange: Exchange): void {
    if (this.#isClosed) return;
    if (this.unanswered === 0) return this.#begin(exchange);
    // Node drops what comes in one piece with an upgrade that is ignored: nobody is to wait for an answer to that.
    if (exchange.request.headers.upgrade !== undefined) exchange.response.shouldKeepAlive = false;
    if (this.#waiting.push(exchange) > MAX_WAITING) this.cut();
  }

  endBehindAnswers(socket: Socket): boolean {
    // What goes on coming is told of again and again.
    if (this.#endsBehindAnswers) return true;
    const last = this.#waiting.at(-1) ?? this.#current;
    if (last === null) return false;
    if (last.request.complete) {
      this.#endsBehindAnswers = true;
      last.response.shouldKeepAlive = false;
      last.response.once('close', () => socket.destroySoon());
      return true;
    }
    if (last === this.#current && !last.response.headersSent) return false;
    socket.destroy();
    return true;
  }

  /** Who has gone is not answered any more. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  /** Node ends the connection behind its last answer. */
  halfClosed(): void {
    setTimeout(() => {
      if (this.#current?.response.headersSent !== true) this.cut();
    }, HALF_OPEN_MS).unref();
  }

  cut(): void {
    this.closed();
    this.#socket.destroy();
  }

  /** Begins with the next request, if there is one. */
  next(): void {
    const next = this.#waiting.shift();
    if (next !== undefined) this.#begin(next);
  }

  #begin(exchange: Exchange): void {
    const { request, response } = exchange;
    this.#current = exchange;
    this.#from = performance.now();
    response.on('prefinish', this.#answered);
    response.on('close', this.#ended);
    this.#deps.listener(request, response);
  }

  /** The next request stands behind what is left of its body. */
  readonly #answered = (): void => {
    const { request } = this.#current!;
    if (!request.complete) drain(request, REST_BYTES);
  };

  readonly #ended = (): void => {
    const exchange = this.#current!;
    this.#current = null;
    this.#deps.ended(exchange, (performance.now() - this.#from) / 1000);
    // Not at once: all of them would be in one turn of the event loop.
    if (this.#waiting.length > 0) setImmediate(() => this.next());
  };
}
