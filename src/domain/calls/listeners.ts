import type { BoundedStream } from '../../scheduling/bounded-stream.ts';
import type { Slices } from '../../scheduling/yield-to-event-loop.ts';
import type { ProductInfo } from '../ingest-cache/ingest-cache.ts';
import { type CallRow, textLengthOf } from '../ports/store.ts';
import type { LoggedCall } from './logged-call.ts';

/** What of a product's calls may wait to be told: those of a flush, and of some seconds to thousands. */
const MOST_UNTOLD = 32_000_000;
/** So that who waited goes on once for all of them; together no more than a stream holds, however long each is. */
const TOLD_AT_ONCE = 20;

/** What happened to a call: it was logged, or (`again`) its outcome was rewritten. */
export interface ToldCall {
  row: CallRow;
  again: boolean;
  /** The number of that among all that was told. */
  at: number;
}

/** Of one subscriber. */
type CallStream = BoundedStream<ToldCall, LoggedCall>;

/** What another node says of a call; `at`: its number among all that was told. */
interface Heard {
  id: string;
  again: boolean;
  at: number;
}

/** Who listens to a product, and the calls of which not all of them have been told. */
export class Listeners {
  readonly productId: string;
  readonly productKey: number;
  /** Another number after each call that is told of. */
  told: number;
  /** Heard and not read yet, in the order in which they are told. */
  readonly heard: Heard[] = [];
  isReading = false;
  readonly #accepting = new Map<CallStream, (call: ToldCall) => boolean>();
  #untold: ToldCall[] = [];
  #characters = 0;
  /** Goes on where it gave way. */
  #telling: Generator<void, void> | null = null;

  constructor({ id, key }: Pick<ProductInfo, 'id' | 'key'>, told: number) {
    this.productId = id;
    this.productKey = key;
    this.told = told;
  }

  get isEmpty(): boolean {
    return this.#accepting.size === 0;
  }

  /** Calls that wait to be told. */
  get untold(): number {
    return this.#untold.length;
  }

  /** Is told of all calls that come from now on and that it accepts. */
  add(stream: CallStream, accepts: (call: ToldCall) => boolean): void {
    this.#accepting.set(stream, accepts);
  }

  delete(stream: CallStream): void {
    this.#accepting.delete(stream);
  }

  /** Waits to be told; false: too much does. */
  push(call: ToldCall): boolean {
    this.#untold.push(call);
    this.#characters += charactersOf(call.row);
    return this.#characters <= MOST_UNTOLD;
  }

  /** Tells as much as there is time for; false: that was not all. */
  tell(slices: Slices): boolean {
    this.#telling ??= this.#tellAll(slices);
    while (!slices.isOver) {
      if (this.#telling.next().done !== true) continue;
      this.#telling = null;
      return true;
    }
    return false;
  }

  /** From now on nobody listens: gives those who did. */
  end(): CallStream[] {
    const ended = [...this.#accepting.keys()];
    this.#accepting.clear();
    this.#untold = [];
    this.#telling = null;
    this.heard.length = 0;
    return ended;
  }

  /** One stream at a time. Whoever comes meanwhile accepts none of what came before. */
  *#tellAll(slices: Slices): Generator<void, void> {
    while (this.#untold.length > 0) {
      const calls = this.#untold.slice(0, TOLD_AT_ONCE);
      for (const [stream, accepts] of this.#accepting) {
        for (const call of calls) if (accepts(call)) slices.offer(stream, call);
        yield;
      }
      this.#untold.splice(0, calls.length);
      for (const { row } of calls) this.#characters -= charactersOf(row);
    }
  }
}

/** What it takes in memory. */
export function charactersOf(row: CallRow): number {
  // The fixed part stands for what every call costs: some thousand small ones are enough.
  return 8_000 + textLengthOf(row);
}
