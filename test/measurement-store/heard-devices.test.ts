import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Batch } from '../../src/domain/ports/store.ts';
import { HeardDevices } from '../../src/measurement-store/postgres/heard-devices.ts';
import { cutConnections, type OpenDatabase, openDatabase, receipt, type Store } from './open-store.ts';

const batch = (deviceKey: number, receivedAt: number): Batch => ({
  deviceKey,
  receivedAt,
  fieldKeys: [],
  timestamps: [],
  values: [],
});

describe('what was heard', () => {
  test('is written at once the first time in half a second, then all together when that is over', () => {
    const heard = new HeardDevices();
    expect(heard.take([batch(2, 5), batch(1, 7), batch(2, 6)], 1_000)).toEqual([[1, 7], [2, 6]]); // oxfmt-ignore
    expect(heard.isWaiting).toBe(false);
    expect(heard.take([batch(2, 9), batch(2, 8), batch(3, 9)], 1_499)).toEqual([[3, 9]]);
    expect(heard.isWaiting).toBe(true);
    expect(heard.take([batch(3, 12), batch(4, 11)], 1_500)).toEqual([[2, 9], [3, 12], [4, 11]]); // oxfmt-ignore
    expect(heard.isWaiting).toBe(false);
    // What has just been written waits like the others.
    expect(heard.take([batch(2, 13)], 1_501)).toEqual([]);
  });
  test('comes along with the next when it could not be written', () => {
    const heard = new HeardDevices();
    const lost = heard.take([batch(1, 7), batch(2, 7)], 1_000);
    heard.take([batch(1, 9)], 1_001);
    heard.giveBack(lost);
    expect(heard.takeAll(1_002)).toEqual([[1, 9], [2, 7]]); // oxfmt-ignore
  });
  test('does not wait for a clock that was set back', () => {
    const heard = new HeardDevices();
    heard.take([batch(1, 7)], 1_000_000);
    expect(heard.take([batch(1, 8)], 1_000)).toEqual([[1, 8]]);
  });
});

describe('on PostgreSQL', () => {
  let database: OpenDatabase;
  let store: Store;

  beforeEach(async () => {
    database = await openDatabase('postgres');
    store = await database.openStore();
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  const written = async (): Promise<number[]> => {
    const rows = await database.sql<{ at: number }>('SELECT last_heard_at::int AS at FROM device_state ORDER BY device_key'); // oxfmt-ignore
    return rows.map(({ at }) => at);
  };
  const hear = (device: number, at: number): Promise<unknown> => store.append(receipt(device, [[1, at, at]], at));

  test('a device that sends often is written down now and then, and whoever asks is told the last time', async () => {
    // Whatever the machine does meanwhile: not each of a hundred changes the row.
    await database.sql('CREATE TABLE changes (n serial)');
    await database.sql(
      'CREATE FUNCTION count_it() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO changes DEFAULT VALUES; RETURN NEW; END $$',
    );
    await database.sql('CREATE TRIGGER counted BEFORE UPDATE ON device_state FOR EACH ROW EXECUTE FUNCTION count_it()');
    await hear(1, 1);
    expect(await written()).toEqual([1]);
    for (let at = 2; at <= 100; at++) await hear(1, at);
    expect(await store.lastHeard([1])).toEqual(new Map([[1, 100]]));
    expect(await written()).toEqual([100]);
    const [{ count }] = await database.sql<{ count: number }>('SELECT count(*)::int AS count FROM changes') as [{ count: number }]; // oxfmt-ignore
    expect(count).toBeLessThan(60);
  });

  test('what was heard last is in the table soon after, though nothing more comes', async () => {
    await hear(1, 1);
    await hear(1, 2);
    await expect.poll(written).toEqual([2]);
  });

  test('is in the table when the store has stopped, and survives connections that are cut', async () => {
    await hear(1, 1);
    await hear(1, 2);
    await hear(2, 3);
    await hear(2, 4);
    await cutConnections(database);
    await expect.poll(() => store.lastHeard([1, 2]).catch(() => null)).toEqual(new Map([[1, 2], [2, 4]])); // oxfmt-ignore
    await hear(1, 5);
    await hear(1, 6);
    await store.stop();
    expect(await written()).toEqual([6, 4]);
  });

  test('a device that is forgotten stays so', async () => {
    await hear(1, 1);
    await hear(1, 2);
    await database.sql('INSERT INTO purge (device_key, field_key) VALUES (1, NULL)');
    await store.settlePurges();
    await store.stop();
    expect(await written()).toEqual([]);
  });
});
