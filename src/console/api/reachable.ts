import { createStore } from './store.ts';

const LOOK_EVERY_MS = 2_000;

/** False while the server cannot be reached. */
export const isReachable = createStore(true);

let isLooking = false;
let tellers = 0;

/** Says that the page tells people by itself while the server cannot be reached, until the returned function is called. */
export function tellsReachable(): () => void {
  tellers += 1;
  return () => void (tellers -= 1);
}

/** True when the page tells by itself that the server cannot be reached: no part of it needs to say so again. */
export function isToldReachable(): boolean {
  return tellers > 0;
}

/** Notes that a request found no server: looks for it until it is back. */
export function serverMissed(): void {
  isReachable.set(false);
  if (!isLooking) void lookForServer();
}

/** Looks once, as when the connection has ended: it may be the connection alone. */
export async function checkServer(): Promise<void> {
  if (!isLooking && !(await isServerThere())) serverMissed();
}

async function lookForServer(): Promise<void> {
  isLooking = true;
  do await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  while (!(await isServerThere()));
  isLooking = false;
  isReachable.set(true);
}

async function isServerThere(): Promise<boolean> {
  try {
    return (await fetch('/healthz', { cache: 'no-store', credentials: 'omit' })).ok;
  } catch {
    return false;
  }
}
