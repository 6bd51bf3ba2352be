import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TurnsByAddress } from './turns-by-address.ts';

/** The code of what Node takes for an error of the client's when its parser was stopped in the midst of a piece. */
export const PARSER_STOPPED = 'HPE_PAUSED';
/** The parser stops behind the head for which it is given this number; 0: it goes on. */
const STOP = 21;
/**
 * A chunked body, and requests that stand behind another, are parsed in slices: 64 KiB may be eleven thousand chunks of
 * microseconds each, or sixteen heads of half a millisecond. A slice has twice as many bytes as the one before it while
 * these take less time than this, and half as many when they take more.
 */
const SLICE_MS = 0.1;
const [LEAST_BYTES, MOST_BYTES] = [256, 16_384];
const NOTHING = Buffer.alloc(0);

/** What Node hangs on the socket of a server, undocumented: there is no other way to stop its parser in time. */
interface ServerSocket extends Socket {
  /** null: the connection has been upgraded, or is over. */
  parser: {
    onIncoming: (request: IncomingMessage & { upgrade: boolean }, keepAlive: boolean) => number;
    resume: () => void;
    execute: (data: Buffer) => unknown;
  } | null;
  /** Nothing may be given to the parser; Node itself goes on when the client has taken what was written. */
  _paused: boolean;
}

/**
 * Keeps Node from making requests of all that came: a piece of 64 KiB holds thousands, each costs some kilobytes, and one
 * more error if the client goes. While a connection is full, the rest stays in its socket as bytes, in order. So does what
 * is behind the head of a chunked body or of a request that has to wait, which has its turns: a few connections with chunks
 * of a byte took the whole loop, a thousand with eight large heads each 1.8 s of it in one piece.
 */
export class ParserGate {
  readonly #socket: ServerSocket;
  readonly #isFull: () => boolean;
  readonly #isBehind: () => boolean;
  readonly #turns: TurnsByAddress;
  #last: IncomingMessage | null = null;
  #isChunked = false;
  #hasTurn = false;
  #sliceBytes = LEAST_BYTES;
  #waitsForTurn = false;
  /** Gives the parser what comes; null: it still reads from the system by itself, which is faster. */
  #parse: ((data: Buffer) => void) | null = null;

  /**
   * Asked behind each head: `isFull`: whether a connection is to have no more requests for now; `isBehind`: whether its
   * last one waits for another.
   */
  constructor(socket: Socket, turns: TurnsByAddress, isFull: () => boolean, isBehind: () => boolean) {
    this.#socket = socket as ServerSocket;
    this.#turns = turns;
    this.#isFull = isFull;
    this.#isBehind = isBehind;
    const parser = this.#socket.parser!;
    const take = parser.onIncoming;
    parser.onIncoming = (request, keepAlive) => {
      // As any other request: for a tunnel Node takes away what an answer before it waits with for its reader, or its end.
      if (request.method === 'CONNECT') request.upgrade = false;
      const verdict = take(request, keepAlive);
      this.#last = request;
      this.#isChunked = request.headers['transfer-encoding'] !== undefined;
      return verdict === 0 && (this.#isChunked || isFull() || this.#needsTurn || socket.destroyed) ? STOP : verdict;
    };
  }

  /** Called when the parser has stopped behind a head, with the piece that it read and how many bytes of it it has read. */
  stopped(piece: Buffer, bytesParsed: number): void {
    const socket = this.#socket;
    if (socket.destroyed || socket.parser === null) return;
    socket.pause();
    socket.parser.resume();
    this.#readAsStream();
    const rest = piece.subarray(bytesParsed);
    // A head with nothing behind it is a whole request, which the parser would only say with the next byte.
    if (rest.length === 0) socket.parser.execute(NOTHING);
    else socket.unshift(rest);
    // Node goes on reading whenever a request or its body has come to an end.
    socket.pause();
    if (!this.#isFull()) this.#waitForTurn();
  }

  /** The connection may be full no more. */
  open(): void {
    const socket = this.#socket;
    if (this.#parse !== null && !isHeldByNode(socket) && socket.isPaused()) socket.resume();
  }

  /** It has been answered: nobody is to keep what was heard of it, its body too, until the next one comes. */
  forget(request: IncomingMessage): void {
    if (this.#last === request) this.#last = null;
  }

  /** From now on the rest and what comes behind it are read in order. */
  #readAsStream(): void {
    if (this.#parse !== null) return;
    const [parse] = this.#socket.listeners('data') as ((data: Buffer) => void)[];
    this.#parse = parse!;
    this.#socket.on('data', this.#take);
    this.#socket.removeListener('data', parse!);
    // The stream still waits for what the parser has taken.
    this.#socket.push(NOTHING);
  }

  readonly #take = (data: Buffer): void => {
    const socket = this.#socket;
    if (socket.parser === null) socket.removeListener('data', this.#take);
    else if (this.#isFull() || isHeldByNode(socket)) {
      socket.pause();
      socket.unshift(data);
    } else if (this.#needsTurn) {
      socket.pause();
      socket.unshift(data);
      this.#waitForTurn();
    } else this.#parse!(data);
  };

  #waitForTurn(): void {
    if (this.#waitsForTurn) return;
    this.#waitsForTurn = true;
    this.#turns.add(this.#socket, this.#turn);
  }

  /** Takes a slice; the next one, or what is to come, when there is one. */
  readonly #turn = (): void => {
    const socket = this.#socket;
    this.#waitsForTurn = false;
    if (socket.destroyed || this.#isFull() || this.#isUnread || isHeldByNode(socket)) return;
    this.#hasTurn = true;
    if (socket.readableLength > 0) this.#takeSlice();
    this.#hasTurn = false;
    if (this.#isFull() || this.#isUnread) return;
    if (socket.readableLength > 0) this.#waitForTurn();
    else socket.resume();
  };

  get #needsTurn(): boolean {
    return !this.#hasTurn && (this.#isChunked || this.#isBehind());
  }

  /** Nobody has taken what has come of the body: Node goes on reading when somebody does. */
  get #isUnread(): boolean {
    const body = this.#last;
    return body !== null && !body.complete && body.readableLength >= body.readableHighWaterMark;
  }

  #takeSlice(): void {
    const socket = this.#socket;
    const from = performance.now();
    socket.read(Math.min(this.#sliceBytes, socket.readableLength));
    const isQuick = performance.now() - from < SLICE_MS;
    this.#sliceBytes = Math.max(LEAST_BYTES, Math.min(MOST_BYTES, this.#sliceBytes * (isQuick ? 2 : 0.5)));
  }
}

function isHeldByNode({ _paused: isHeld }: ServerSocket): boolean {
  return isHeld;
}
