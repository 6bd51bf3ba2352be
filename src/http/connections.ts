import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { drain } from './body.ts';
import { PARSER_STOPPED, ParserGate } from './parser-gate.ts';
import { TurnsByAddress } from './turns-by-address.ts';

/** Requests of one connection that wait for the one before them; then it is read no further, until half are left. */
const MAX_WAITING = 16;
/** Of all connections; beyond that, the one that has got no answer for longest is cut off. */
const MAX_WAITING_IN_ALL = 20_000;
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
  readonly #crowd = new Crowd();

  constructor(server: Server, deps: ConnectionsDeps) {
    const turns = new TurnsByAddress();
    // Without it Node closes its own side as well, at once.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on('connection', (socket) => {
      this.#connections.set(socket, new Connection(socket, deps, this.#crowd, turns));
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
    server.on('clientError', (error: StoppedParser, socket) => {
      if (error.code === PARSER_STOPPED) this.#connections.get(socket as Socket)?.stopped(error);
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

interface StoppedParser {
  code?: string;
  rawPacket: Buffer;
  bytesParsed: number;
}

/** The connections of which requests wait for the one before them. */
class Crowd {
  /** The one that has got no answer for longest stands first. */
  readonly #line = new Set<Connection>();
  #waiting = 0;

  /** One more request of the connection waits. */
  add(connection: Connection): void {
    this.#line.add(connection);
    this.#waiting += 1;
    if (this.#waiting > MAX_WAITING_IN_ALL) for (const first of this.#line) return first.cut();
  }

  /** So many of its requests wait no longer; more of them do if it `stays`. */
  take(connection: Connection, count: number, stays: boolean): void {
    this.#waiting -= count;
    this.#line.delete(connection);
    if (stays) this.#line.add(connection);
  }
}

class Connection {
  readonly openedAt = performance.now();
  readonly #socket: Socket;
  readonly #deps: ConnectionsDeps;
  readonly #crowd: Crowd;
  readonly #gate: ParserGate;
  #current: Exchange | null = null;
  #from = 0;
  #waiting: Exchange[] = [];
  #isClosed = false;
  #endsBehindAnswers = false;

  constructor(socket: Socket, deps: ConnectionsDeps, crowd: Crowd, turns: TurnsByAddress) {
    this.#socket = socket;
    this.#deps = deps;
    this.#crowd = crowd;
    const isFull = (): boolean => this.#waiting.length >= MAX_WAITING;
    this.#gate = new ParserGate(socket, turns, isFull, () => this.#waiting.length > 0);
  }

  get current(): Exchange | null {
    return this.#current;
  }

  get unanswered(): number {
    return this.#waiting.length + (this.#current === null ? 0 : 1);
  }

  receive(exchange: Exchange): void {
    if (this.#isClosed) return;
    const { method, headers } = exchange.request;
    // What is behind it is a tunnel's.
    if (method === 'CONNECT') exchange.response.shouldKeepAlive = false;
    if (this.unanswered === 0) return this.#begin(exchange);
    // Node drops what comes in one piece with an upgrade that is ignored: nobody is to wait for an answer to that.
    if (headers.upgrade !== undefined) exchange.response.shouldKeepAlive = false;
    this.#waiting.push(exchange);
    this.#crowd.add(this);
  }

  /** The parser has stopped, as so many wait. */
  stopped({ rawPacket, bytesParsed }: StoppedParser): void {
    this.#gate.stopped(rawPacket, bytesParsed);
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
    this.#crowd.take(this, this.#waiting.length, false);
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
    if (next === undefined) return;
    this.#crowd.take(this, 1, this.#waiting.length > 0);
    if (this.#waiting.length === MAX_WAITING / 2) this.#gate.open();
    this.#begin(next);
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
    this.#current = null;
    this.#deps.ended(exchange, (performance.now() - this.#from) / 1000);
    // The next request stands behind what is left of its body.
    if (!exchange.request.complete) drain(exchange.request, REST_BYTES);
    this.#gate.forget(exchange.request);
    // Not at once: behind each other they would all be in one turn of the event loop.
    if (this.#waiting.length > 0) setImmediate(() => this.next());
  };
}
