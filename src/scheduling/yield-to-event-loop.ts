import { countsOf } from './lane-counts.ts';
import { LANES } from './lanes.ts';
import { RoundRobinQueue } from './round-robin-queue.ts';
import type { Caller } from './caller.ts';
import { currentCaller } from './current-caller.ts';

const SLICE_MS = 5;
/** Maximum time of a slice in a transaction; with what follows it stays below 50 ms. */
const TRANSACTION_SLICE_MS = 20;
/** Cost of waking the reader of a stream. */
const WAKE_MS = 0.01;

/** Work that has yielded. */
const queue = new RoundRobinQueue<() => void>(countsOf(LANES.slices.name));
let isScheduled = false;

/**
 * Yields to the event loop between two slices of long work. Each turn of the loop resumes one slice, in turns between
 * callers, so that many that yield together do not resume together.
 */
export function yieldToEventLoop(caller = currentCaller()): Promise<void> {
  return new Promise((resolve) => {
    queue.add(caller, resolve);
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(runNext);
  });
}

/** Yields to the event loop without queueing behind other slices; for work that holds a lock. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Slices of long work in a transaction. They are long and few, because on SQLite all writers wait for the end of the
 * transaction, and so for each turn between its slices.
 */
export class TransactionSlices {
  #until = performance.now() + TRANSACTION_SLICE_MS;

  /** Yields once the slice is over; call it between pieces of a few ms. */
  async next(): Promise<void> {
    if (performance.now() < this.#until) return;
    await nextTurn();
    this.#until = performance.now() + TRANSACTION_SLICE_MS;
  }
}

/** A stream whose reader may wait for an item. */
interface Offered<Item> {
  readonly isAwaited: boolean;
  offer: (item: Item) => void;
}

/** Long work in slices of 5 ms. */
export class Slices {
  readonly #caller: Caller;
  #until = performance.now() + SLICE_MS;

  /** `caller`: the caller whose work it is. */
  constructor(caller = currentCaller()) {
    this.#caller = caller;
  }

  /** Whether to yield now, by `next`. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Counts time that others will use as soon as this yields, such as readers that were woken. */
  expectFollowUp(milliseconds: number): void {
    this.#until -= milliseconds;
  }

  /** Offers the item, and counts the follow-up of a reader that waited for it. */
  offer<Item>(stream: Offered<Item>, item: Item): void {
    const wasAwaited = stream.isAwaited;
    stream.offer(item);
    if (wasAwaited && !stream.isAwaited) this.expectFollowUp(WAKE_MS);
  }

  async next(): Promise<void> {
    await yieldToEventLoop(this.#caller);
    this.#until = performance.now() + SLICE_MS;
  }
}

let sliceEnds: number | null = null;

/** Whether all that ask so have together used up their slice of this turn of the event loop. */
export function isSliceOver(): boolean {
  const now = performance.now();
  if (sliceEnds === null) {
    sliceEnds = now + SLICE_MS;
    setImmediate(() => (sliceEnds = null));
  }
  return now >= sliceEnds;
}

/** Runs `work` for each item in slices. `followUpMs`: as for `Slices.expectFollowUp`. */
export async function eachInTurns<Item>(
  items: Iterable<Item>,
  work: (item: Item) => void,
  followUpMs = 0,
): Promise<void> {
  const slices = new Slices();
  for (const item of items) {
    work(item);
    slices.expectFollowUp(followUpMs);
    if (slices.isOver) await slices.next();
  }
}

function runNext(): void {
  queue.take()!();
  isScheduled = !queue.isEmpty;
  if (isScheduled) setImmediate(runNext);
}
