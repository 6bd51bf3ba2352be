import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test, vi } from 'vitest';
import { History } from '../../src/domain/history/history.ts';
import type { DeviceInfo } from '../../src/domain/ingest-cache/ingest-cache.ts';
import type { MeasurementStore } from '../../src/domain/ports/store.ts';
import { DeviceChoice } from '../../src/domain/history/device-choice.ts';
import { AppError } from '../../src/errors.ts';
import { createLoaders } from '../../src/graphql/context/loaders.ts';
import { GraphqlContext } from '../../src/graphql/context/graphql-context.ts';
import { DeviceResolver } from '../../src/graphql/resolvers/device-resolver.ts';
import { HistoryResolver } from '../../src/graphql/resolvers/history-resolver.ts';
import { LatestSearches } from '../../src/measurement-store/latest-searches.ts';
import { openDomain } from '../support/open-domain.ts';

const GONE = new AppError('UNAVAILABLE', 'The client is gone.');
const field = { key: 1, identifier: 'T', type: 'FLOAT' };
const devices = Array.from({ length: 200 }, (_, key) => {
  return { key, product: { fields: new Map([['T', field]]) } } as unknown as DeviceInfo;
});
const statistics = { first: null, last: null, count: 0, min: null, max: null, sum: null };

/** A store that has to be waited for; `read`: what it was asked so far. */
function slowStore(read: string[]): MeasurementStore {
  const after = async <T>(what: string, answer: T): Promise<T> => {
    read.push(what);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return answer;
  };
  return {
    series: (requests: unknown[]) =>
      after(
        `${requests.length} charts`,
        // It takes long: one of them at a time.
        requests.map((_, i) => (i === 0 ? { before: null, views: [statistics] } : undefined)),
      ),
    range: () => after('a page', { timestamps: [], values: [] }),
    remove: () => after('a count', 0),
  } as Partial<MeasurementStore> as MeasurementStore;
}

test('of an operation that has ended nothing more is read: charts, pages, counts', async () => {
  const read: string[] = [];
  const history = new History(slowStore(read));
  const { points, budget } = new GraphqlContext('missing', '', {} as never, {} as never);
  const asked = devices.flatMap((device) => [
    history.statistics(device, { from: 0, to: 10, fields: null }, points),
    history.page(device, { field: 'T', newestFirst: true, limit: 10 }, points),
    history.count(device, { field: 'T' }, points),
  ]);
  const settled = Promise.allSettled(asked);
  await expect.poll(() => read.includes('49 charts')).toBe(true);
  budget.end(GONE);
  const before = read.length;
  const failures = (await settled).filter(({ status }) => status === 'rejected');
  expect(read.slice(before)).toEqual([]);
  expect(failures.length).toBeGreaterThan(500);
  for (const failure of failures) expect(failure).toMatchObject({ reason: GONE });
});

test('nor is any device searched further for newest values', async () => {
  let slices = 0;
  const searches = new LatestSearches(async () => {
    slices += 1;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const found = { deviceKeys: [], fieldKeys: [], timestamps: [], values: [] };
    return { found, left: [0], progress: { era: '', devices: [] }, searchedMs: 5 };
  });
  const { budget } = new GraphqlContext('missing', '', {} as never, {} as never);
  const latest: MeasurementStore['latest'] = (queries, spend) => searches.latest(queries, spend);
  const store = { latest } as Partial<MeasurementStore> as MeasurementStore;
  const loaders = createLoaders({ database: {} as never, store, history: new History(store) }, budget);
  const asked = loaders.latest.load({ device: devices[0]! });
  await expect.poll(() => slices > 3).toBe(true);
  budget.end(GONE);
  const before = slices;
  await expect(asked).rejects.toBe(GONE);
  expect(slices - before).toBeLessThan(2);
});

test('what one that goes on was not answered at once is asked again', async () => {
  const read: string[] = [];
  const { points } = new GraphqlContext('missing', '', {} as never, {} as never);
  const history = new History(slowStore(read));
  const some = devices
    .slice(0, 3)
    .map((device) => history.statistics(device, { from: 0, to: 10, fields: null }, points));
  expect(await Promise.all(some)).toHaveLength(3);
  expect(read).toEqual(['3 charts', '2 charts', '1 charts']);
});

test('of one that has ended no devices are gone through', async () => {
  const domain = await openDomain('sqlite');
  try {
    const { access, deviceList, ingestCache } = domain;
    const context = new GraphqlContext(access, '', {} as never, {} as never);
    const devices = new DeviceResolver({} as never, deviceList, {} as never, {} as never);
    const histories = new HistoryResolver(new DeviceChoice(ingestCache, deviceList), new History(slowStore([])));
    const asked = [
      () => devices.devices(context, {}),
      () => devices.deviceBySerialNumber(context, '00ff'),
      () => histories.history(context, { from: 0, to: 1 } as never, null, null, ['tag']),
    ];
    // The domain reads of its own accord, too.
    const asking = new AsyncLocalStorage<true>();
    const read = domain.database.read.bind(domain.database);
    let reads = 0;
    vi.spyOn(domain.database, 'read').mockImplementation(() => {
      if (asking.getStore()) reads += 1;
      return read();
    });
    for (const ask of asked) {
      reads = 0;
      await asking.run(true, async (): Promise<unknown> => ask());
      expect(reads).toBeGreaterThan(0);
    }
    context.budget.end(GONE);
    reads = 0;
    for (const ask of asked) await expect(asking.run(true, async (): Promise<unknown> => ask())).rejects.toBe(GONE);
    expect(reads).toBe(0);
  } finally {
    await domain.close();
  }
});
