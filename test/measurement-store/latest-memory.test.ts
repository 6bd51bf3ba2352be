import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import { LatestMemory } from '../../src/measurement-store/chunks/latest-memory.ts';
import { latestSlice } from '../../src/measurement-store/chunks/latest-values.ts';
import { SearchSlice } from '../../src/measurement-store/chunks/search-slice.ts';
import type { CommittedSince, ReadingRange } from '../../src/measurement-store/chunks/snapshot.ts';
import { LatestSearches } from '../../src/measurement-store/latest-searches.ts';
import { IntakeView } from '../../src/measurement-store/sqlite/reader/intake-view.ts';
import { openForReading } from '../../src/measurement-store/sqlite/reader/lanes.ts';
import { SqliteSnapshot } from '../../src/measurement-store/sqlite/reader/sqlite-snapshot.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { cutConnections, DIALECTS, type OpenDatabase, openDatabase, receipt, type Row, type Store } from './open-store.ts'; // oxfmt-ignore
import { openSlices } from './open-slices.ts';

/** More than are looked at before a search is one that went far back. */
const READINGS = 2_000;
const START = 1_000_000;
/** Sent all the time; the others are behind its readings. */
const BUSY = 0;
const FIELDS = [1, 2, 3, 4];
/** A long history of each of two seeds is tried in the nightly run. */
const IS_LONG = process.env['INLET_TESTS'] === 'nightly';
const EVENTS = IS_LONG ? 300 : 150;
const NOTHING = { rows: [], left: [] };

