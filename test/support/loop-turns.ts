/** Counts the turns of this process's event loop from now on, until it is stopped: others have theirs in between. */
export function countTurns(): { readonly turns: number; stop: () => void } {
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  return {
    get turns() {
      return turns;
    },
    stop: () => (isOver = true),
  };
}
