/** Of those who have given way, in their order. */
const waiting: (() => void)[] = [];

/**
 * Between two slices of long work: lets the event loop hear everybody else. One slice of one work goes on in each turn of
 * the loop: a hundred works that give way together would otherwise go on together.
 */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(goOn);
}
