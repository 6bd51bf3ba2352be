import { describe, expect, test } from 'vitest';
import type { Condition, Level, RuleDefinition, Threshold } from '../../../src/domain/rules/definition.ts';
import { freshState, type JudgeState, type Transition } from '../../../src/domain/rules/judge-state.ts';
import { RuleJudge } from '../../../src/domain/rules/rule-judge.ts';

const [TEMPERATURE, DOOR, PLACE, LIMIT, SETTING] = [1, 2, 3, 4, 9];
const MINUTE = 60_000;
/** A moment of the tests, `minutes` after their beginning. */
const at = (minutes: number): number => Date.UTC(2026, 0, 1) + minutes * MINUTE;

function above(value: number, more: Partial<Threshold> = {}): Threshold {
  return {
    kind: 'threshold',
    field: TEMPERATURE,
    operator: 'GT',
    operand: { value },
    clear: null,
    window: null,
    ...more,
  };
}

function rule(conditions: Condition[] | Level[], more: Partial<RuleDefinition> = {}): RuleDefinition {
  const levels = 'severity' in conditions[0]! ? (conditions as Level[]) : [level('WARNING', conditions as Condition[])];
  return { levels, forSeconds: 0, clearForSeconds: 0, latched: false, schedule: null, ...more };
}

function level(severity: Level['severity'], conditions: Condition[], all = true): Level {
  return { severity, all, conditions };
}

/** A judge for which clock and measured times are the same, unless a value says when it arrived. */
function judging(definition: RuleDefinition, configuration = {}, state: JudgeState = freshState(definition)) {
  const judge = new RuleJudge(definition, state, configuration);
  const value = (
    minutes: number,
    value: number | string,
    { field = TEMPERATURE, arrives = minutes, windows = {} } = {},
  ) => judge.value({ field, measuredAt: at(minutes), receivedAt: at(arrives), value, windows });
  return { judge, value, clock: (minutes: number) => judge.clock(at(minutes)) };
}

/** Minutes and states of changes. */
function told(transitions: readonly Transition[]): [number, string, string][] {
  return transitions.map(({ at: time, state, severity }) => [(time - at(0)) / MINUTE, state, severity]);
}

const minutesOf = (time: number | null): number | null => (time === null ? null : (time - at(0)) / MINUTE);

