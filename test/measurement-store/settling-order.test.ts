import { afterAll, beforeAll, expect, test } from 'vitest';
import { ReceiptEncoder } from '../../src/measurement-store/receipt-encoder.ts';
import { openForWriting } from '../../src/measurement-store/sqlite-connection.ts';
import { SqliteWriter } from '../../src/measurement-store/sqlite-writer.ts';
import { type OpenDatabase, openDatabase } from './open-store.ts';

const DEVICES = 6;
const FIELDS = 4;
const TIMES = 40;

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase('sqlite');
});
afterAll(() => database.close());

/** The same numbers for the same seed (a linear congruential generator). */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Flushes, slices of settling, reads of single devices, removals and crashes in any order, against a model that simply
 * remembers the last value of each key.
 */
test.each([1, 2, 3, 4, 5, 6, 7, 8])('the last committed value wins in any order of events, seed %i', async (seed) => {
  const random = generator(seed);
  await database.sql('DELETE FROM measurement');
  const model = new Map<string, number>();
  let db = openForWriting(database.place);
  let writer = new SqliteWriter(db);
  writer.settler.partRows = 1 + random(200);
  let value = 0;

  const flush = (): void => {
    const encoder = new ReceiptEncoder(64);
    for (let batch = random(4); batch >= 0; batch--) {
      const deviceKey = random(DEVICES);
      const count = random(60);
      const fieldKeys = Array.from({ length: count }, () => random(FIELDS));
      const timestamps = Array.from({ length: count }, () => random(TIMES));
      const values = Array.from({ length: count }, () => ++value);
      encoder.add({ deviceKey, receivedAt: value, fieldKeys, timestamps, values });
      for (let i = 0; i < count; i++) model.set(`${deviceKey} ${fieldKeys[i]} ${timestamps[i]}`, values[i]!);
    }
    const { buffer, length } = encoder.take(undefined);
    writer.flush(Buffer.from(buffer, 0, length), []);
  };
  const check = (deviceKey: number): void => {
    writer.settler.settleDevices([deviceKey]);
    const rows = db
      .prepare<[number], { f: number; t: number; v: number }>(
        'SELECT field_key AS f, ts AS t, value AS v FROM measurement WHERE device_key = ? ORDER BY 1, 2',
      )
      .all(deviceKey);
    const found = new Map(rows.map((row) => [`${deviceKey} ${row.f} ${row.t}`, row.v]));
    expect(found).toEqual(new Map([...model].filter(([key]) => key.startsWith(`${deviceKey} `))));
  };
  const remove = (): void => {
    const query = { deviceKey: random(DEVICES), fieldKeys: [random(FIELDS)], from: random(TIMES), dryRun: false };
    const to = query.from + random(TIMES);
    for (let time = query.from; time < to; time++) model.delete(`${query.deviceKey} ${query.fieldKeys[0]} ${time}`);
    for (const _ of writer.eraser.remove({ ...query, to }));
  };
  const crash = (): void => {
    // What was not committed goes; the inbox is read again.
    db.close();
    db = openForWriting(database.place);
    writer = new SqliteWriter(db);
    writer.settler.partRows = 1 + random(200);
  };

  for (let event = 0; event < 600; event++) {
    const kind = random(20);
    if (kind < 8) flush();
    else if (kind < 14) writer.settleSome(0);
    else if (kind < 18) check(random(DEVICES));
    else if (kind === 18) remove();
    else if (random(4) === 0) crash();
  }
  crash();
  for (let device = 0; device < DEVICES; device++) check(device);
  expect(writer.settler.rows).toBe(0);
  writer.close();
});
