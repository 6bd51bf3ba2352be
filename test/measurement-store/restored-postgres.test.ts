import { afterEach, beforeEach, expect, test } from 'vitest';
import { LocalCluster } from '../../src/cluster/local-cluster.ts';
import { RecordedFeed } from '../../src/domain/live/recorded-feed.ts';
import type { RecordedEvent } from '../../src/domain/live/recorded-event.ts';
import { everything, openDatabase, type OpenDatabase, receipt, type Row, type Store } from './open-store.ts';

const AHEAD = 1_000;
/** More than are taken in at once. */
const READINGS = 12_000;

let database: OpenDatabase;
let store: Store;
let feed: RecordedFeed;
beforeEach(async () => {
  database = await openDatabase('postgres');
  const before = await database.openStore();
  await before.append(receipt(1, [[1, 1_000, 'in a chunk']]));
  await before.compact([1], Infinity);
  await before.append(
    receipt(
      2,
      Array.from({ length: READINGS }, (_, i): Row => [1, 1_000 + i, i]),
    ),
  );
  await before.stop();
  // As `pg_restore` leaves them on a server that has had fewer transactions.
  for (const table of ['reading', 'live_horizon'])
    await database.sql(`UPDATE ${table} SET seq = (seq::text::bigint + ${AHEAD})::text::xid8`);
  // Nodes that start together must not be in each other's way.
  const [first, ...others] = await Promise.all([database.openStore(), database.openStore(), database.openStore()]);
  await Promise.all(others.map((other) => other.stop()));
  store = first;
  feed = new RecordedFeed({
    store,
    cluster: new LocalCluster(),
    now: () => Date.now(),
    onError: (error) => expect.unreachable(String(error)),
  });
});
afterEach(async () => {
  feed.stop();
  await store.stop();
  await database.close();
});

async function record(value: number): Promise<void> {
  await store.append(receipt(3, [[1, value, value]]));
  feed.recorded();
}

/** The server has as many more transactions as it was behind. */
async function catchUp(): Promise<void> {
  await database.sql(
    `DO $$ BEGIN FOR i IN 1..${AHEAD + 100} LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$`,
  );
}

test('what is recorded after a dump of a server with more transactions was restored is pushed, and only that', async () => {
  const values = async (events: AsyncIterator<RecordedEvent>, count: number): Promise<unknown[]> => {
    const got: unknown[] = [];
    while (got.length < count) got.push(...((await events.next()).value as RecordedEvent).values);
    return got;
  };
  const events = await feed.subscribe({ accepts: () => true });
  await record(1);
  const first = (await events.next()).value as RecordedEvent;
  expect(first.values).toEqual([1]);
  await catchUp();
  await record(2);
  expect(await values(events, 1)).toEqual([2]);
  await events.return?.();
  const resumed = await feed.subscribe({ accepts: () => true, after: first.cursor });
  await record(3);
  expect(await values(resumed, 2)).toEqual([2, 3]);
  await resumed.return?.();
  // All of it is still there, and its way into chunks expires nothing.
  await store.compact([1, 2], Infinity);
  expect(await everything(store, 1, 1)).toEqual([[1_000, 'in a chunk']]);
  expect((await everything(store, 2, 1)).length).toBe(READINGS);
  const again = await feed.subscribe({ accepts: () => true, after: first.cursor });
  expect(await values(again, 2)).toEqual([2, 3]);
  await again.return?.();
});
