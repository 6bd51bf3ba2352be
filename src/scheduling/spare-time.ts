import { performance } from 'node:perf_hooks';

/** Time of a request that is not scheduled, such as recording, with what it takes of other threads and the database. */
const REQUEST_MS = 0.6;
const LOOK_EVERY_MS = 50;

/** Time that the event loop of this thread has been idle so far, in milliseconds. */
const idleSoFar = (): number => performance.eventLoopUtilization().idle;

/**
 * Time of the event loop that nobody wants: what it was idle beyond what others used. Where they want most of it, there
 * is none for a caller: it would slow them down by taking that. It knows the loop of this process and HTTP requests: what
 * MQTT, other workers and the database do is not counted.
 */
export class SpareTime {
  readonly #idle: () => number;
  #idleBefore: number;
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** Used since the last look: by requests and by callers in the foreground, and by each of these. */
  #usedMs = 0;
  readonly #byCaller = new Map<object, number>();

  /** `idle`: time for which the loop has been idle so far. */
  constructor(idle: () => number = idleSoFar) {
    this.#idle = idle;
    this.#idleBefore = idle();
  }

  /** Notes a request that is not scheduled. */
  noteRequest(): void {
    this.#usedMs += REQUEST_MS;
  }

  /** Notes time that a caller used; less than 0: it had been charged too much. */
  noteUse(caller: object, ms: number): void {
    if (Number.isNaN(ms)) return;
    this.#usedMs += ms;
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + ms);
  }

  /** Spare milliseconds of each caller since the last look, divided among them; empty between two looks. */
  divide<C extends object>(callers: readonly C[], now: number): ReadonlyMap<C, number> {
    const spare = new Map<C, number>();
    if (now - this.#lookedAt < LOOK_EVERY_MS) return spare;
    const idle = this.#idle();
    for (const caller of callers) {
      const ofOthers = Math.max(0, this.#usedMs - (this.#byCaller.get(caller) ?? 0));
      spare.set(caller, Math.max(0, idle - this.#idleBefore - ofOthers) / callers.length);
    }
    this.#lookedAt = now;
    this.#idleBefore = idle;
    this.#usedMs = 0;
    this.#byCaller.clear();
    return spare;
  }
}
