import type { IncomingMessage, RequestListener } from 'node:http';
import { RoundRobinQueue } from '../scheduling/round-robin-queue.ts';
import type { Caller } from '../scheduling/caller.ts';

/** How long requests may keep the event loop from looking at other connections. */
const SLICE_MS = 1;
/** In one turn: what a request does once it has waited for something is counted for no slice, and takes about as long. */
const AT_ONCE = 16;
/** In a turn that has taken in a connection: libuv takes in one in each, and devices stand behind thousands of others. */
const BESIDE_A_CONNECTION = 2;

/**
 * Turns of the event loop. All that thousands of connections have sent is heard in one turn of it, and each answer makes
 * the next request: were all of them worked on as they come, whoever waits for the database would wait for ever. So what
 * there is no time for stands in a line, of which tenants take turns. As long as there is no crowd, work starts at once.
 */
export class RequestTurns {
  readonly #callerOf: (request: IncomingMessage) => Caller;
  readonly #line = new RoundRobinQueue<() => void>();
  /** When the first work of this turn of the event loop began. */
  #begunAt: number | null = null;
  #armed = false;
  #hasNewConnection = false;

  /** `callerOf`: whose request it is, as far as that is known without waiting; asked when it has to wait. */
  constructor(callerOf: (request: IncomingMessage) => Caller) {
    this.#callerOf = callerOf;
  }

  /** Begins with each request when it has its turn. */
  listener(serve: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#line.isEmpty && this.#hasTime()) serve(request, response);
      else
        this.#wait(this.#callerOf(request), () => {
          // Of a sender that has gone nobody would hear any more: what it holds would be held for ever.
          if (!response.destroyed) serve(request, response);
        });
    };
  }

  /** Runs work on a request that had its turn and has come whole, now or in another turn. */
  run<T>(caller: Caller, work: () => Promise<T>): Promise<T> {
    if (this.#hasTime()) return work();
    return new Promise((resolve, reject) => this.#wait(caller, () => void work().then(resolve, reject)));
  }

  /** A connection was taken in: more may wait. */
  noteConnection(): void {
    this.#hasNewConnection = true;
  }

  #hasTime(): boolean {
    const now = performance.now();
    if (this.#begunAt === null) {
      this.#begunAt = now;
      this.#arm();
    }
    return now - this.#begunAt < SLICE_MS;
  }

  #wait(caller: Caller, begin: () => void): void {
    this.#line.add(caller, begin);
    this.#arm();
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    setImmediate(() => this.#turn());
  }

  #turn(): void {
    this.#armed = false;
    const until = performance.now() + SLICE_MS;
    const most = this.#hasNewConnection ? BESIDE_A_CONNECTION : AT_ONCE;
    this.#hasNewConnection = false;
    for (let begun = 0; begun < most && !this.#line.isEmpty; begun += 1) {
      this.#line.take()!();
      if (performance.now() >= until) break;
    }
    this.#begunAt = null;
    if (!this.#line.isEmpty) this.#arm();
  }
}