describe('what users of other systems complained of', () => {
  test('a duration goes on after a restart or reload (HA #37739, #92017, #175756; PROM #15175, #13957)', () => {
    const definition = rule([above(30)], { forSeconds: 600, clearForSeconds: 300 });
    const first = judging(definition);
    first.value(0, 31);
    const kept = JSON.parse(JSON.stringify(first.judge.state)) as JudgeState;
    const second = judging(definition, {}, kept);
    expect(minutesOf(second.judge.dueAt)).toBe(10);
    second.clock(10);
    second.value(11, 20);
    const third = judging(definition, {}, JSON.parse(JSON.stringify(second.judge.state)) as JudgeState);
    third.clock(16);
    expect(told(second.judge.taken())).toEqual([
      [10, 'FIRING', 'WARNING'],
      [11, 'RECOVERING', 'WARNING'],
    ]);
    const [ended] = third.judge.taken();
    expect([ended!.state, minutesOf(ended!.startedAt), minutesOf(ended!.firedAt), minutesOf(ended!.endedAt)]).toEqual([
      'RESOLVED',
      0,
      10,
      11,
    ]);
  });

  test('a door that stays open is told by the clock, without a further value (TB #1092, #16118)', () => {
    const { judge, value, clock } = judging(
      rule([{ kind: 'changed', field: DOOR, from: 0, to: 1 }], { forSeconds: 600 }),
    );
    value(0, 0, { field: DOOR });
    value(1, 1, { field: DOOR });
    clock(10);
    expect(told(judge.taken())).toEqual([[1, 'PENDING', 'WARNING']]);
    clock(11);
    expect(told(judge.taken())).toEqual([[11, 'FIRING', 'WARNING']]);
  });

  test('a duration runs on measured times, never shorter (TB #10590, #14301, #5173)', () => {
    const { judge, value, clock } = judging(rule([above(30)], { forSeconds: 120 }));
    // Arrives a minute after it was measured: by the clock it holds for two minutes from its arrival on.
    value(0, 31, { arrives: 1 });
    clock(2.9);
    expect(told(judge.taken())).toEqual([[0, 'PENDING', 'WARNING']]);
    clock(3);
    const [fired] = judge.taken();
    expect([fired!.state, minutesOf(fired!.startedAt), minutesOf(fired!.firedAt)]).toEqual(['FIRING', 0, 2]);
  });

  test('no value changes nothing: gaps toggle no threshold (GF #36376, #39056, #77800)', () => {
    const { judge, value, clock } = judging(rule([above(30)]));
    value(0, 31);
    clock(600);
    value(600, 31);
    expect(told(judge.taken())).toEqual([[0, 'FIRING', 'WARNING']]);
  });

  test('silence is a kind of condition of its own, for a field and for the device (TB #12755, #14270)', () => {
    const ofField = judging(rule([{ kind: 'absent', field: TEMPERATURE, seconds: 2_700 }]));
    ofField.value(0, 20);
    ofField.clock(44);
    expect(ofField.judge.taken()).toEqual([]);
    ofField.judge.heard(at(44.5));
    ofField.clock(45);
    ofField.value(50, 20);
    expect(told(ofField.judge.taken())).toEqual([
      [45, 'FIRING', 'WARNING'],
      [50, 'RESOLVED', 'WARNING'],
    ]);
    const ofDevice = judging(rule([{ kind: 'absent', field: null, seconds: 60 }]));
    ofDevice.clock(100);
    ofDevice.judge.heard(at(100));
    ofDevice.clock(101);
    ofDevice.judge.heard(at(102));
    expect(ofDevice.judge.taken().map(({ at: time, reason }) => [minutesOf(time), reason])).toEqual([
      [101, 'SILENT'],
      [102, 'HEARD'],
    ]);
  });

  test('hysteresis and clearFor keep an alert from flapping (GF #6202, #46912)', () => {
    const { judge, value } = judging(rule([above(30, { clear: 28 })], { clearForSeconds: 120 }));
    [31, 29, 31, 28.5, 27, 29, 29].forEach((temperature, minute) => value(minute, temperature));
    // 29 does not meet it again, once it was below 28: two minutes later it is over.
    expect(told(judge.taken())).toEqual([
      [0, 'FIRING', 'WARNING'],
      [4, 'RECOVERING', 'WARNING'],
      [6, 'RESOLVED', 'WARNING'],
    ]);
  });

  test('a buffered batch is judged as if it had come value by value (TB #8681)', () => {
    const values: [number, number][] = Array.from({ length: 120 }, (_, minute) => [minute, minute % 40 < 15 ? 31 : 20]);
    const definition = rule([above(30)], { forSeconds: 600, clearForSeconds: 300 });
    const live = judging(definition);
    for (const [minute, value] of values) {
      live.clock(minute);
      live.value(minute, value);
    }
    const batch = judging(definition);
    for (const [minute, value] of values) batch.value(minute, value, { arrives: 500 });
    expect(told(batch.judge.taken())).toEqual(told(live.judge.taken()));
    expect(batch.judge.state.run).toBeNull();
  });

  test('late values change no state (kapacitor #815, TB #4207)', () => {
    const { judge, value } = judging(rule([above(30)]));
    value(10, 20);
    value(5, 99);
    value(10, 31);
    value(9, 20);
    expect(told(judge.taken())).toEqual([[10, 'FIRING', 'WARNING']]);
  });

  test('any of several, and all of several (TB #11803)', () => {
    const conditions = [above(30), above(5, { field: LIMIT })];
    const any = judging(rule([level('INFO', conditions, false)]));
    any.value(0, 31);
    any.value(1, 6, { field: LIMIT });
    any.value(2, 20);
    any.value(3, 5, { field: LIMIT });
    expect(told(any.judge.taken())).toEqual([
      [0, 'FIRING', 'INFO'],
      [3, 'RESOLVED', 'INFO'],
    ]);
    const all = judging(rule([level('INFO', conditions)]));
    all.value(0, 31);
    all.value(1, 6, { field: LIMIT });
    all.value(2, 20);
    expect(told(all.judge.taken())).toEqual([
      [1, 'FIRING', 'INFO'],
      [2, 'RESOLVED', 'INFO'],
    ]);
  });

  test('levels go up and down within one alert (TB #7227)', () => {
    const { judge, value } = judging(rule([level('WARNING', [above(30)]), level('CRITICAL', [above(40)])]));
    [31, 41, 35, 20].forEach((temperature, minute) => value(minute, temperature));
    const transitions = judge.taken();
    expect(told(transitions)).toEqual([
      [0, 'FIRING', 'WARNING'],
      [1, 'FIRING', 'CRITICAL'],
      [2, 'FIRING', 'WARNING'],
      [3, 'RESOLVED', 'WARNING'],
    ]);
    expect(new Set(transitions.map(({ startedAt }) => startedAt))).toEqual(new Set([at(0)]));
  });

  test('a higher level is met without the lower one (bands)', () => {
    const band = [above(30), above(40, { operator: 'LTE' })];
    const definition = rule([level('WARNING', band), level('CRITICAL', [above(40)])], { forSeconds: 120 });
    const { judge, value, clock } = judging(definition);
    [35, 35, 35, 41].forEach((temperature, minute) => value(minute, temperature));
    clock(5);
    expect(told(judge.taken())).toEqual([
      [0, 'PENDING', 'WARNING'],
      [2, 'FIRING', 'WARNING'],
      [5, 'FIRING', 'CRITICAL'],
    ]);
  });

  test('each device has its own threshold in its configuration (TB #3618); without one nothing is met', () => {
    const definition = rule([above(0, { operand: { configuration: SETTING } })]);
    const warm = judging(definition, { [SETTING]: 25 });
    warm.value(0, 26);
    expect(told(warm.judge.taken())).toEqual([[0, 'FIRING', 'WARNING']]);
    const unset = judging(definition, { [SETTING]: null });
    unset.value(0, 1_000);
    expect(unset.judge.taken()).toEqual([]);
  });

  test('another field as the operand counts as soon as it is known', () => {
    const { judge, value } = judging(rule([above(0, { operand: { field: LIMIT } })]));
    value(0, 26);
    value(1, 25, { field: LIMIT });
    value(2, 27, { field: LIMIT });
    expect(told(judge.taken())).toEqual([
      [1, 'FIRING', 'WARNING'],
      [2, 'RESOLVED', 'WARNING'],
    ]);
  });

  test('ends when it does not recur (TB #10979)', () => {
    const { judge, value, clock } = judging(rule([above(30)], { clearForSeconds: 600 }));
    value(0, 31);
    value(1, 20);
    value(5, 31);
    value(6, 20);
    clock(15.9);
    expect(told(judge.taken()).at(-1)).toEqual([6, 'RECOVERING', 'WARNING']);
    clock(16);
    expect(told(judge.taken())).toEqual([[16, 'RESOLVED', 'WARNING']]);
  });
});

