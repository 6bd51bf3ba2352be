import { expect, test, vi } from 'vitest';
import { History } from '../../src/domain/history/history.ts';
import { PointBudget } from '../../src/domain/history/point-budget.ts';
import type { MeasurementStore } from '../../src/domain/ports/store.ts';
import { countTurns } from '../support/loop-turns.ts';

const DEVICE = { key: 1, product: { fields: new Map() } } as unknown as Parameters<History['series']>[0];
const history = new History({} as MeasurementStore);

test('while many plan charts, each of them refused, others have their turn, and each is counted', async () => {
  const query = { from: 0, to: 8_640_000_000_000_000, resolution: '1mo', maxPoints: 60_000, timeZone: 'Asia/Hebron' };
  const loop = countTurns();
  const budgets = Array.from({ length: 30 }, () => new PointBudget());
  const plans = await Promise.allSettled(budgets.map((budget) => history.series(DEVICE, query, budget)));
  loop.stop();
  for (const { status } of plans) expect(status).toBe('rejected');
  expect(loop.turns).toBeGreaterThanOrEqual(15);
  expect(Math.min(...budgets.map(({ planMs }) => planMs))).toBeGreaterThan(0);
});

test('others have their turn while a zone is found out about', async () => {
  const loop = countTurns();
  const zones = ['Asia/Gaza', 'Africa/Casablanca', 'Europe/Dublin', 'America/St_Johns', 'Pacific/Apia'];
  const to = Date.UTC(2100, 0, 1);
  await Promise.all(
    zones.map((timeZone) => history.series(DEVICE, { from: 0, to, resolution: '1y', timeZone }, new PointBudget())),
  );
  loop.stop();
  expect(loop.turns).toBeGreaterThanOrEqual(3);
});

test('of many devices whose fields are summed up some are asked for, then others have their turn', async () => {
  let ms = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (ms += 1));
  const asked = new Set<number>();
  const product = { fields: new Map([['f', { key: 1, identifier: 'f', type: 'FLOAT' }]]) };
  const answer = { before: null, views: [{ count: 0, first: null, last: null }] };
  const series = async (requests: readonly unknown[]) => requests.map(() => answer);
  const ofStore = new History({ series } as unknown as MeasurementStore);
  const budget = new PointBudget();
  try {
    const devices = Array.from({ length: 50 }, (_, at) => {
      const device = {
        product,
        get key() {
          asked.add(at);
          return at;
        },
      };
      return device as unknown as typeof DEVICE;
    });
    const all = Promise.all(devices.map((device) => ofStore.statistics(device, { from: 0, to: 1 }, budget)));
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked.size).toBeGreaterThan(0);
    expect(asked.size).toBeLessThan(25);
    expect(await all).toMatchObject(devices.map(() => [{ count: 0 }]));
  } finally {
    clock.mockRestore();
  }
});
