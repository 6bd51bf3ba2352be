import { FairLine } from './fair-line.ts';
import { whoseWork } from './whose-work.ts';

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

function goOn(): void {
  line.take()!();
  goesOn = !line.isEmpty;
  if (goesOn) setImmediate(goOn);
}
