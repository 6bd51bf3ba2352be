const listeners = new Set<() => void>();
const doubters = new Set<() => void>();

/** The session is over: the token expired, was revoked, or there was none. */
export function sessionEnded(): void {
  for (const listener of listeners) listener();
}

/** Calls whenever the server says that the session is over. */
export function onSessionEnd(listener: () => void): void {
  listeners.add(listener);
}

/** The session may be over: its connection was closed by the server for what the token may do. */
export function sessionDoubted(): void {
  for (const listener of doubters) listener();
}

/** Calls whenever it should be asked whether the session still stands. */
export function onSessionDoubt(listener: () => void): void {
  doubters.add(listener);
}
