import { afterAll, beforeAll, expect, test } from 'vitest';
import { LONG_AGO } from '../../src/domain/ports/store.ts';
import { RecentFlushes } from '../../src/measurement-store/sqlite/recent-flushes.ts';
import { ReadingFrames } from '../../src/measurement-store/readings/reading-frames.ts';
import { callRow } from '../support/call-row.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

let database: OpenDatabase;
let store: Store;

beforeAll(async () => {
  database = await openDatabase('sqlite');
  store = await database.openStore();
});
afterAll(async () => {
  await store.stop();
  await database.close();
});

const query = (after: string, upTo: string | null = null, deviceKeys: number[] | null = null, limit = 1_000) => ({
  after,
  upTo,
  place: null,
  deviceKeys,
  limit,
});

test('a page of what was just written is the one that the database has', async () => {
  const random = seededRandom(7);
  const below = (count: number): number => Math.floor(random() * count);
  const places = [await store.position()];
  let time = 1_000;
  for (let round = 0; round < 40; round += 1) {
    const receipts = Array.from({ length: 1 + below(5) }, () => {
      const rows = Array.from({ length: 1 + below(4) }, (): Row => [
        1 + below(3),
        (time += 1),
        below(2) ? 'a' : below(9),
      ]);
      return store.append(receipt(1 + below(5), rows, below(5) === 0 ? LONG_AGO : 1_700_000_000_000));
    });
    await Promise.all(receipts);
    places.push(await store.position());
    const after = places[below(places.length)]!;
    const deviceKeys = below(2) === 0 ? null : [1 + below(5), 1 + below(5)];
    const found = await store.recorded(query(after, null, deviceKeys));
    expect(found).toMatchObject({ complete: true, more: false, upTo: places.at(-1) });
    expect(found.readings).toEqual((await store.recorded(query(after, found.upTo, deviceKeys))).readings);
  }
});

test('the database is not asked for what was just written', async () => {
  const after = await store.position();
  for (let time = 1; time <= 3; time += 1)
    await store.append(
      receipt(
        60,
        [1, 2, 3].map((place): Row => [1, 10 * place + time, 1]),
      ),
    );
  // A page of the database ends amid a commit.
  expect(await store.recorded(query(after, null, null, 7))).toMatchObject({ complete: true, more: true });
});

test('what was deleted since is not told, nor what was written over', async () => {
  const after = await store.position();
  await store.append(receipt(50, [[1, 1_000, 1]]));
  await store.append(receipt(51, [[1, 1_000, 1]]));
  await store.remove({ deviceKey: 50, fieldKeys: [1], from: 0, to: 2_000, dryRun: false });
  const { readings } = await store.recorded(query(after));
  expect(readings.map(({ deviceKey }) => deviceKey)).toEqual([51]);
});

test('a commit of calls alone is no place in the order of commits, as the database knows none', async () => {
  await store.append(receipt(70, [[1, 1_000, 1]]));
  const after = await store.position();
  await store.append(receipt(70, [[1, 2_000, 1]]));
  for (let nth = 0; nth < 3; nth += 1) await store.append({ batches: [], call: callRow(1, 1_700_000_000_000 + nth) });
  expect(await store.recorded(query(after))).toMatchObject({ upTo: await store.position(), readings: [{}] });
  await store.append(receipt(70, [[1, 3_000, 1]]));
  expect((await store.recorded(query(after))).readings).toHaveLength(2);
});

/** The bytes of a flush with a reading of each device. */
function framesOf(deviceKeys: readonly number[]): Buffer {
  const frames = new ReadingFrames();
  for (const deviceKey of deviceKeys) frames.add(receipt(deviceKey, [[1, 1_000, 5]]).batches[0]!);
  const { buffer, length } = frames.take(undefined);
  return Buffer.from(buffer, 0, length);
}

test('a page is of whole commits, and says whether there are more', () => {
  const recent = new RecentFlushes();
  for (let seq = 11; seq <= 14; seq += 1) recent.add({ seq, storedAt: 1, frames: framesOf([1, 2, 3]) });
  expect(recent.recorded(query('10', null, null, 7))).toMatchObject({ upTo: '12', complete: true, more: true });
  expect(recent.recorded(query('12', null, null, 7))).toMatchObject({ upTo: '14', complete: true, more: false });
  expect(recent.recorded(query('14'))).toMatchObject({ upTo: '14', readings: [], more: false });
  expect(recent.recorded(query('10', null, null, 2))).toBeNull();
});

test('nothing is told of what is not in memory whole', async () => {
  const recent = new RecentFlushes();
  expect(recent.recorded(query('0'))).toBeNull();
  recent.add({ seq: 3, storedAt: 1, frames: framesOf([1]) });
  expect([recent.recorded(query('1')), recent.recorded(query('4')), recent.recorded(query('2.'))]).toEqual([
    null,
    null,
    null,
  ]);
  expect(recent.recorded(query('2'))?.readings).toHaveLength(1);
  // The fourth commit is none of a flush.
  recent.add({ seq: 5, storedAt: 1, frames: framesOf([1]) });
  expect([recent.recorded(query('3')), recent.recorded(query('4'))?.upTo]).toEqual([null, '5']);
  recent.add({ seq: 6, storedAt: 1, frames: framesOf(Array.from({ length: 10_000 }, (_, at) => at)) });
  expect([recent.recorded(query('5')), recent.recorded(query('6'))?.readings]).toEqual([null, []]);
  await recent.without(async () => recent.add({ seq: 7, storedAt: 1, frames: framesOf([1]) }));
  expect([recent.recorded(query('6')), recent.recorded(query('7'))]).toEqual([null, null]);
});

test('a commit without readings takes no memory, and ends nothing', () => {
  const recent = new RecentFlushes();
  recent.add({ seq: 1, storedAt: 1, frames: framesOf([1]) });
  recent.add({ seq: 2, storedAt: 1, frames: Buffer.alloc(0) });
  expect(recent.recorded(query('0'))).toMatchObject({ upTo: '1', more: false });
  expect(recent.recorded(query('2'))).toBeNull();
  recent.add({ seq: 3, storedAt: 1, frames: framesOf([2]) });
  expect(recent.recorded(query('0'))).toMatchObject({ upTo: '3', readings: [{ seq: '1' }, { seq: '3' }] });
});

test('the oldest go when there are very many', () => {
  const recent = new RecentFlushes();
  const frames = framesOf(Array.from({ length: 5_000 }, (_, at) => at));
  let kept = 0;
  for (let seq = 1; seq <= 100; seq += 1) recent.add({ seq, storedAt: 1, frames });
  for (let after = 0; after < 100; after += 1)
    kept += recent.recorded(query(String(after), null, null, 5_000)) === null ? 0 : 1;
  expect(kept * frames.length).toBeLessThan(5_000_000);
  expect(kept).toBeGreaterThan(5);
  // Those of a few devices would be looked for in all of it.
  const ofOne = (after: number) => recent.recorded(query(String(after), null, [1]));
  expect([ofOne(99)?.readings.length, ofOne(95)]).toEqual([1, null]);
});
