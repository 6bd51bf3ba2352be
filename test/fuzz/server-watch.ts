import { childrenOf, eventLoopTime } from '../support/processor-time.ts';
import type { ServerProcess } from '../support/server-process.ts';
import { FairClock } from './fair-clock.ts';
import { KeepAlive } from './keep-alive.ts';

/** No answer to anybody within this time is a freeze. */
const FREEZE_MS = 5_000;
/** Nor may its event loop compute for so long in one piece. */
const PIECE_MS = 1_000;
/** An answer that is not there by then never comes. */
const ANSWER_MS = 60_000;
const LOOK_EVERY_MS = 100;
const MAX_STALLS = 5;

/** The event loop computed for so long before it looked at somebody else. */
export interface Stall {
  ms: number;
  /** What had no answer meanwhile. */
  asked: string[];
}

/** Sees from outside whether a server lives: its process, its log, and how soon it hears somebody who asks for nothing. */
export class ServerWatch {
  /** The longest, longest first. */
  readonly stalls: Stall[] = [];
  /** What the log warned of, and how often. */
  readonly warnings: Record<string, number> = {};
  readonly #server: Pick<ServerProcess, 'child' | 'lines' | 'url'>;
  readonly #found: (what: string) => void;
  readonly #freezeMs: number;
  readonly #http: KeepAlive;
  /** Of its event loop. */
  readonly #loopClock: FairClock;
  /** Of its decoders too. */
  readonly #wholeClock: FairClock;
  readonly #open = new Map<object, string>();
  #looking: Promise<void>;
  #isEnded = false;

  constructor(
    server: Pick<ServerProcess, 'child' | 'lines' | 'url'>,
    found: (what: string) => void,
    freezeMs = FREEZE_MS,
  ) {
    this.#server = server;
    this.#found = found;
    this.#freezeMs = freezeMs;
    const pid = server.child.pid!;
    this.#loopClock = new FairClock(() => [pid]);
    this.#wholeClock = new FairClock(() => [pid, ...childrenOf(pid)]);
    this.#http = new KeepAlive(server.url, 1);
    this.#looking = this.#look();
  }

  /** Runs what waits for an answer of the server; whether one came at all is looked at, and that it is on the way is known. */
  async asking<T>(input: string, ask: (limit: AbortSignal) => Promise<T>): Promise<T> {
    const key = {};
    this.#open.set(key, input);
    const limit = new AbortController();
    const cancel = this.#wholeClock.alarm(ANSWER_MS, () => {
      this.#found(`no answer: ${input}`);
      limit.abort();
    });
    try {
      return await ask(limit.signal);
    } finally {
      cancel();
      this.#open.delete(key);
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#looking;
    this.#readLog();
    this.#loopClock.end();
    this.#wholeClock.end();
    this.#http.end();
  }

  async #look(): Promise<void> {
    const { child } = this.#server;
    while (!this.#isEnded) {
      if (child.exitCode !== null || child.signalCode !== null) {
        this.#found(`the server is gone; on the way: ${this.#asked().join('\n')}`);
        return;
      }
      await this.#probe(child.pid!);
      this.#readLog();
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
  }

  async #probe(pid: number): Promise<void> {
    const asked = this.#asked();
    const limit = new AbortController();
    const cancel = this.#loopClock.alarm(this.#freezeMs, () => {
      this.#found(`frozen; on the way: ${asked.join('\n')}`);
      limit.abort();
    });
    try {
      const before = eventLoopTime(pid).ranMs;
      await this.#http.send('GET', '/healthz', {}, null, limit.signal);
      this.#noteStall({ ms: Math.round(eventLoopTime(pid).ranMs - before), asked });
    } catch {
      // It is frozen, or gone: both are told.
    } finally {
      cancel();
    }
  }

  #noteStall(stall: Stall): void {
    if (stall.ms > PIECE_MS) this.#found(`it computed for ${stall.ms} ms; on the way: ${stall.asked.join('\n')}`);
    this.stalls.push(stall);
    this.stalls.sort((a, b) => b.ms - a.ms);
    this.stalls.length = Math.min(this.stalls.length, MAX_STALLS);
  }

  #asked(): string[] {
    return [...this.#open.values()];
  }

  #readLog(): void {
    const { lines } = this.#server;
    for (const line of lines) {
      if (line['level'] === 'error' || 'line' in line) this.#found(JSON.stringify(line));
      else if (line['level'] === 'warn') {
        const message = `${String(line['msg'])} ${String((line['err'] as Error | undefined)?.message ?? '')}`.slice(
          0,
          150,
        );
        this.warnings[message] = (this.warnings[message] ?? 0) + 1;
      }
    }
    lines.length = 0;
  }
}
