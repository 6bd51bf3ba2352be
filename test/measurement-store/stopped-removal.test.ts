import { expect, test } from 'vitest';
import { callRow } from '../support/call-row.ts';
import { DIALECTS, everything, openDatabase, receipt, type Row } from './open-store.ts';

const VALUES = 2_500;

test.each(DIALECTS)('a removal that a stop of the %s store has cut short is not told as done', async (dialect) => {
  const database = await openDatabase(dialect);
  const store = await database.openStore();
  await store.append(
    receipt(
      1,
      Array.from({ length: VALUES }, (_, at): Row => [1, at, at]),
    ),
  );
  let stopped: Promise<void> | undefined;
  const removed = store.remove({ deviceKey: 1, fieldKeys: [1], from: 0, to: VALUES, dryRun: false }, async (work) => {
    const result = await work();
    // Behind the first slice.
    if (typeof result !== 'number') stopped ??= store.stop();
    return result;
  });
  await expect(removed).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await stopped;
  const again = await database.openStore();
  expect((await everything(again, 1, 1)).length).toBeGreaterThan(0);
  await again.stop();
  await database.close();
});

test('nor is a removal of calls that a stop of the sqlite store has cut short: their product would go without them', async () => {
  const database = await openDatabase('sqlite');
  const store = await database.openStore();
  const calls = Array.from({ length: 200 }, (_, at) => callRow(7, at + 1));
  await Promise.all(calls.map((row) => store.append({ batches: [], call: row })));
  const removed = store.removeCalls(Number.MAX_SAFE_INTEGER, 7, () => false);
  const stopped = store.stop();
  await expect(removed).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  await stopped;
  const again = await database.openStore();
  expect((await again.calls({ productKey: 7, limit: 200 })).length).toBeGreaterThan(0);
  await again.stop();
  await database.close();
});

test.each(DIALECTS)('wherever a removal on %s ends early, nothing shows again that was replaced', async (dialect) => {
  const database = await openDatabase(dialect);
  const times = Array.from({ length: VALUES }, (_, at) => at);
  const store = await database.openStore();
  for (let slices = 1; ; slices += 1) {
    await store.append(
      receipt(
        slices,
        times.map((at): Row => [1, at, 1]),
      ),
    );
    await store.compact([slices], Infinity);
    await store.append(
      receipt(
        slices,
        times.map((at): Row => [1, at, 2]),
      ),
    );
    let left = slices;
    const isDone = await store
      .remove({ deviceKey: slices, fieldKeys: [1], from: 1, to: VALUES, dryRun: false }, async (work) => {
        const result = await work();
        if (typeof result !== 'number' && (left -= 1) === 0) throw new Error('ended early');
        return result;
      })
      .then(
        () => true,
        () => false,
      );
    const values = (await everything(store, slices, 1)).map(([, value]) => value);
    expect(new Set(values), `after ${slices} slices`).toEqual(new Set([2]));
    if (isDone) break;
  }
  await store.stop();
  await database.close();
});
