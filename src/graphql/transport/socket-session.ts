import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Access } from '../../domain/access/access.ts';
import { yieldToEventLoop } from '../../scheduling/yield-to-event-loop.ts';
import { NOBODY } from '../../scheduling/caller.ts';
import { AppError } from '../../errors.ts';
import type { WorkBudget } from '../context/work-budget.ts';
import { SocketWriter } from './socket-writer.ts';

const PING_EVERY_MS = 15_000;
/** Maximum unsent bytes per client in this process. */
const MAX_UNSENT_BYTES = 16 * 1_048_576;
/** Milliseconds between looks whether the token has ended: timers do not follow a clock that is set. */
const LOOK_AGAIN_MS = 5_000;

/** Close code: too much at once; connect again later. */
export const TRY_AGAIN_LATER = 1013;
/** Close code: connect again at once. */
export const SERVICE_RESTART = 1012;
/** Close code of graphql-transport-ws: the token is unknown, expired or revoked. */
export const FORBIDDEN = 4403;

const GONE = new AppError('UNAVAILABLE', 'The client is gone.');

/** One open WebSocket: whose it is, what still runs on it, and how it ends. */
export class SocketSession {
  readonly socket: WebSocket;
  /** Id of the request that opened it. */
  readonly requestId: string;
  /** null until the connection was acknowledged. */
  access: Access | null = null;
  /** Ids of queries and mutations that were not yet answered. */
  readonly running = new Set<string>();
  /** Ids of subscriptions that listen. */
  readonly listening = new Set<string>();
  /** The budget of each running operation, by its id. */
  readonly budgets = new Map<string, WorkBudget>();
  /** Frees what subscriptions keep, by their messages: ids may come again. */
  readonly #kept = new Map<object, () => void>();
  readonly #now: () => number;
  readonly #writer: SocketWriter;
  #expiry: NodeJS.Timeout | null = null;
  #end: { code: number; reason: string } | null = null;

  constructor(socket: WebSocket, wire: Duplex, now: () => number, requestId: string) {
    this.socket = socket;
    this.requestId = requestId;
    this.#now = now;
    this.#writer = new SocketWriter(socket, wire);
    keepAlive(socket);
    socket.once('close', () => {
      if (this.#expiry) clearTimeout(this.#expiry);
    });
  }

  /** Whether it is ending: nothing new starts and no live value is delivered. */
  get ending(): boolean {
    return this.#end !== null;
  }

  /** Gives the connection this token's access, until it expires. */
  grant(access: Access): void {
    this.access = access;
    this.#watchExpiry();
  }

  /** Begins its end; its socket stays open until `end` is called, as hundreds may end at once. */
  beginsToEnd(code: number, reason: string): void {
    this.#end ??= { code, reason };
  }

  /** Closes with the code and reason as soon as running queries and mutations were answered. */
  end(code: number, reason: string): void {
    this.beginsToEnd(code, reason);
    this.#closeIfIdle();
  }

  /** Notes how to free what the operation of this message keeps, until it is over. */
  keep(message: object, free: () => void): void {
    this.#kept.set(message, free);
  }

  /** Frees an operation that was answered, or is wanted no longer. */
  over(id: string, message: object): void {
    this.#kept.get(message)?.();
    this.#kept.delete(message);
    this.running.delete(id);
    this.listening.delete(id);
    this.budgets.get(id)?.end(GONE);
    this.budgets.delete(id);
    // The answer is handed to the socket right after this.
    if (this.ending) setImmediate(() => this.#closeIfIdle());
  }

  /** Stops what still runs for a closed socket, in its turn: dozens may close at once, with many subscriptions each. */
  async gone(): Promise<void> {
    await yieldToEventLoop(this.access ?? NOBODY);
    this.running.clear();
    this.listening.clear();
    for (const free of this.#kept.values()) free();
    this.#kept.clear();
    for (const budget of this.budgets.values()) budget.end(GONE);
    this.budgets.clear();
  }

  /** Hands a message to the socket; those of one turn of the event loop go out in one write. */
  push(text: string | Buffer): void {
    if (this.socket.readyState !== this.socket.OPEN) return;
    if (this.socket.bufferedAmount > MAX_UNSENT_BYTES) {
      this.end(TRY_AGAIN_LATER, 'reader too slow: too much is waiting to be sent');
      this.socket.terminate();
      return;
    }
    this.#writer.write(text);
  }

  /** Resolves when what was pushed has left this process, so that the next push waits for a slow reader. */
  sent(): Promise<void> {
    return this.#writer.sent();
  }

  #closeIfIdle(): void {
    if (this.#end !== null && this.running.size === 0) this.socket.close(this.#end.code, this.#end.reason);
  }

  #watchExpiry(): void {
    const expiresAt = this.access?.expiresAt ?? null;
    if (expiresAt === null) return;
    const left = expiresAt - this.#now();
    if (left <= 0) {
      this.end(FORBIDDEN, 'the token has expired');
      return;
    }
    this.#expiry = setTimeout(() => this.#watchExpiry(), Math.min(left, LOOK_AGAIN_MS));
    this.#expiry.unref();
  }
}

/** Pings the client, and ends a connection that did not answer the last ping. */
function keepAlive(socket: WebSocket): void {
  let isAlive = true;
  const pinger = setInterval(() => {
    if (!isAlive) return socket.terminate();
    isAlive = false;
    if (socket.readyState === socket.OPEN) socket.ping();
  }, PING_EVERY_MS).unref();
  socket.on('pong', () => (isAlive = true));
  socket.once('close', () => clearInterval(pinger));
}
