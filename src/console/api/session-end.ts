const listeners = new Set<() => void>();
const doubters = new Set<() => void>();

/** Reports that the session is over: the token expired, was revoked, or there was none. */
export function sessionEnded(): void {
  for (const listener of listeners) listener();
}

/** Calls whenever the session ends. */
export function onSessionEnd(listener: () => void): void {
  listeners.add(listener);
}

/** Reports that the session may be over: the server closed its connection because of the token's rights. */
export function sessionDoubted(): void {
  for (const listener of doubters) listener();
}

/** Calls whenever the session must be checked. */
export function onSessionDoubt(listener: () => void): void {
  doubters.add(listener);
}
