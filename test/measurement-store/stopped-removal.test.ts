import { expect, test } from 'vitest';
import { DIALECTS, everything, openDatabase, receipt, type Row } from './open-store.ts';

const VALUES = 5_000;

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
