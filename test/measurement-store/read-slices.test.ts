import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SeriesRequest } from '../../src/domain/ports/series-request.ts';
import { type Change, type Edit, expiry } from '../../src/measurement-store/chunks/edit.ts';
import { planExpiry } from '../../src/measurement-store/chunks/plan-expiry.ts';
import { readSeries } from '../../src/measurement-store/chunks/read-series.ts';
import type { Snapshot } from '../../src/measurement-store/chunks/snapshot.ts';
import { openSlices, type Slices } from './open-slices.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

const BEFORE = 1_000_000;
const BUSY = 0;
/** More than a slice that is over at once looks through. */
const FRESH = 20_000;

describe.each(DIALECTS)('what may take long is read in slices, on %s:', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let slices: Slices;
  let device = 0;
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
    slices = openSlices(database);
  });
  beforeEach(() => void (device += 10));
  afterAll(async () => {
    await slices.close();
    await store.stop();
    await database.close();
  });

  const fresh = Array.from({ length: FRESH }, (_, i): Row => [BUSY, BEFORE + i, i]);

  /** A slice whose search has so long, and how many pages of readings it read. */
  function planned(readingsFrom: number | null, searchMs: number): Promise<{ change: Change; pages: number }> {
    const edit: Extract<Edit, { kind: 'expire' }> = { kind: 'expire', before: BEFORE, readingsFrom };
    return slices.inSnapshot(async (snapshot) => {
      let pages = 0;
      const counting = new Proxy<Snapshot>(snapshot, {
        get: (target, name: keyof Snapshot) => {
          if (name === 'readings') pages += 1;
          return target[name].bind(target);
        },
      });
      const { change } = await planExpiry(counting, device, edit, searchMs);
      return { change, pages };
    });
  }

  test('the newest values of readings that expire, and where that is too short the last ones stay', async () => {
    const old = Array.from({ length: 10 }, (_, i): Row => [1 + (i % 2), i, i]);
    await store.append(receipt(device, [...old, ...fresh, [2, BEFORE + 1, 7]]));
    await store.compact([], 0);
    const { change, pages } = await planned(-Infinity, 0);
    expect(pages).toBeLessThan(6);
    const times = (of: Change): number[] => of.readings.map(({ timestamp }) => timestamp);
    expect(times(change)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(times((await planned(-Infinity, Infinity)).change)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 9]);
  });

  test('the newest values of chunks that expire, and where that is too short the last ones stay', async () => {
    const old = Array.from({ length: 10 }, (_, i): Row => [1, i, i]);
    await store.append(receipt(device, old));
    await store.compact([device], Infinity);
    await store.append(receipt(device, [...fresh, [1, BEFORE + 1, 7]]));
    await store.compact([], 0);
    const { change, pages } = await planned(null, 0);
    expect(pages).toBeLessThan(6);
    expect(change.chunksGone).toEqual([{ fieldKey: 1, firstAt: 0 }]);
    expect(change.chunksNew).toMatchObject([{ fieldKey: 1, firstAt: 9, count: 1 }]);
    const whole = (await planned(null, Infinity)).change;
    expect([whole.chunksGone.length, whole.chunksNew.length]).toEqual([1, 0]);
  });

  test('what expires goes out of chunks first, so that nothing shows again that was replaced', async () => {
    const rows = (value: number): Row[] => Array.from({ length: 10 }, (_, at) => [1, at, value]);
    await store.append(receipt(device, rows(1)));
    await store.compact([device], Infinity);
    await store.append(receipt(device, [...rows(2), [1, BEFORE + 1, 3]]));
    await store.compact([], 0);
    const { readingsFrom } = expiry(BEFORE) as Extract<Edit, { kind: 'expire' }>;
    const { change } = await planned(readingsFrom, Infinity);
    expect([change.chunksGone.length, change.readings]).toEqual([1, []]);
    await store.dropOlderThan([device], BEFORE);
    expect(await everything(store, device, 1)).toEqual([[BEFORE + 1, 3]]);
  });

  test('charts, device by device, and those that are left are told', async () => {
    for (let i = 0; i < 3; i++) await store.append(receipt(device + i, [[1, 5, i]]));
    await store.compact([], 0);
    const requests = [0, 1, 2, 0].map((i): SeriesRequest => {
      const range = { deviceKey: device + i, fieldKey: 1, from: 0, to: 10, maxCharacters: 0 };
      return { ...range, fieldType: 'FLOAT', views: [{ kind: 'statistics' }] };
    });
    const read = (ms?: number): Promise<unknown[]> =>
      slices.inSnapshot(async (snapshot) =>
        (await readSeries(snapshot, requests, ms)).map((answer) => answer && 'answered'),
      );
    expect(await read(0)).toEqual(['answered', undefined, undefined, 'answered']);
    expect(await read(Infinity)).toEqual(['answered', 'answered', 'answered', 'answered']);
  });
});
