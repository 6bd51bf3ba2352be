import { CloseCode } from 'graphql-ws';
import type { RawData, WebSocket } from 'ws';
import { outermostOf, parseShallow } from '../../domain/text/json-text.ts';
import type { EventLoopQueue } from '../../scheduling/event-loop-queue.ts';
import type { Caller } from '../../scheduling/caller.ts';
import { runAs } from '../../scheduling/current-caller.ts';
import type { FairScheduler } from '../../scheduling/fair-scheduler.ts';
import { type AppError, badInput } from '../../errors.ts';
import { IdOrder } from './id-order.ts';
import { readJson, whyUnread } from './read-json.ts';
import { must } from '../../must.ts';

/** Maximum messages per connection that are being answered, operations included; then it is read no further. */
const MAX_ANSWERING = 200;
/** Maximum bytes per connection that wait unread while others have their turn. */
const MAX_UNREAD_BYTES = 65_536;
/** Maximum bytes per connection before a valid token, the token included. */
const MAX_OF_STRANGERS = 16_384;
/** Bytes of a client's shortest frame. */
const HEAD_BYTES = 6;
/** Bytes from which a message is read in its caller's turn: less takes two milliseconds at most. */
const LONG = 16_384;

interface SocketMessagesDeps {
  socket: WebSocket;
  /** Turns in which all connections read: a message of a megabyte takes long, and many may be there at once. */
  turns: EventLoopQueue;
  shares: Pick<FairScheduler, 'begin' | 'spend'>;
  /** The account that pays for reading; null: no token was shown yet. */
  caller: () => Caller | null;
  /** Counts a message that waits for an operation of its id, until the result is called; throws OVERLOADED. */
  hold: (message: unknown) => () => void;
  /** Resolves when the message is answered, an operation when it is over. Takes a parsed one as well as its text. */
  receive: (message: any) => Promise<void>;
  /** Told that a message was read, or will never be. */
  onRead: () => void;
  onFailed: (error: unknown) => void;
}

/** Reads what one connection sends: in turns with all others, in order, and no faster than it is answered. */
export class SocketMessages {
  readonly #deps: SocketMessagesDeps;
  readonly #order: IdOrder;
  #unreadBytes = 0;
  #answering = 0;
  #strangersBytes = 0;
  /** The latest ping, until it is answered. */
  #ping: Buffer | null = null;
  #last: Promise<void> = Promise.resolve();

  constructor(deps: SocketMessagesDeps) {
    this.#deps = deps;
    this.#order = new IdOrder(() => deps.socket.readyState === deps.socket.OPEN, deps.hold);
  }

