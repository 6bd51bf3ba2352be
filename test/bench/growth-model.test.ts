import { expect, test } from 'vitest';
import { type Costs, type Counts, fitCosts, predict, UNITS } from './cost-model.ts';
import { type Fleet, grow, loadsOf, mostDevices } from './growth-model.ts';
import { type Amounts, PARTS } from './processor-parts.ts';

/** A request costs the loop 100 µs and the database 50, a value 2 and 10; a reading looked at costs the database 20. */
const COSTS = Object.fromEntries(UNITS.map((unit) => [unit, amounts({})])) as Costs;
COSTS.record = amounts({ loop: 100, database: 50, redis: 2 });
COSTS.recordValue = amounts({ loop: 2, database: 10 });
COSTS.look = amounts({ database: 20 });
const BOTH = { sqlite: COSTS, postgres: COSTS };

function amounts(some: Partial<Amounts>): Amounts {
  return { ...(Object.fromEntries(PARTS.map((part) => [part, 0])) as Amounts), ...some };
}

test('costs are found from what loads use, and the steps of growing from the costs', () => {
  const loads: Counts[] = [
    { record: 1_000, recordValue: 1_000 },
    { record: 10, recordValue: 1_000 },
    { record: 500, recordValue: 500, look: 500 },
  ];
  const found = fitCosts(loads.map((counts) => ({ counts, used: predict(COSTS, counts) })));
  const unseen = { record: 700, recordValue: 3_000, look: 20 };
  expect(predict(found, unseen).database / predict(COSTS, unseen).database).toBeCloseTo(1, 2);
  expect(found.chart.loop).toBe(0);

  // 10,000 requests of ten values a second: 1.2 of a loop, and 1.5 of the 16 processors of the database.
  const fleet: Fleet = { devices: 10_000, everySeconds: 1, values: 10, byWebhook: 0, dashboards: 0 };
  const single = { databases: 1, nodes: 1, replicas: 0 };
  expect(loadsOf(BOTH, 'postgres', fleet, single).get('main loop')).toBeCloseTo(1.2);
  expect(mostDevices(BOTH, 'postgres', fleet, single)).toEqual({ devices: 4_166, full: 'main loop' });
  expect(grow(BOTH, fleet)).toMatchObject({
    kind: 'postgres',
    site: { databases: 1, nodes: 3, replicas: 0 },
    steps: [
      { full: 'main loop', answer: 'PostgreSQL' },
      { full: 'main loop', answer: 'a node more' },
      { full: 'main loop', answer: 'a node more' },
    ],
  });
  // Every node looks at all that is recorded: with eight of them the database is full before their loops.
  const watched = { ...fleet, dashboards: 1 };
  expect(mostDevices(BOTH, 'postgres', watched, { ...single, nodes: 8 }).full).toBe('database');
  expect(grow(BOTH, { ...watched, devices: 100_000 }).site.databases).toBeGreaterThan(1);
});
