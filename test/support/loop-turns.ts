/**
 * Counts the turns of this process's event loop from now on, until it is stopped: others have theirs in between. A loop
 * that waits has none.
 */
export function countTurns(): { readonly turns: number; stop: () => void } {
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count).unref();
  };
  setImmediate(count).unref();
  return {
    get turns() {
      return turns;
    },
    stop: () => (isOver = true),
  };
}
