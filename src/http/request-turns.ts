import type { IncomingMessage, RequestListener } from 'node:http';
import { countsOf } from '../scheduling/lane-counts.ts';
import { LANES } from '../scheduling/lanes.ts';
import { RoundRobinQueue } from '../scheduling/round-robin-queue.ts';
import type { Caller } from '../scheduling/caller.ts';
import { must } from '../must.ts';

const LIMITS = LANES.requests;

/**
 * Turns of the event loop. Everything that thousands of connections have sent is heard in one turn of it, and each
 * answer makes the next request: all of them worked on as they come would keep results of the database waiting for
 * ever. Requests for which there is no time wait in a queue that serves tenants in turn. As long as there is no crowd,
 * work starts at once.
 */
export class RequestTurns {
  readonly #callerOf: (request: IncomingMessage) => Caller;
  readonly #line = new RoundRobinQueue<() => void>(countsOf(LIMITS.name));
  /** Time at which the first work of this turn of the event loop began. */
  #begunAt: number | null = null;
  #armed = false;
  #hasNewConnection = false;

  /** `callerOf`: the caller of a request, as far as that is known without waiting; asked when it has to wait. */
  constructor(callerOf: (request: IncomingMessage) => Caller) {
    this.#callerOf = callerOf;
  }

  /** Serves each request in its turn. */
  listener(serve: RequestListener): RequestListener {
    return (request, response) => {
      if (this.#line.isEmpty && this.#hasTime()) serve(request, response);
      else
        this.#wait(this.#callerOf(request), () => {
          // A sender that has gone is reported no more: its request would be held for ever.
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
    return now - this.#begunAt < LIMITS.maxTurnMs;
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
    const until = performance.now() + LIMITS.maxTurnMs;
    const most = this.#hasNewConnection ? LIMITS.atOnceBesideConnection : LIMITS.atOnce;
    this.#hasNewConnection = false;
    for (let begun = 0; begun < most && !this.#line.isEmpty; begun += 1) {
      must(this.#line.take())();
      if (performance.now() >= until) break;
    }
    this.#begunAt = null;
    if (!this.#line.isEmpty) this.#arm();
  }
}