test('a moment that is sent again and again ends no later for that', () => {
  const { judge, value, clock } = judging(rule([above(30)], { forSeconds: 600 }));
  value(0, 31);
  value(0, 31, { arrives: 5 });
  value(0, 32, { arrives: 9 });
  clock(10);
  expect(told(judge.taken())).toEqual([
    [0, 'PENDING', 'WARNING'],
    [10, 'FIRING', 'WARNING'],
  ]);
});

test('a latched alert ends only by acknowledgement', () => {
  const { judge, value, clock } = judging(rule([above(30)], { latched: true }));
  value(0, 31);
  value(1, 20);
  clock(100);
  value(101, 20);
  expect(told(judge.taken())).toEqual([
    [0, 'FIRING', 'WARNING'],
    [1, 'RECOVERING', 'WARNING'],
  ]);
  expect(judge.dueAt).toBeNull();
  judge.acknowledge(at(102));
  const [ended] = judge.taken();
  expect([ended!.state, ended!.reason, minutesOf(ended!.endedAt)]).toEqual(['RESOLVED', 'ACKNOWLEDGED', 1]);
  value(103, 31);
  judge.acknowledge(at(103));
  value(104, 20);
  expect(told(judge.taken())).toEqual([
    [103, 'FIRING', 'WARNING'],
    [104, 'RESOLVED', 'WARNING'],
  ]);
});