describe.each(DIALECTS)('newest values far behind others, on %s,', (dialect) => {
  let database: OpenDatabase;
  let store: Store;
  let device = 0;
  beforeAll(async () => {
    database = await openDatabase(dialect);
    store = await database.openStore();
  });
  beforeEach(async () => {
    device += 1;
    await store.append(receipt(device, busy(START, READINGS)));
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  function busy(from: number, count: number): Row[] {
    return Array.from({ length: count }, (_, i): Row => [BUSY, from + i, i]);
  }

  async function latest(
    fieldKeys: number[],
    from: Pick<Store, 'latest'> = store,
  ): Promise<[number, number, StoredValue][]> {
    const rows = await from.latest([{ deviceKey: device, fieldKeys }]);
    return rows.map((row): [number, number, StoredValue] => [row.fieldKey, row.timestamp, row.value]).sort();
  }

  const SEEDS = (IS_LONG ? [1, 2] : [1]).flatMap((seed) => [{ seed, in: 'a job' }, { seed, in: 'slices' }]); // oxfmt-ignore

  test.each(SEEDS)('are those of a map after whatever happens, in $in, seed $seed', async ({ seed, in: how }) => {
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
    const remove = async (field: number, from: number, to: number): Promise<void> => {
      await store.remove({ deviceKey: device, fieldKeys: [field], from, to, dryRun: false });
      for (const at of model.get(field)!.keys()) if (at >= from && at < to) model.get(field)!.delete(at);
    };
    const removeSome = (): Promise<void> => {
      const [field, from] = [FIELDS[below(4)]!, time()];
      return remove(field, from, from + below(1_500));
    };
    const expire = async (): Promise<void> => {
      const before = time();
      await store.dropOlderThan([device], before);
      // A chunk that reaches over `before` may have kept some.
      for (const [field, values] of model) await remove(field, 0, Math.min(before, Math.max(...values.keys())));
    };
    const change = async (): Promise<void> => {
      const kind = random();
      if (kind < 0.4) await write();
      else if (kind < 0.5) await removeSome();
      else if (kind < 0.54) {
        await store.compact([device], Infinity);
        await store.append(receipt(device, busy((newest += READINGS), READINGS)));
        newest += READINGS;
      } else if (kind < 0.6) await store.compact([], 0);
      else if (kind < 0.62) await expire();
    };
    const slices = openSlices(database);
    const searches = new LatestSearches(async (...asked) => {
      if (random() < 0.3) await change();
      if (random() < 0.1) slices.memory.clear();
      if (random() < 0.01) await store.append(receipt(device + 1_000, busy(START, 20_000)));
      return slices.ask(...asked);
    });
    for (let event = 0; event < EVENTS; event++) {
      await change();
      if (random() < 0.4) continue;
      // On SQLite, what was just written is committed and not sorted in.
      if (random() < 0.5) await write();
      const release = how === 'a job' && random() < 0.5 ? await store.take() : () => {};
      const fields = FIELDS.filter(() => random() < 0.7);
      const found = await latest(fields, how === 'a job' ? store : searches).finally(release);
      const expected = fields.flatMap((field) => {
        const at = Math.max(...model.get(field)!.keys());
        return at > -Infinity ? [[field, at, model.get(field)!.get(at)]] : [];
      });
      expect(found).toEqual(expected);
    }
    if (how === 'slices') expect(slices.count).toBeGreaterThan(EVENTS);
    await slices.close();
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
    expect(await latest(FIELDS)).toEqual([[1, START - 5, 7], [2, START - 6, 8]]); // oxfmt-ignore
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

describe('searches for newest values side by side', () => {
  let database: OpenDatabase;
  let store: Store;
  const memory = new LatestMemory();
  beforeAll(async () => {
    database = await openDatabase('sqlite');
    store = await database.openStore();
    for (const device of [1, 2])
      await store.append(
        receipt(
          device,
          Array.from({ length: READINGS }, (_, i): Row => [BUSY, START + i, i]),
        ),
      );
    await store.compact([], 0);
  });
  afterAll(async () => {
    await store.stop();
    await database.close();
  });

  class Disturbed extends SqliteSnapshot {
    onCommitted = (): void => {};
    onReadings: (range: ReadingRange) => Promise<void> = async () => {};

    override async committedSince(which: CommittedSince) {
      this.onCommitted();
      return super.committedSince(which);
    }

    override async readings(range: ReadingRange) {
      await this.onReadings(range);
      return super.readings(range);
    }
  }

  async function disturbed(work: (snapshot: Disturbed) => Promise<void>): Promise<void> {
    const db = openForReading(database.place);
    const intake = new IntakeView(db);
    intake.refresh();
    await work(new Disturbed(db, intake)).finally(() => db.close());
  }

  const queries = [1, 2].map((deviceKey) => ({ deviceKey, fieldKeys: FIELDS }));

  test('make nothing of what a snapshot remembered that is newer than their own', async () => {
    const db = openForReading(database.place);
    const intake = new IntakeView(db);
    db.exec('BEGIN');
    intake.refresh();
    const older = new SqliteSnapshot(db, intake);
    const isUsable = async (position: string): Promise<boolean> =>
      (await older.committedSince({ deviceKey: 2, position, upTo: null, to: Infinity, most: 1_000 })) !== null;
    expect(await isUsable(await older.position())).toBe(true);
    await store.append(receipt(2, [[BUSY, START, 0]]));
    expect(await isUsable(await store.position())).toBe(false);
    db.exec('COMMIT');
    db.close();
  });

  test('do without the memory when it is cleared meanwhile, and add nothing to it', async () => {
    await disturbed(async (snapshot) => {
      expect(await latestSlice(snapshot, queries, new SearchSlice(memory, Infinity))).toEqual(NOTHING);
      expect(memory.get(1, 1)).toMatchObject({ upTo: -Infinity });
      snapshot.onCommitted = () => memory.clear();
      expect(await latestSlice(snapshot, queries, new SearchSlice(memory, Infinity))).toEqual(NOTHING);
      expect(memory.get(1, 1)).toBeUndefined();
    });
  });

  test('have all ended when one has failed', async () => {
    await disturbed(async (snapshot) => {
      let ended = false;
      snapshot.onReadings = async ({ deviceKey }) => {
        if (deviceKey === 1) throw new Error('cannot be read');
        await new Promise((resolve) => setTimeout(resolve, 100));
        ended = true;
      };
      await expect(latestSlice(snapshot, queries, new SearchSlice(new LatestMemory(), Infinity))).rejects.toThrow(
        'cannot be read',
      );
      expect(ended).toBe(true);
    });
  });
});