  /** Begins to read. */
  read(): void {
    // A Buffer: the server was not asked for fragments or array buffers.
    const { socket } = this.#deps;
    socket.on('message', (data: RawData) => this.#came(data as Buffer));
    socket.on('ping', (data) => this.#pinged(data));
    socket.on('pong', (data) => void this.#isTooMuch(data));
  }

  /** Counts bytes without a token, with the head of the frame. */
  #isTooMuch({ length }: Buffer): boolean {
    const { socket, caller } = this.#deps;
    if (caller() !== null || (this.#strangersBytes += HEAD_BYTES + length) <= MAX_OF_STRANGERS) return false;
    socket.close(CloseCode.Unauthorized, `Show a token first, in at most ${MAX_OF_STRANGERS} bytes.`);
    return true;
  }

  /** Keeps the last of several pings: only that needs an answer (RFC 6455, 5.5.3). One at a time is under way. */
  #pinged(data: Buffer): void {
    if (this.#isTooMuch(data)) return;
    const isAnswering = this.#ping !== null;
    // A copy, not the piece of 64 KB that it came in.
    this.#ping = Buffer.from(data);
    if (!isAnswering) this.#pong();
  }

  #pong(): void {
    const { socket, onFailed } = this.#deps;
    const pong = async (): Promise<void> => {
      const answered = must(this.#ping);
      socket.pong(answered, false, () => {
        if (this.#ping !== answered) return this.#pong();
        this.#ping = null;
      });
    };
    this.#inTurn(pong).catch(onFailed);
  }

  #came(message: Buffer): void {
    if (this.#isTooMuch(message)) return;
    this.#unreadBytes += message.length;
    this.#answering += 1;
    this.#pauseOrResume();
    this.#last = this.#last.then(() => this.#read(message));
  }

  async #read(message: Buffer): Promise<void> {
    const { onRead } = this.#deps;
    await this.#turn(message);
    const read = async (): Promise<void> => {
      this.#unreadBytes -= message.length;
      // Told now, not when it is answered: a subscription is over much later.
      this.#pauseOrResume();
      onRead();
      this.#answer(message);
    };
    await this.#inTurn(read);
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const { turns, caller } = this.#deps;
    const party = caller();
    // Subscriptions send in turns, too: what is begun here is the same party's.
    return party === null ? turns.run(work) : runAs(party, () => turns.run(work));
  }

  /** Resolves in the caller's turn to have something long read. A caller with too much waiting is sent away. */
  async #turn({ length }: Buffer): Promise<void> {
    const { shares, caller, onFailed } = this.#deps;
    const party = caller();
    if (length > LONG && party !== null) await shares.begin(party).catch(onFailed);
  }

  /** Reads in this turn and answers in none. The answer's promise holds no bytes. */
  #answer(message: Buffer): void {
    const { socket } = this.#deps;
    // A subscription of a client that is gone would never end.
    if (socket.readyState === socket.OPEN) void this.#receive(this.#parsed(message));
    else this.#answered();
  }

  #parsed(message: Buffer): unknown {
    const { shares, caller } = this.#deps;
    const started = performance.now();
    const value = readMessage(message.toString('utf8'));
    const party = caller();
    if (party !== null) shares.spend(party, performance.now() - started);
    return value;
  }

  async #receive(message: unknown): Promise<void> {
    const { receive, onFailed } = this.#deps;
    try {
      await this.#order.pass(message, receive);
    } catch (error) {
      onFailed(error);
    } finally {
      this.#answered();
    }
  }

  #answered(): void {
    this.#answering -= 1;
    this.#pauseOrResume();
  }

  #pauseOrResume(): void {
    const { socket } = this.#deps;
    const isBusy = this.#unreadBytes > MAX_UNREAD_BYTES || this.#answering >= MAX_ANSWERING;
    if (isBusy && !socket.isPaused) socket.pause();
    if (!isBusy && socket.isPaused) socket.resume();
  }
}

/** Types that only a server may send: graphql-ws takes one for its own mistake, when it is the client's. */
const OF_SERVERS: ReadonlySet<unknown> = new Set(['connection_ack', 'next', 'error']);

/** Keys of payloads that are read: graphql-ws keeps them as long as what they begin. */
const READ_OF_PAYLOAD: Readonly<Record<string, readonly string[]>> = {
  connection_init: ['token', 'authorization', 'Authorization'],
  subscribe: ['query', 'operationName', 'variables'],
};

/** Stands for the payload of an operation that was too dear to be read. */
export class UnreadPayload {
  /** Text for graphql-ws, which looks whether there is one. */
  readonly query = '';
  readonly reason: AppError;

  constructor(why: string) {
    this.reason = badInput(`This operation ${why}.`);
  }
}

/** The message without unused keys; null: a client does not send this. */
function readMessage(text: string): unknown {
  const value = readJson(text);
  if (value === undefined) return unreadMessage(text);
  if (!isObject(value)) return value;
  const { type, id, payload } = value;
  if (OF_SERVERS.has(type)) return null;
  const read = typeof type === 'string' && Object.hasOwn(READ_OF_PAYLOAD, type) ? READ_OF_PAYLOAD[type] : undefined;
  return { type, id, payload: read !== undefined && isObject(payload) ? only(payload, read) : payload };
}

/** Ends the connection for what is no message; for one that asks too much, only the operation that it would begin. */
function unreadMessage(text: string): unknown {
  const why = whyUnread(text);
  const message = why === null ? undefined : parseShallow(outermostOf(text), {});
  if (why === null || !isObject(message) || message['type'] !== 'subscribe') return undefined;
  return { type: 'subscribe', id: message['id'], payload: new UnreadPayload(why) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function only(value: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  const entries = names.filter((name) => Object.hasOwn(value, name)).map((name) => [name, value[name]] as const);
  return Object.fromEntries(entries);
}
