import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database } from '../../src/domain/ports/database.ts';
import { pause } from '../../src/scheduling/pause.ts';
import { StoredReceiptMarks } from '../../src/domain/measurements/receipt-marks.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { DATABASES } from '../support/server.ts';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

describe.each(DATABASES)('marks of receipt times, %s', (name) => {
  let domain: OpenDomain;
  beforeAll(async () => {
    domain = await openDomain(name);
  });
  afterAll(() => domain.close());
  const state = { isAway: false, errors: 0 };
  beforeEach(async () => {
    Object.assign(state, { isAway: false, errors: 0 });
    await open(NOW + 10 * HOUR);
  });

  const open = (now = NOW): Promise<StoredReceiptMarks> => {
    const database = {
      dialect: domain.database.dialect,
      read: () => domain.database.read(),
      write: (...work: Parameters<Database['write']>) =>
        state.isAway ? Promise.reject(new Error('deadlock detected')) : domain.database.write(...work),
    } as Database;
    return StoredReceiptMarks.open({ database, now: () => now, onError: () => (state.errors += 1) });
  };
  const write = async (...noted: [device: number, until: number][]): Promise<void> => {
    const marks = await open();
    for (const [device, until] of noted) marks.note(device, until);
    await marks.stop();
  };

  test('a node that starts knows those that are still to come; the others are forgotten, and nothing else is', async () => {
    const facts = (): Promise<{ name: string; value: string }[]> =>
      domain.database.read().execute('select name, value from installation order by name');
    const before = await facts();
    await write([1, NOW - 1], [2, NOW], [3, NOW + HOUR], [4, NOW + HOUR + 1]);
    expect([...(await open()).known].toSorted()).toEqual([
      [2, NOW],
      [3, NOW + HOUR],
    ]);
    expect((await open(NOW - HOUR)).known).toEqual(new Map([[2, NOW]]));
    expect((await open(NOW + HOUR + 1)).known.size).toBe(0);
    expect(await facts()).toEqual(before);
  });

  test('a later one stays, unless the clock was put back since', async () => {
    await write([1, NOW + 20_000], [2, NOW + 20_000], [3, NOW + 2 * HOUR]);
    await write([1, NOW + 10_000], [2, NOW + 30_000], [3, NOW + HOUR - 1]);
    expect([...(await open()).known].toSorted()).toEqual([
      [1, NOW + 20_000],
      [2, NOW + 30_000],
      [3, NOW + HOUR - 1],
    ]);
  });

  test('what was noted is written when a node stops, of however many devices', async () => {
    await write(...Array.from({ length: 1_200 }, (_, device): [number, number] => [device, NOW + HOUR - 1]));
    expect((await open()).known.size).toBe(1_200);
  });

  test('a node starts, and that with a hundred thousand, although what has passed cannot be forgotten just now', async () => {
    await write([1, NOW + 20_000]);
    await domain.database.write(async (em) => {
      for (let at = 0; at < 100; at += 1) {
        const rows = Array.from({ length: 1_000 }, (_, n) => `('receipt times of device 9${at * 1_000 + n}', '5')`);
        await em.execute(`insert into installation (name, value) values ${rows.join()}`, [], 'run');
      }
    });
    state.isAway = true;
    const from = process.memoryUsage().heapUsed;
    const marks = await open();
    expect([marks.known.get(1), state.errors]).toEqual([NOW + 20_000, 1]);
    expect(process.memoryUsage().heapUsed - from).toBeLessThan(50_000_000);
    state.isAway = false;
    expect((await open()).known.get(1)).toBe(NOW + 20_000);
  });

  test('while the database is away that is told once a second, not ten times', async () => {
    const marks = await open();
    state.isAway = true;
    marks.note(7, NOW + 500);
    await pause(600);
    expect(state.errors).toBe(1);
    state.isAway = false;
    await marks.stop();
    expect((await open()).known.get(7)).toBe(NOW + 500);
  });
});
