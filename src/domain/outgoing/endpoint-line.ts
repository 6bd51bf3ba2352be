import type { Target, TakenDelivery } from './delivery-exchange.ts';

/** Maximum calls at once per endpoint; of one that does not answer, one. */
export const CALLS_PER_ENDPOINT = 4;
/** Maximum deliveries taken ahead per endpoint that answers. */
const TAKEN_AHEAD = 256;
/** Least time of a lease that a try needs. */
const NEEDED_MS = 20_000;

/** The deliveries of one endpoint that this node has taken. */
export class EndpointLine {
  target: Target;
  running = 0;
  /** No try before this time (ms UTC): the receiver asked for it. */
  pausedUntil = 0;
  /** True after a try without an answer: it may hang, and gets one call at a time. */
  isAiling: boolean;
  readonly #queue: TakenDelivery[] = [];

  constructor(target: Target) {
    this.target = target;
    this.isAiling = target.failingSince !== null;
  }

  get isIdle(): boolean {
    return this.running === 0 && this.#queue.length === 0;
  }

  /** How many more it may take. */
  room(now: number): number {
    if (now < this.pausedUntil) return 0;
    const most = this.isAiling ? 1 : TAKEN_AHEAD;
    return Math.max(0, most - this.running - this.#queue.length);
  }

  add(deliveries: readonly TakenDelivery[]): void {
    this.#queue.push(...deliveries);
  }

  /** The next delivery to send; null: none may be sent now. */
  next(now: number): TakenDelivery | null {
    if (this.running >= (this.isAiling ? 1 : CALLS_PER_ENDPOINT) || now < this.pausedUntil) return null;
    const [first] = this.#queue;
    if (first === undefined || first.until - now < NEEDED_MS) return null;
    return this.#queue.shift()!;
  }

  /** Gives up those that it cannot send now: all but those of a line that goes on. */
  giveBack(now: number): TakenDelivery[] {
    if (!this.target.enabled || this.isAiling || now < this.pausedUntil) return this.empty();
    const inTime = this.#queue.findIndex(({ until }) => until - now >= NEEDED_MS);
    return inTime < 0 ? this.empty() : this.#queue.splice(0, inTime);
  }

  /** Gives up everything that was not begun. */
  empty(): TakenDelivery[] {
    return this.#queue.splice(0);
  }
}
