/** Resolves when it is done, or after so many milliseconds; `result`: what it gives or throws. */
export function withinOrLater<T>(result: Promise<T>, longMs: number): Promise<{ result: Promise<T> }> {
  return new Promise((resolve) => {
    const tell = (): void => {
      clearTimeout(timer);
      resolve({ result });
    };
    const timer = setTimeout(tell, longMs);
    result.then(tell, tell);
  });
}
