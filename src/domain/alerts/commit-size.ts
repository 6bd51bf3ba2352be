import type { Transition } from '../rules/judge-state.ts';
import type { Judged } from './judged.ts';

/** Maximum changes of alerts per commit, with those of the last device judged beyond it. */
const MAX_CHANGES = 200;
/** Maximum characters of the values that they were judged by. */
const MAX_CHARACTERS = 1_000_000;
/** Characters that a value takes at most, and one that is no text. */
const [LONGEST, NUMBER] = [256, 20];

/** The part of a commit that changes take up; from 1 on it is full. */
export function weightOf(changes: readonly { transitions: readonly Transition[] }[]): number {
  let [count, characters] = [0, 0];
  for (const { transitions } of changes)
    for (const { values } of transitions) {
      count += 1;
      for (const value of Object.values(values))
        characters += typeof value === 'string' ? Math.min(value.length, LONGEST) : NUMBER;
    }
  return Math.max(count / MAX_CHANGES, characters / MAX_CHARACTERS);
}

/** Devices in parts, each for a commit. */
export function inParts(judged: readonly Judged[]): Judged[][] {
  const parts: Judged[][] = [];
  let weight = Infinity;
  for (const one of judged) {
    if (weight >= 1) {
      parts.push([]);
      weight = 0;
    }
    parts.at(-1)!.push(one);
    weight += weightOf(one.changes);
  }
  return parts;
}
