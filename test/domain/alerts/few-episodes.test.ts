import { expect, test } from 'vitest';
import { alertsAfter } from '../../../src/domain/alerts/alert-changes.ts';
import { fewEpisodes } from '../../../src/domain/alerts/few-episodes.ts';
import type { Transition } from '../../../src/domain/rules/judge-state.ts';

type State = Transition['state'];

function change(at: number, state: State, firedAt: number | null = at): Transition {
  const endedAt = state === 'RESOLVED' ? at : null;
  return { at, state, severity: 'WARNING', reason: 'VALUE', startedAt: at, firedAt, endedAt, values: {} };
}

/** Episodes that begin and end; `fires`: which of them do. */
const episodes = (count: number, fires: (at: number) => boolean = () => true): Transition[] =>
  Array.from({ length: count }, (_, at) => {
    const firedAt = fires(at) ? at : null;
    return [change(at, firedAt === null ? 'PENDING' : 'FIRING', firedAt), change(at, 'RESOLVED', firedAt)];
  }).flat();

test('ordinary numbers stay as they are', () => {
  expect(fewEpisodes(episodes(20))).toEqual(episodes(20));
});

test('the first and the newest stay, also when they come bit by bit; the gap says how many are missing', () => {
  const all = episodes(5_000);
  const few = fewEpisodes(all);
  expect(few.map(({ at }) => at)).toEqual([0, ...Array.from({ length: 19 }, (_, at) => 4_981 + at)].flatMap((at) => [at, at])); // oxfmt-ignore
  expect(few.map(({ omitted }) => omitted).filter((count) => count !== undefined)).toEqual([4_980]);
  let bits: Transition[] = [];
  for (let at = 0; at < all.length; at += 7) bits = fewEpisodes([...bits, ...all.slice(at, at + 7)]);
  expect(bits).toEqual(few);
});

test('those that never fired take the place of none that did', () => {
  const few = fewEpisodes(episodes(100, (at) => at === 50));
  expect(few.filter(({ firedAt }) => firedAt !== null).map(({ at }) => at)).toEqual([50, 50]);
  expect(few.length).toBeLessThan(10);
});

test('an alert that goes on keeps the first and newest changes of its trace', () => {
  const few = fewEpisodes(Array.from({ length: 5_000 }, (_, at) => change(at, at % 2 === 0 ? 'FIRING' : 'RECOVERING')));
  expect([few.length, few[0]!.at, few.at(-1)!.at]).toEqual([100, 0, 4_999]);
});

test('long texts in a trace are cut, and no character in half', () => {
  const place = { workspaceId: 'w', ruleKey: 1, deviceKey: 1 };
  const values = { 1: 'x'.repeat(4_096), 2: 7, 3: `${'x'.repeat(255)}😀`, 4: 'x'.repeat(256) };
  const [alert] = alertsAfter(null, place, [{ ...change(1, 'FIRING'), values }], 1);
  expect(alert!.trace[0]!.values).toEqual({
    1: `${'x'.repeat(256)}…`,
    2: 7,
    3: `${'x'.repeat(255)}…`,
    4: 'x'.repeat(256),
  });
});
