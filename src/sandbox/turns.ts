/** A turn among others. */
export interface Turn {
  /** Execution time that is left of it; less than nothing: it took more, and the others come first. */
  creditMs: number;
  /** When it was charged last. */
  chargedAt: number;
}

/** Execution time of a turn. */
const QUANTUM_MS = 4;
/** What one took too much is not remembered beyond this. */
const MAX_DEBT_MS = 2_500;

/** As of who comes for the first time. */
export const newTurn = (): Turn => ({ creditMs: QUANTUM_MS, chargedAt: 0 });

/** Comes back after having had nothing to do: what it took too much before is forgiven as time goes by. */
export function enter(turn: Turn, now: number): void {
  turn.creditMs = Math.min(QUANTUM_MS, turn.creditMs + Math.max(0, now - turn.chargedAt));
}

/** It took so much, less than nothing when it had been charged for more. */
export function charge(turn: Turn, tookMs: number, now: number): void {
  turn.creditMs = Math.max(-MAX_DEBT_MS, Math.min(QUANTUM_MS, turn.creditMs - tookMs));
  turn.chargedAt = now;
}

/** The first that has something left of its turn; where none has, all get new turns. */
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

/** Whose turn is over goes behind the others; who has nothing to do any more goes away. */
export function goOn<T>(all: T[], one: T, turn: Turn, isDone: boolean): void {
  if (!isDone && turn.creditMs > 0) return;
  const [taken] = all.splice(all.indexOf(one), 1);
  if (!isDone) all.push(taken!);
}
