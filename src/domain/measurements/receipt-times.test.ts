import { expect, test } from 'vitest';
import { ReceiptTimes } from './receipt-times.ts';

const HOUR = 3_600_000;

test('a device gets each time once, however often it asks within a millisecond; others are not held up', () => {
  const times = new ReceiptTimes();
  expect([1, 2, 3].map(() => times.take([7], 1_000))).toEqual([1_000, 1_001, 1_002]);
  expect(times.take([8], 1_000)).toBe(1_000);
  expect(times.take([7], 1_001)).toBe(1_003);
  expect(times.take([7], 5_000)).toBe(5_000);
});

test('a request for several devices gets one time that is new to all of them', () => {
  const times = new ReceiptTimes();
  times.take([1], 1_000);
  times.take([1], 1_000);
  expect(times.take(new Set([2, 1, 3]), 1_000)).toBe(1_002);
  expect(times.take([3], 1_000)).toBe(1_003);
  expect(times.take([], 1_000)).toBe(1_000);
});

test('times go on when the clock is put back a little; after more than an hour the clock is believed', () => {
  const times = new ReceiptTimes();
  times.take([1], 10 * HOUR);
  expect(times.take([1], 10 * HOUR - 30_000)).toBe(10 * HOUR + 1);
  expect(times.take([1], 8 * HOUR)).toBe(8 * HOUR);
  expect(times.take([1], 8 * HOUR)).toBe(8 * HOUR + 1);
});

test('a device that has got all times of half an hour gets none again: it has to wait for the clock', () => {
  const times = new ReceiptTimes(() => ({ at: 0, of: 8 }));
  const given = new Set<number>();
  const now = 10 * HOUR;
  let asked = 0;
  const takeAll = (): void => {
    for (; asked < HOUR; asked += 1) given.add(times.take([7], now));
  };
  expect(takeAll).toThrow('send timestamps');
  expect([asked, given.size]).toEqual([HOUR / 2 / 8 + 1, HOUR / 2 / 8 + 1]);
  expect(times.take([8], now)).toBe(now);
  expect(given.has(times.take([7], now + 8))).toBe(false);
});

test('who sends little is not refused when the clock is put back by three quarters of an hour', () => {
  const times = new ReceiptTimes(() => ({ at: 0, of: 8 }));
  const before = 10 * HOUR;
  expect(times.take([7], before)).toBe(before);
  const now = before - (HOUR * 3) / 4;
  const given = new Set([before]);
  expect(times.take([7], now)).toBe(before + 8);
  given.add(before + 8);
  // Who goes on and on is, before it begins anew.
  const takeAll = (): void => {
    for (let asked = 0; asked < HOUR; asked += 1) {
      const time = times.take([7], now);
      if (given.has(time)) throw new Error('twice');
      given.add(time);
    }
  };
  expect(takeAll).toThrow('send timestamps');
  expect(takeAll).toThrow('send timestamps');
});

test('a node that starts again goes on behind the times that lay ahead of the clock', () => {
  const marks = new Map<number, number>();
  const start = (at: number): ReceiptTimes =>
    new ReceiptTimes(() => ({ at, of: 8 }), 100, {
      known: new Map(marks),
      note: (deviceKey, until) => marks.set(deviceKey, until),
    });
  let node = start(0);
  const given = new Set<number>();
  let [now, asked, notes] = [10 * HOUR, 0, 0];
  for (let life = 0; life < 4; life += 1) {
    for (let i = 0; i < 20_000; i += 1) {
      const before = marks.get(7);
      given.add(node.take([7], now));
      asked += 1;
      now += i % 4;
      if (marks.get(7) !== before) notes += 1;
    }
    node.take([8], now);
    // By then it stands again.
    now += 300;
    node = start(0);
  }
  expect(given.size).toBe(asked);
  expect([...marks.keys()]).toEqual([7]);
  expect(notes).toBeLessThan(60);
});

test('whoever is far ahead of the clock is refused for a minute at most after a restart', () => {
  const marks = new Map<number, number>();
  const start = (): ReceiptTimes =>
    new ReceiptTimes(() => ({ at: 0, of: 8 }), 100, {
      known: new Map(marks),
      note: (deviceKey, until) => marks.set(deviceKey, until),
    });
  const now = 10 * HOUR;
  let node = start();
  let last = 0;
  while (last < now + (HOUR / 60) * 29) last = node.take([7], now);
  node = start();
  expect(node.take([7], now + 61_000)).toBeGreaterThan(last);
  // Nor do many that follow each other push it away.
  for (let life = 0; life < 8; life += 1) {
    node.take([8], now);
    while (node.take([8], now) < now + 10_000);
    node = start();
  }
  expect(node.take([8], now)).toBeLessThan(now + 9 * 60_000);
});

