import { RoundRobinQueue } from './round-robin-queue.ts';
import type { Caller } from './caller.ts';
import { currentCaller } from './current-caller.ts';

const TURN_MS = 5;
/** With what follows below the 50 ms that nobody notices. */
const TRANSACTION_MS = 20;
/** What the reader of a stream does when it is woken. */
const WAKES_MS = 0.01;

/** Of those who have given way. */
const line = new RoundRobinQueue<() => void>();
let goesOn = false;

/**
 * Between two slices of long work: lets the event loop hear everybody else. One slice of one work goes on in each turn of
 * the loop, the next of whoever's turn it is: a hundred works that give way together would otherwise go on together.
 */
export function yieldToEventLoop(party = currentCaller()): Promise<void> {
  return new Promise((resolve) => {
    line.add(party, resolve);
    if (goesOn) return;
    goesOn = true;
    setImmediate(goOn);
  });
}

/** Lets the event loop hear everybody else without a place in the line of those who hold nothing. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Slices of long work within a transaction. On SQLite nobody else writes meanwhile: who records waits for its end, and with
 * it for whatever others do in the turns between the slices. So they are long, and there are few turns.
 */
export class TransactionSlices {
  #until = performance.now() + TRANSACTION_MS;

  /** Between two pieces of it, of a few ms each. */
  async next(): Promise<void> {
    if (performance.now() < this.#until) return;
    await nextTurn();
    this.#until = performance.now() + TRANSACTION_MS;
  }
}

/** What may be told of something while its reader waits for that. */
interface Offered<Item> {
  readonly isAwaited: boolean;
  offer: (item: Item) => void;
}

/** Long work in slices of 5 ms. */
export class Slices {
  readonly #party: Caller;
  #until = performance.now() + TURN_MS;

  /** Whose work it is. */
  constructor(party = currentCaller()) {
    this.#party = party;
  }

  /** Then give way, by `next`. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** So long takes what others do as soon as this gives way: those who were told of something. */
  leadsTo(milliseconds: number): void {
    this.#until -= milliseconds;
  }

  /** Tells one of it: a reader that waited for that goes on as soon as this gives way. */
  offer<Item>(stream: Offered<Item>, item: Item): void {
    const waited = stream.isAwaited;
    stream.offer(item);
    if (waited && !stream.isAwaited) this.leadsTo(WAKES_MS);
  }

  async next(): Promise<void> {
    await yieldToEventLoop(this.#party);
    this.#until = performance.now() + TURN_MS;
  }
}

/** Does it for each, in slices: thousands may be told of each. `leadsToMs`: as `Slices.leadsTo`. */
export async function eachInTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  leadsToMs = 0,
): Promise<void> {
  const slices = new Slices();
  for (const item of items) {
    work(item);
    slices.leadsTo(leadsToMs);
    if (slices.isOver) await slices.next();
  }
}

function goOn(): void {
  line.take()!();
  goesOn = !line.isEmpty;
  if (goesOn) setImmediate(goOn);
}
