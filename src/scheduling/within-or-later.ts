/** Resolves when `result` is settled, or after `maxMs` with it still pending. */
export function withinOrLater<T>(result: Promise<T>, maxMs: number): Promise<{ result: Promise<T> }> {
  return new Promise((resolve) => {
    const settle = (): void => {
      clearTimeout(timer);
      resolve({ result });
    };
    const timer = setTimeout(settle, maxMs);
    result.then(settle, settle);
  });
}