test('places: a circle in metres, and a polygon, also across the date line', () => {
  const circle = judging(
    rule([{ kind: 'place', field: PLACE, operator: 'OUTSIDE', area: { center: [52.5, 13.4], meters: 1_000 } }]),
  );
  circle.value(0, '(52.5,13.414)', { field: PLACE });
  circle.value(1, '(52.5,13.416)', { field: PLACE });
  expect(told(circle.judge.taken())).toEqual([[1, 'FIRING', 'WARNING']]);
  const corners: [number, number][] = [
    [-10, 170],
    [-10, -170],
    [10, -170],
    [10, 170],
  ];
  const polygon = judging(rule([{ kind: 'place', field: PLACE, operator: 'INSIDE', area: { corners } }]));
  polygon.value(0, '(0,165)', { field: PLACE });
  polygon.value(1, '(0,175)', { field: PLACE });
  polygon.value(2, '(0,-175)', { field: PLACE });
  polygon.value(3, '(0,-165)', { field: PLACE });
  expect(told(polygon.judge.taken())).toEqual([
    [1, 'FIRING', 'WARNING'],
    [3, 'RESOLVED', 'WARNING'],
  ]);
});

test('a window is judged by its aggregation, not by the value', () => {
  const { judge, value } = judging(rule([above(30, { window: { aggregation: 'AVG', seconds: 600 } })]));
  value(0, 99, { windows: { 0: 25 } });
  value(1, 1, { windows: { 0: 31 } });
  value(2, 1, { windows: { 0: null } });
  value(3, 1, { windows: { 0: 30 } });
  expect(told(judge.taken())).toEqual([
    [1, 'FIRING', 'WARNING'],
    [3, 'RESOLVED', 'WARNING'],
  ]);
});

test('what is pending and passes is told as over, and never fired', () => {
  const { judge, value } = judging(rule([above(30)], { forSeconds: 600 }));
  value(0, 31);
  value(5, 20);
  expect(judge.taken().map(({ state, firedAt }) => [state, firedAt])).toEqual([
    ['PENDING', null],
    ['RESOLVED', null],
  ]);
});

test('changed: from any other value, to any other value', () => {
  const to = judging(rule([{ kind: 'changed', field: DOOR, from: null, to: 'open' }]));
  ['open', 'open', 'closed', 'open', 'ajar'].forEach((text, minute) => to.value(minute, text, { field: DOOR }));
  expect(told(to.judge.taken())).toEqual([
    [3, 'FIRING', 'WARNING'],
    [4, 'RESOLVED', 'WARNING'],
  ]);
  const from = judging(rule([{ kind: 'changed', field: DOOR, from: 'closed', to: null }]));
  ['closed', 'ajar', 'open', 'closed'].forEach((text, minute) => from.value(minute, text, { field: DOOR }));
  expect(told(from.judge.taken())).toEqual([
    [1, 'FIRING', 'WARNING'],
    [3, 'RESOLVED', 'WARNING'],
  ]);
});
