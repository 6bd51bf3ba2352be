import { must } from '../must.ts';

/** Credit of a queue among others. */
export interface Turn {
  /** Execution time left; negative if it took more, so that the others come first. */
  creditMs: number;
  /** When it was last charged. */
  chargedAt: number;
}

/** Execution time per turn. */
const QUANTUM_MS = 4;
/** Maximum debt that is remembered. */
const MAX_DEBT_MS = 2_500;

/** Initial credit of a queue. */
export const newTurn = (): Turn => ({ creditMs: QUANTUM_MS, chargedAt: 0 });

/** Credits the time that passed while the queue was empty. */
export function enter(turn: Turn, now: number): void {
  turn.creditMs = Math.min(QUANTUM_MS, turn.creditMs + Math.max(0, now - turn.chargedAt));
}

/** Charges execution time; a negative amount is refunded. */
export function charge(turn: Turn, tookMs: number, now: number): void {
  turn.creditMs = Math.max(-MAX_DEBT_MS, Math.min(QUANTUM_MS, turn.creditMs - tookMs));
  turn.chargedAt = now;
}

/** The first served queue with credit left; if none has any, all get new turns. */
export function inTurn<T>(all: readonly T[], turnOf: (one: T) => Turn, isServed: (one: T) => boolean): T | undefined {
  let most = -Infinity;
  for (const one of all) {
    if (!isServed(one)) continue;
    const { creditMs } = turnOf(one);
    if (creditMs > 0) return one;
    most = Math.max(most, creditMs);
  }
  if (most === -Infinity) return undefined;
  const rounds = Math.floor(-most / QUANTUM_MS) + 1;
  for (const one of all) if (isServed(one)) turnOf(one).creditMs += rounds * QUANTUM_MS;
  return inTurn(all, turnOf, isServed);
}

/** Moves a queue whose turn is over behind the others; removes it if it is empty. */
export function goOn<T>(all: T[], one: T, turn: Turn, isDone: boolean): void {
  if (!isDone && turn.creditMs > 0) return;
  const [taken] = all.splice(all.indexOf(one), 1);
  if (!isDone) all.push(must(taken));
}
