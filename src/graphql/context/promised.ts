/** A value that is known, or a promise of it: thousands of promises would be work. */
export type Promised<T> = T | Promise<T>;

/** Goes on with the value, at once when it is there. */
export function whenKnown<T, R>(value: Promised<T>, goOn: (value: T) => Promised<R>): Promised<R> {
  return value instanceof Promise ? value.then((come) => goOn(come)) : goOn(value);
}
