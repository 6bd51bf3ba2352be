import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { inVainOf } from '../../src/domain/receiving/webhook-receiver.ts';
import { yieldForLarge } from '../../src/scheduling/yield-for-large.ts';
import { type Wasted, InvalidInputThrottle } from '../../src/scheduling/invalid-input-throttle.ts';
import { AppError, badInput } from '../../src/errors.ts';

const MB = 1_048_576;
/** What a megabyte that is refused counts. */
const MB_MS = 64;
const NOTHING: Wasted = { part: 0, entries: 0 };

describe('a tenant of which much is refused', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
  afterEach(() => void vi.useRealTimers());

  /** So many bodies of the other one, of which such a part is refused. */
  async function send(work: InvalidInputThrottle, bodies: number, { part = 1, bytes = MB } = {}): Promise<void> {
    for (let body = 0; body < bodies; body += 1) await began(work, part, bytes);
  }

  const began = (
    work: InvalidInputThrottle,
    part: number,
    bytes: number,
    onBegun = () => {},
    source = 'one',
  ): Promise<unknown> => {
    const begin = async (): Promise<Wasted> => {
      onBegun();
      return { part, entries: 0 };
    };
    return work.run({ tenant: 'bad', source, bytes }, begin, (inVain) => inVain);
  };

  /** How many of these bodies are begun within so long, while another tenant sends now and then. */
  async function begunWithin(
    work: InvalidInputThrottle,
    ms: number,
    bodies: number,
    { bytes = MB, part = 1 } = {},
  ): Promise<number> {
    let begun = 0;
    await seen(work);
    for (let body = 0; body < bodies; body += 1) void began(work, part, bytes, () => (begun += 1));
    for (let passed = 0; passed < ms; passed += 100) {
      await seen(work);
      await vi.advanceTimersByTimeAsync(100);
    }
    return begun;
  }

  const seen = (work: InvalidInputThrottle): Promise<unknown> =>
    work.run(
      { tenant: 'good', source: 'good', bytes: 100 },
      async () => {},
      () => NOTHING,
    );

  test('waits beside others, and gets a fifth of the time', async () => {
    const work = new InvalidInputThrottle();
    await send(work, 5);
    // 20 ms over its burst; then one whenever what it counts is forgiven.
    const begun = await begunWithin(work, 10_000, 50);
    expect(begun).toBeGreaterThanOrEqual(25);
    expect(begun).toBeLessThanOrEqual(Math.ceil(2_000 / MB_MS) + 1);
  });

  test('has no more under way beside others than its burst, as all of it may be refused', async () => {
    const work = new InvalidInputThrottle();
    const ends: (() => void)[] = [];
    await seen(work);
    for (let body = 0; body < 50; body += 1)
      void work.run(
        { tenant: 'bad', source: 'one', bytes: MB },
        () => new Promise<void>((end) => ends.push(end)),
        () => NOTHING,
      );
    expect(ends.length).toBe(4);
    ends[0]!();
    // At once: who stores what it sends is not held up.
    await vi.advanceTimersByTimeAsync(0);
    expect(ends.length).toBe(5);
    // Alone what has waited goes on as fast as it ends, and never all at once.
    await vi.advanceTimersByTimeAsync(400);
    expect(ends.length).toBe(5);
    for (let ended = 1; ended < 50; ended += 1) {
      ends[ended]!();
      await vi.advanceTimersByTimeAsync(0);
      expect(ends.length).toBe(Math.min(50, ended + 5));
    }
  });

  test('does not wait alone, with a few values, or for what it has stored', async () => {
    const work = new InvalidInputThrottle();
    await send(work, 20);
    expect(await begunWithin(work, 100, 20, { bytes: 1_000 })).toBe(20);
    // Those who send to it themselves are no others.
    await vi.advanceTimersByTimeAsync(1_000);
    await send(work, 20);

    const honest = new InvalidInputThrottle();
    await send(honest, 100, { part: 0 });
    expect(await begunWithin(honest, 100, 20, { part: 0 })).toBe(20);
    const careless = new InvalidInputThrottle();
    await send(careless, 40, { part: 0.1 });
    expect(await begunWithin(careless, 100, 20)).toBeLessThan(5);
  });

  test('is not blamed for what failed for another reason', async () => {
    const fail = (work: InvalidInputThrottle, error: Error): Promise<unknown> =>
      work.run(
        { tenant: 'bad', source: 'one', bytes: 20 * MB },
        () => Promise.reject(error),
        () => ({ part: 1, entries: 0 }),
      );
    const work = new InvalidInputThrottle();
    for (const error of [new AppError('UNAVAILABLE', 'away'), new Error('a mistake of ours')])
      await expect(fail(work, error)).rejects.toBe(error);
    expect(await begunWithin(work, 100, 20, { part: 0 })).toBe(20);
    const other = new InvalidInputThrottle();
    await expect(fail(other, badInput('no'))).rejects.toThrow('no');
    expect(await begunWithin(other, 100, 20)).toBe(0);
  });

  test('has sources that take turns, and one against which nothing is held waits for none of the others', async () => {
    const work = new InvalidInputThrottle();
    const order: string[] = [];
    const sends = (bodies: number, part: number, source: string): void => {
      for (let body = 0; body < bodies; body += 1) void began(work, part, MB, () => order.push(source), source);
    };
    await seen(work);
    sends(2, 1, 'one');
    sends(2, 1, 'two');
    await vi.advanceTimersByTimeAsync(0);
    order.length = 0;
    sends(30, 1, 'one');
    sends(30, 1, 'two');
    sends(4, 0, 'good');
    await vi.advanceTimersByTimeAsync(0);
    expect(order.filter((name) => name === 'good')).toHaveLength(4);
    expect(order.length).toBeLessThan(7);
    for (let passed = 0; passed < 4_000; passed += 100) {
      await seen(work);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(order.length).toBeLessThan(30);
    expect(Math.abs(order.filter((name) => name === 'one').length - (order.length - 4) / 2)).toBeLessThanOrEqual(1);
  });

  test('has what is said of each entry held against it, however short they are', async () => {
    const work = new InvalidInputThrottle();
    let begun = 0;
    const zeros = (): Promise<unknown> =>
      work.run(
        { tenant: 'bad', source: 'one', bytes: 20_000, maxEntries: 10_000 },
        async () => void (begun += 1),
        () => ({ part: 1, entries: 10_000 }),
      );
    for (let body = 0; body < 30; body += 1) await zeros();
    await seen(work);
    begun = 0;
    for (let body = 0; body < 40; body += 1) void zeros();
    for (let passed = 0; passed < 2_000; passed += 100) {
      await seen(work);
      await vi.advanceTimersByTimeAsync(100);
    }
    // 14 ms each, a fifth of the time.
    expect(begun).toBeGreaterThan(20);
    expect(begun).toBeLessThan(35);
  });

  test('keeps so many bodies waiting, and is told', async () => {
    const work = new InvalidInputThrottle();
    await send(work, 30);
    await seen(work);
    for (let body = 0; body < 50; body += 1) void began(work, 1, MB);
    await expect(began(work, 1, MB)).rejects.toMatchObject({ code: 'OVERLOADED' });
  });
});

test('of heavy works that come together tenants take turns, one in each turn of the loop', async () => {
  const order: string[] = [];
  const next = (tenant: string): Promise<unknown> =>
    yieldForLarge(MB, { tokenId: 't', tenant }).then(() => order.push(tenant));
  let inFirst = 0;
  setImmediate(() => setImmediate(() => (inFirst = order.length)));
  await Promise.all([...Array.from({ length: 5 }, () => next('a')), next('b'), next('b'), next('c')]);
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'a', 'a', 'a']);
  expect(inFirst).toBe(1);
  await yieldForLarge(MB);
});

test('of a call that stores something what may come with it is not in vain', () => {
  const part = (stored: number, rejected: number, bytes: number): number =>
    inVainOf({ status: 200, stored, rejected, body: '' }, bytes, 262_144).part;
  expect([part(0, 0, 10), part(1, 0, 10_000), part(1, 0, 200_000), part(60, 0, MB), part(1, 3, 10)]).toEqual([
    1, 0, 0, 0, 0.75,
  ]);
  expect(part(1, 0, MB)).toBeCloseTo(0.734, 3);
});
