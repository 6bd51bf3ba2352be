/** Between two slices of long work: lets the event loop hear everybody else. */
export function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
