import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drain } from './body.ts';
import { must } from '../must.ts';

/** Maximum requests per connection behind the one that is being answered; one that sends more at once is cut off. */
const MAX_WAITING = 4;
/** Bytes of a body that are read on after its answer, as a factor of `drain`; then it is cut. */
const REST_BYTES = 1 << 20;

/** Milliseconds in which a sender that has closed its side (`nc -N`) is still answered: most read no more. */
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
 * listener per connection, none per request: objects that live as long as a request are promoted and collected dearly.
 */
export class Connections {
  readonly #connections = new Map<Socket, Connection>();

  constructor(server: Server, deps: ConnectionsDeps) {
    // Keeps Node from closing its own side as well, at once.
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
    // Any expectation of a head but 100-continue is ignored: Node's own 417 would come out of turn, and uncounted.
    server.on('checkExpectation', receive);
  }

  /** Number of open connections. */
  get size(): number {
    return this.#connections.size;
  }

  /** The open connections. */
  sockets(): Iterable<Socket> {
    return this.#connections.keys();
  }

  /** Number of requests that have not been answered yet. */
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
   * Ends a connection whose further bytes cannot be read, behind the answers to the requests that came whole. One that
   * came half is not answered; false: nothing was said to it yet, so the caller may.
   */
  endBehindAnswers(socket: Socket): boolean {
    return this.#connections.get(socket)?.endBehindAnswers(socket) ?? false;
  }

  /** The requests that are being answered, maximum one per connection. */
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
    // Node drops bytes that come in one piece with an ignored upgrade: they must not be waited for.
    if (exchange.request.headers.upgrade !== undefined) exchange.response.shouldKeepAlive = false;
    if (this.#waiting.push(exchange) > MAX_WAITING) this.cut();
  }

  endBehindAnswers(socket: Socket): boolean {
    // Node reports every further piece.
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

  /** Drops what waits: a closed connection is not answered any more. */
  closed(): void {
    this.#isClosed = true;
    this.#waiting = [];
  }

  /** Cuts a half-closed connection without an answer; else Node ends it behind its last answer. */
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

  /** Drops the rest of the body: the next request comes behind it. */
  readonly #answered = (): void => {
    const { request } = must(this.#current);
    if (!request.complete) drain(request, REST_BYTES);
  };

  readonly #ended = (): void => {
    const exchange = must(this.#current);
    this.#current = null;
    this.#deps.ended(exchange, (performance.now() - this.#from) / 1000);
    // Begins in a later turn: all of them would be in one turn of the event loop.
    if (this.#waiting.length > 0) setImmediate(() => this.next());
  };
}