test('a call that takes its time late is given none that was forgotten meanwhile', () => {
  const times = new ReceiptTimes(undefined, 2);
  const first = times.take([1], 10 * HOUR);
  for (let key = 2; key < 20; key += 1) times.take([key], 10 * HOUR + 1_000 + key);
  expect(times.take([1], 10 * HOUR)).toBeGreaterThan(first);
});

test('memory is bounded, and what is forgotten gives no time twice', () => {
  const times = new ReceiptTimes(undefined, 100);
  for (let key = 0; key < 5_000; key += 1) {
    times.take([key], 1_000 + key);
    expect(times.size).toBeLessThanOrEqual(100);
  }
  expect(times.take([4_999], 5_999)).toBe(6_000);
  // All of them within one millisecond: nothing has passed, so everybody goes on after the last one.
  const given = new Map<number, number[]>();
  for (let round = 0; round < 4; round += 1)
    for (let key = 0; key < 150; key += 1) given.set(key, [...(given.get(key) ?? []), times.take([key], 9_000)]);
  for (const taken of given.values()) expect(new Set(taken).size).toBe(4);
});

test('of many devices some are forgotten at a time, and give no time twice, whenever they ask meanwhile', () => {
  const most = 30_000;
  const times = new ReceiptTimes(undefined, most);
  let now = 10 * HOUR;
  const given = new Map<number, Set<number>>();
  const take = (key: number, at: number): void => {
    const time = times.take([key], at);
    const before = given.get(key) ?? new Set();
    expect(before.has(time)).toBe(false);
    given.set(key, before.add(time));
  };
  for (let key = 0; key < most; key += 1) take(key, now);
  now += 1_000;
  take(most, now);
  expect(times.size).toBeGreaterThan(most / 2);
  for (let key = 0; key < most; key += 997) {
    // A call that came before them, too.
    take(key, now - 1_000);
    take(key, now);
  }
  expect(times.size).toBeLessThan(100);
  // All of them within a millisecond: they go on behind it, some at a time.
  for (let round = 0; round < 3; round += 1) for (let key = 0; key < most; key += 1) take(key, now);
});

test('very many devices that are ahead of the clock take nobody else along', () => {
  const times = new ReceiptTimes(undefined, 100);
  const now = 10 * HOUR;
  const ahead = now + 60_000;
  while (times.take([0], now) < ahead);
  const given = new Map<number, Set<number>>();
  const takeAlong = (): void => {
    for (let key = 1; key < 2_000; key += 1) {
      const time = times.take([0, key], now);
      expect(time).toBeGreaterThan(ahead);
      given.set(key, (given.get(key) ?? new Set()).add(time));
    }
  };
  expect(takeAlong).toThrow('send timestamps');
  expect(given.size).toBeGreaterThan(100);
  for (let key = 10_000; key < 10_500; key += 1) {
    const [one, another] = [times.take([key], now), times.take([key], now)];
    expect(another).toBeGreaterThan(one);
    expect(another).toBeLessThan(now + 10);
  }
  expect(times.size).toBeLessThan(2_000);
  // What they were given they are not given again, however much later.
  for (const [key, before] of given) expect(before.has(times.take([key], ahead))).toBe(false);
  expect(times.take([9_999], ahead)).toBeLessThan(ahead + 10);
});

test('nodes never give the same time, however they are asked', () => {
  const of = 3;
  const nodes = Array.from({ length: of }, (_, at) => new ReceiptTimes(() => ({ at, of }), 2));
  const given: number[] = [];
  for (let now = 1_000; now < 1_060; now += 1)
    for (const [at, node] of nodes.entries())
      for (let time = 0; time < (now + at) % 3; time += 1) {
        const taken = node.take([7], now);
        expect(Math.abs(taken - now)).toBeLessThan(3 * 60);
        given.push(taken);
        // So many that some are forgotten.
        node.take([now, now + 1], now);
      }
  expect(given.length).toBeGreaterThan(150);
  expect(new Set(given).size).toBe(given.length);
});
