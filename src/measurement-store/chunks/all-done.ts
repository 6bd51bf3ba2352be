/** Like `Promise.all`, but throws only when none goes on: their snapshot ends then, and another job begins on it. */
export async function allDone<T>(work: Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}
