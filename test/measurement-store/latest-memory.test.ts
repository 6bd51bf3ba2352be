import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredValue } from '../../src/domain/measurements/store.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { cutConnections, DIALECTS, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts'; // prettier-ignore

/** More than are looked at before a search is one that went far back. */
const READINGS = 2_000;
const START = 1_000_000;
/** Sent all the time; the others are behind its readings. */
const BUSY = 0;
const FIELDS = [1, 2, 3, 4];

describe.each(DIALECTS)('newest values far behind others, on %s,', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let device = 0;
  beforeAll(async () => {
    database = await openDatabase(dialect);
  });
  beforeEach(async () => {
    device += 1;
    store = await database.openStore();
    await store.append(receipt(device, busy(START, READINGS)));
  });
  afterEach(() => store.stop());
  afterAll(() => database.close());

  function busy(from: number, count: number): Row[] {
    return Array.from({ length: count }, (_, i): Row => [BUSY, from + i, i]);
  }

  async function latest(fieldKeys: number[]): Promise<[number, number, StoredValue][]> {
    const rows = await store.latest([{ deviceKey: device, fieldKeys }]);
    return rows.map((row): [number, number, StoredValue] => [row.fieldKey, row.timestamp, row.value]).sort();
  }

  test.each([1, 2, 3])('are those of a map after whatever is written, deleted and compacted, seed %i', async (seed) => {
    const random = seededRandom(seed);
    const below = (most: number): number => Math.floor(random() * most);
    const model = new Map(FIELDS.map((field) => [field, new Map<number, number>()]));
    let newest = START + READINGS;
    let written = 0;
    const time = (): number => (random() < 0.6 ? START - 40 + below(40) : START + below(newest - START + 50));
    const write = async (): Promise<void> => {
      const rows = Array.from({ length: 1 + below(3) }, (): Row => [FIELDS[below(4)]!, time(), (written += 1)]);
      for (const [field, at, value] of rows) model.get(field)!.set(at, Number(value));
      if (random() < 0.5) rows.push(...busy((newest += 10), 5));
      await store.append(receipt(device, rows));
    };
    const remove = async (): Promise<void> => {
      const [field, from] = [FIELDS[below(4)]!, time()];
      const range = { fieldKeys: [field], from, to: from + below(1_500), dryRun: false };
      await store.remove({ deviceKey: device, ...range });
      for (const at of model.get(field)!.keys()) if (at >= from && at < range.to) model.get(field)!.delete(at);
    };
    for (let event = 0; event < 300; event++) {
      const kind = random();
      if (kind < 0.4) await write();
      else if (kind < 0.5) await remove();
      else if (kind < 0.54) {
        await store.compact([device], Infinity);
        await store.append(receipt(device, busy((newest += READINGS), READINGS)));
        newest += READINGS;
      } else if (kind < 0.6) await store.compact([], 0);
      if (random() < 0.4) continue;
      // On SQLite, what was just written is committed and not sorted in.
      if (random() < 0.5) await write();
      const release = random() < 0.5 ? await store.take() : () => {};
      const fields = FIELDS.filter(() => random() < 0.7);
      const expected = fields.flatMap((field) => {
        const at = Math.max(...model.get(field)!.keys());
        return at > -Infinity ? [[field, at, model.get(field)!.get(at)]] : [];
      });
      expect(await latest(fields).finally(release)).toEqual(expected);
    }
  });

  test('are the last that was written at their time, sorted in or not', async () => {
    expect(await latest(FIELDS)).toEqual([]);
    await store.append(receipt(device, [[1, START - 5, 7]]));
    await store.compact([], 0);
    await store.append(receipt(device, [[1, START - 5, 8]]));
    const release = await store.take();
    expect(await latest(FIELDS).finally(release)).toEqual([[1, START - 5, 8]]);
  });

  test('are found however much was committed since', async () => {
    expect(await latest(FIELDS)).toEqual([]);
    await store.append(receipt(device + 1_000, busy(START, 20_000)));
    await store.append(receipt(device, [[1, START - 5, 7]]));
    expect(await latest(FIELDS)).toEqual([[1, START - 5, 7]]);
    await store.append(receipt(device, [[2, START - 6, 8]]));
    expect(await latest(FIELDS)).toEqual([[1, START - 5, 7], [2, START - 6, 8]]); // prettier-ignore
  });

  test('are not looked for again in what a search has seen, unless the database may be another', async () => {
    expect(await latest(FIELDS)).toEqual([]);
    const packed = dialect === 'sqlite' ? "x'0503'" : String.raw`'\x0503'`;
    const seq = dialect === 'sqlite' ? '0' : "'3'";
    // As nothing of ours does it: committed long ago, and yet it was not there.
    const insert = `INSERT INTO reading (device_key, ts, stored_at, seq, packed) VALUES (${device}, ${START - 1}, 1, ${seq}, ${packed})`;
    await database.sql(insert);
    expect(await latest(FIELDS)).toEqual([]);
    if (dialect === 'postgres') {
      await cutConnections(database);
      await expect.poll(() => latest(FIELDS).catch(() => [])).toEqual([[1, START - 1, -2]]);
    }
  });
});
