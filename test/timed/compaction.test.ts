import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LONG_AGO } from '../../src/domain/ports/store.ts';
import {
  DIALECTS,
  type OpenDatabase,
  openDatabase,
  receipt,
  type Row,
  type Store,
} from '../measurement-store/open-store.ts';

const MINUTE = 60_000;

describe.each(DIALECTS)('compaction in the %s store', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  beforeEach(async () => {
    database = await openDatabase(dialect);
  });
  afterEach(async () => {
    await store.stop();
    await database.close();
  });

  const rows = (from: number, count: number): Row[] => Array.from({ length: count }, (_, i) => [1, from + i, i / 4]);
  const readings = async (device: number): Promise<number> =>
    Number(
      (await database.sql<{ n: number }>('SELECT count(*) AS n FROM reading WHERE device_key = ?', [device]))[0]!.n,
    );
  /** On SQLite readings are sorted into their table a little later. */
  const sortedIn = (): Promise<void> => expect.poll(() => waiting()).toBe(0);
  const waiting = async (): Promise<number> =>
    dialect === 'sqlite' ? (await database.sql('SELECT seq FROM intake')).length : 0;

  test('goes slowly beside those who record', async () => {
    store = await database.openStore({ keptMs: 60 * MINUTE, compactEveryMs: 60 * MINUTE });
    const COUNT = 30_000;
    const takes = async (device: number, isRecorded: boolean): Promise<number> => {
      await store.append(receipt(device, rows(0, COUNT), LONG_AGO));
      await sortedIn();
      const state = { isOver: !isRecorded };
      const recording = (async () => {
        for (let at = 0; !state.isOver; at += 1) {
          await store.append(receipt(9, rows(at, 1)));
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      })();
      try {
        // The last look for what is due may make it rest for a while.
        const begun = (): Promise<number> => store.compactSoon().then(() => readings(device));
        await expect.poll(begun, { interval: 5 }).toBeLessThan(COUNT);
        const from = performance.now();
        await expect.poll(() => readings(device), { interval: 5 }).toBe(0);
        return performance.now() - from;
      } finally {
        state.isOver = true;
        await recording;
      }
    };
    // On a busy machine one of two may wait for others.
    const alone = Math.min(await takes(1, false), await takes(2, false));
    // … and a slice may be over before the next value comes.
    const beside = await takes(3, true);
    expect(beside > 2 * alone ? beside : await takes(4, true)).toBeGreaterThan(2 * alone);
  });
});
