/** Copies a text, or what holds some, to keep: a part of a file's piece would keep the whole piece in memory. */
export function flatCopy<T>(kept: T): T {
  return JSON.parse(JSON.stringify(kept)) as T;
}
