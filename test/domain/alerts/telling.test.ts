import { expect, test } from 'vitest';
import { type Manner, tell } from '../../../src/domain/alerts/telling.ts';
import { TELL_ALL } from '../../../src/domain/rules/notify.ts';
import { checkSchedule } from '../../../src/domain/rules/schedule.ts';

type Alert = Parameters<typeof tell>[0];

const AT_ONCE: Manner = { schedule: null, notify: TELL_ALL };
/** 2026-06-01 is a Monday. */
const EIGHT = Date.parse('2026-06-01T08:00:00Z');
const BY_DAY: Manner = { ...AT_ONCE, schedule: checkSchedule({ hours: '08:00-18:00', timeZone: 'UTC' }, 'schedule') };
const MINUTE = 60_000;

/** An alert that lives on: each step changes it and says what is told then. */
function life(manner: Manner) {
  const alert: Alert = {
    state: 'FIRING',
    severity: 'WARNING',
    firedAt: 1,
    acknowledgedAt: null,
    snoozedUntil: null,
    told: null,
    tellAt: null,
  };
  return (now: number, change: Partial<Alert> = {}): string | null => {
    Object.assign(alert, change);
    const { news, told, tellAt } = tell(alert, manner, now);
    Object.assign(alert, { told, tellAt });
    const what = news === null ? null : [news.type, news.reason].filter((part) => part !== null).join(' ');
    return tellAt === null ? what : `${what ?? 'nothing'}, again ${(tellAt - EIGHT) / MINUTE}`;
  };
}

test('each change is told once: fired, another level, acknowledged, over', () => {
  const step = life(AT_ONCE);
  expect(step(EIGHT, { state: 'PENDING', firedAt: null })).toBeNull();
  expect(step(EIGHT, { state: 'FIRING', firedAt: EIGHT })).toBe('alert.fired');
  expect(step(EIGHT)).toBeNull();
  expect(step(EIGHT, { severity: 'CRITICAL' })).toBe('alert.updated');
  expect(step(EIGHT, { state: 'RECOVERING' })).toBeNull();
  expect(step(EIGHT, { acknowledgedAt: EIGHT })).toBe('alert.updated');
  expect(step(EIGHT, { state: 'RESOLVED' })).toBe('alert.resolved');
  expect(step(EIGHT)).toBeNull();
});

test('an episode within one batch is told once, as over; one that never fired is not told', () => {
  expect(life(AT_ONCE)(EIGHT, { state: 'RESOLVED' })).toBe('alert.resolved');
  expect(life(AT_ONCE)(EIGHT, { state: 'RESOLVED', firedAt: null })).toBeNull();
});

test('outside of the schedule nothing is told; at the opening what still fires, and what has passed as passed', () => {
  const still = life(BY_DAY);
  expect(still(EIGHT - 10 * MINUTE)).toBe('nothing, again 0');
  expect(still(EIGHT)).toBe('alert.fired');
  expect(still(EIGHT + 700 * MINUTE, { severity: 'CRITICAL' })).toBe('nothing, again 1440');
  expect(still(EIGHT + 1440 * MINUTE, { state: 'RESOLVED' })).toBe('alert.resolved');
  const passed = life(BY_DAY);
  expect(passed(EIGHT - 10 * MINUTE)).toBe('nothing, again 0');
  expect(passed(EIGHT - 5 * MINUTE, { state: 'RESOLVED' })).toBe('nothing, again 0');
  expect(passed(EIGHT)).toBe('alert.resolved');
});

test('nothing is told while it is snoozed; what still fires then is told', () => {
  const step = life(AT_ONCE);
  const until = EIGHT + 30 * MINUTE;
  expect(step(EIGHT)).toBe('alert.fired');
  expect(step(EIGHT, { snoozedUntil: until })).toBe('nothing, again 30');
  expect(step(EIGHT + MINUTE, { severity: 'CRITICAL' })).toBe('nothing, again 30');
  expect(step(until)).toBe('alert.updated');
  expect(step(until)).toBeNull();
  const same = life(AT_ONCE);
  same(EIGHT);
  same(EIGHT, { snoozedUntil: until });
  expect(same(until)).toBe('alert.updated SNOOZE_ENDED');
  const over = life(AT_ONCE);
  over(EIGHT);
  over(EIGHT, { snoozedUntil: until });
  expect(over(EIGHT, { state: 'RESOLVED' })).toBe('nothing, again 30');
  expect(over(until)).toBe('alert.resolved');
  // Snoozed while it was pending, and over: nobody was told, and nobody is.
  expect(life(AT_ONCE)(EIGHT, { state: 'RESOLVED', snoozedUntil: until })).toBeNull();
});

test('it reminds so often, so many times, and not whoever has acknowledged it', () => {
  const notify = { groupBy: null, remindEverySeconds: 600, maxReminders: 2 };
  const step = life({ schedule: null, notify });
  expect(step(EIGHT)).toBe('alert.fired, again 10');
  expect(step(EIGHT + 9 * MINUTE)).toBe('nothing, again 10');
  expect(step(EIGHT + 10 * MINUTE)).toBe('alert.updated REMINDER, again 20');
  expect(step(EIGHT + 25 * MINUTE)).toBe('alert.updated REMINDER');
  expect(step(EIGHT + 99 * MINUTE)).toBeNull();
  const seen = life({ schedule: null, notify });
  seen(EIGHT);
  expect(seen(EIGHT + MINUTE, { acknowledgedAt: EIGHT + MINUTE })).toBe('alert.updated');
  // By night nothing is repeated either.
  const night = life({ ...BY_DAY, notify: { ...notify, maxReminders: null } });
  expect(night(EIGHT + 595 * MINUTE)).toBe('alert.fired, again 605');
  expect(night(EIGHT + 605 * MINUTE)).toBe('nothing, again 1440');
  expect(night(EIGHT + 1440 * MINUTE)).toBe('alert.updated REMINDER, again 1450');
});

test('alerts of a product that are told together wait for each other a moment', () => {
  const notify = { groupBy: 'PRODUCT' as const, remindEverySeconds: null, maxReminders: null };
  const one = life({ schedule: null, notify });
  expect(one(EIGHT + 1)).toBe(`nothing, again ${2_000 / MINUTE}`);
  expect(one(EIGHT + 1_999)).toBe(`nothing, again ${2_000 / MINUTE}`);
  expect(one(EIGHT + 2_000)).toBe('alert.fired');
  // What is over before anybody was told is told once.
  const short = life({ schedule: null, notify });
  short(EIGHT);
  short(EIGHT + 500, { state: 'RESOLVED' });
  expect(short(EIGHT + 2_000)).toBe('alert.resolved');
});
