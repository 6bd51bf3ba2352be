import { FairLine } from './fair-line.ts';
import { whoseWork } from './whose-work.ts';

const TURN_MS = 5;

/** Of those who have given way. */
const line = new FairLine<() => void>();
let goesOn = false;

/**
 * Between two slices of long work: lets the event loop hear everybody else. One slice of one work goes on in each turn of
 * the loop, the next of whoever's turn it is: a hundred works that give way together would otherwise go on together.
 */
export function giveWay(party = whoseWork()): Promise<void> {
  return new Promise((resolve) => {
    line.add(party, resolve);
    if (goesOn) return;
    goesOn = true;
    setImmediate(goOn);
  });
}

/**
 * Within a transaction: lets the event loop hear everybody else without a place in the line of those who hold nothing. On
 * SQLite nobody else writes meanwhile, and who is looked up or recorded would wait with it for all of their slices.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Does it for each, and lets others have their turn whenever that has taken 5 ms: thousands may be told of each. */
export async function eachInTurns<Item>(items: readonly Item[], work: (item: Item) => void): Promise<void> {
  let since = performance.now();
  for (const item of items) {
    work(item);
    if (performance.now() - since < TURN_MS) continue;
    await giveWay();
    since = performance.now();
  }
}

function goOn(): void {
  line.take()!();
  goesOn = !line.isEmpty;
  if (goesOn) setImmediate(goOn);
}
