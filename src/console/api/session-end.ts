const listeners = new Set<() => void>();

/** The session is over: the token expired, was revoked, or there was none. */
export function sessionEnded(): void {
  for (const listener of listeners) listener();
}

/** Calls whenever the server says that the session is over. */
export function onSessionEnd(listener: () => void): void {
  listeners.add(listener);
}
