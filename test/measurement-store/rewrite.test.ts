import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DeviceRemoval, Rewrite } from '../../src/domain/ports/store.ts';
import { callRow } from '../support/call-row.ts';
import { DIALECTS, everything, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts';

describe.each(DIALECTS)('what a replay changes, on %s', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let device = 0;
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore({ keptMs: 3_600_000 });
  });
  afterAll(async () => {
    await store?.stop();
    await database?.close();
  });
  beforeEach(() => {
    device += 10;
  });

  const gone = (rows: Row[], deviceKey = device): DeviceRemoval => {
    const [batch] = receipt(deviceKey, rows).batches;
    const { fieldKeys, timestamps, values } = batch!;
    return { deviceKey, fieldKeys, timestamps, values };
  };
  const rewrite = (what: Partial<Rewrite>): Promise<number> =>
    store.rewrite({ batches: [], removals: [], shared: [], calls: [], ...what });
  const valuesAt = async (...keys: [fieldKey: number, timestamp: number][]): Promise<unknown[]> => {
    const [fieldKeys, timestamps] = [keys.map(([key]) => key), keys.map(([, timestamp]) => timestamp)];
    return (await store.valuesAt([{ deviceKey: device, fieldKeys, timestamps }]))[0]!.values;
  };

  test('single values are found in readings, in chunks, and where both have one', async () => {
    const rows = Array.from({ length: 2_500 }, (_, at): Row => [1, at * 10, at]);
    await store.append(receipt(device, [...rows, [2, 50, 'text']]));
    await store.compact([device], Infinity);
    await store.append(receipt(device, [[1, 100, -1], [3, 100, 7], [1, 30_000, -2]])); // oxfmt-ignore
    const asked = [[1, 100], [1, 24_990], [1, 55], [2, 50], [2, 60], [3, 100], [1, 30_000], [4, 100], [1, 0]] as const; // oxfmt-ignore
    expect(await valuesAt(...asked.map(([field, at]): [number, number] => [field, at]))).toEqual(
      [-1, 2_499, undefined, 'text', undefined, 7, -2, undefined, 0], // oxfmt-ignore
    );
    expect(await valuesAt(...rows.map(([field, at]): [number, number] => [field, at + 5]))).toEqual(
      rows.map(() => undefined),
    );
    const all = rows.map(([, at, value]) => (at === 100 ? -1 : value));
    expect(await valuesAt(...rows.map(([field, at]): [number, number] => [field, at]))).toEqual(all);
  });

  test('values come and go in one commit with the call, out of chunks and readings, of several devices', async () => {
    const call = callRow(device, 1_700_000_000_000, { stored: '[]' });
    await store.append({ ...receipt(device, [[1, 1_000, 1], [1, 2_000, 2], [1, 3_000, 3], [2, 2_000, 9]]), call }); // oxfmt-ignore
    await store.append(receipt(device + 1, [[1, 1_000, 5]]));
    await store.compact([device], Infinity);
    // Over the one in the chunk.
    await store.append(receipt(device, [[1, 2_000, 22]]));
    const before = await store.position();
    const { batches } = receipt(device, [[1, 2_500, 25], [2, 1_000, 8]]); // oxfmt-ignore
    const after = { ...call, status: 'STORED' as const, decoderVersion: 2, stored: '[[1,0,1,5]]' };
    const removals = [gone([[1, 2_000, 22], [1, 3_000, 3]]), gone([[1, 1_000, 5]], device + 1)]; // oxfmt-ignore
    expect(await rewrite({ batches, removals, calls: [after] })).toBe(0);
    expect(await everything(store, device, 1)).toEqual([[1_000, 1], [2_500, 25]]); // oxfmt-ignore
    expect(await everything(store, device, 2)).toEqual([[1_000, 8], [2_000, 9]]); // oxfmt-ignore
    expect(await everything(store, device + 1, 1)).toEqual([]);
    expect(await store.latest([{ deviceKey: device, fieldKeys: [1] }])).toMatchObject([{ timestamp: 2_500 }]);
    expect(await store.call(call.productKey, call.id)).toEqual(after);
    const { readings } = await store.recorded({
      after: before,
      upTo: null,
      place: null,
      deviceKeys: [device],
      limit: 9,
    });
    expect(readings.map(({ timestamp }) => timestamp).sort()).toEqual([1_000, 2_500]);
    await store.compact([device, device + 1], Infinity);
    expect(await everything(store, device, 1)).toEqual([[1_000, 1], [2_500, 25]]); // oxfmt-ignore
  });

  test('a value that is not what it was stays, and is counted', async () => {
    await store.append(receipt(device, [[1, 1_000, 1], [1, 2_000, 2]])); // oxfmt-ignore
    const removals = [gone([[1, 1_000, 7], [1, 2_000, 2], [1, 3_000, 3]])]; // oxfmt-ignore
    expect(await rewrite({ removals })).toBe(1);
    expect(await everything(store, device, 1)).toEqual([[1_000, 1]]);
  });

  test('a field that others write in the same moments all the while is as they wrote it, and nothing comes back', async () => {
    const moments = Array.from({ length: 200 }, (_, at) => at);
    await store.append(receipt(device, moments.map((at): Row => [1, at, 1]))); // oxfmt-ignore
    const write = (value: number): Promise<number> =>
      store.append(receipt(device, moments.map((at): Row => [2, at, value]))); // oxfmt-ignore
    for (let at = 0; at < moments.length; at += 20) {
      const some = moments.slice(at, at + 20);
      const { batches } = receipt(device, some.map((moment): Row => [3, moment, 3])); // oxfmt-ignore
      const removals = [gone(some.map((moment): Row => [1, moment, 1]))];
      const [left] = await Promise.all([
        rewrite({ batches, removals }),
        write(at),
        write(at + 1).then(() => write(at + 2)),
      ]);
      expect(left).toBe(0);
    }
    expect(await everything(store, device, 1)).toEqual([]);
    expect(await everything(store, device, 2)).toEqual(moments.map((at) => [at, 182]));
    expect(await everything(store, device, 3)).toEqual(moments.map((at) => [at, 3]));
  });

  test('by how many calls a value is said is kept until those are forgotten', async () => {
    const key = { deviceKey: device, fieldKey: 1, timestamp: 1_000, receivedAt: 5_000 };
    const others = async (): Promise<number[]> =>
      (await store.valuesAt([{ deviceKey: device, fieldKeys: [1, 2, 1], timestamps: [1_000, 1_000, 2_000] }]))[0]!
        .others;
    expect(await others()).toEqual([0, 0, 0]);
    await rewrite({ shared: [{ ...key, others: 2 }, { ...key, timestamp: 2_000, others: 1 }] }); // oxfmt-ignore
    expect(await others()).toEqual([2, 0, 1]);
    await rewrite({ shared: [{ ...key, others: 1, receivedAt: 4_000 }, { ...key, timestamp: 2_000, others: 0 }] }); // oxfmt-ignore
    expect(await others()).toEqual([1, 0, 0]);
    await store.removeCalls(5_000, undefined, () => false);
    expect(await others()).toEqual([1, 0, 0]);
    await store.removeCalls(5_001, undefined, () => false);
    expect(await others()).toEqual([0, 0, 0]);
  });
});
