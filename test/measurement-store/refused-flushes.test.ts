import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { everything, type OpenDatabase, openDatabase, receipt, type Store } from './open-store.ts';

let database: OpenDatabase;
const stores: Store[] = [];
const stopped: number[] = [];

beforeEach(async () => {
  database = await openDatabase('postgres');
  stores.push(await database.openStore(), await database.openStore());
});
afterEach(async () => {
  goOn();
  await Promise.all(stores.splice(0).map((store) => store.stop()));
  await database.close();
});

const writers = async (): Promise<number[]> => {
  const text = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND application_name LIKE 'inlet writer %' AND query LIKE '%INTO reading%'`;
  return (await database.sql<{ pid: number }>(text)).map(({ pid }) => pid);
};
function goOn(): void {
  for (const pid of stopped.splice(0)) process.kill(pid, 'SIGCONT');
}

test.each([
  ['the same', 'merges', true],
  ['another', 'merges', true],
  ['the same', 'inserts', false],
])(
  'what the database would do late, after its refusal, is not stored over what %s node has stored since (%s)',
  { timeout: 60_000 },
  async (node, _, merging) => {
    const [store, other] = stores as [Store, Store];
    await store.append(receipt(1, [[1, 1, 1]]));
    if (merging) await store.append(receipt(1, [[1, 1, 2]]));
    // What was heard is written by then: it would take a new connection for itself.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    stopped.push(...(await writers()));
    expect(stopped).toHaveLength(1);
    process.kill(stopped[0]!, 'SIGSTOP');
    const refused = store.append(receipt(1, [[1, 2, 111], [1, 3, 111]])); // prettier-ignore
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await (node === 'the same' ? store : other).append(receipt(1, [[1, 2, 222]]));
    const late = stopped[0]!;
    goOn();
    await expect.poll(writers, { timeout: 10_000 }).not.toContain(late);
    expect(await everything(store, 1, 1)).toEqual([[1, merging ? 2 : 1], [2, 222]]); // prettier-ignore
  },
);

test('nothing waits on in the database for what somebody else has locked', { timeout: 60_000 }, async () => {
  const [store] = stores as [Store, Store];
  await store.append(receipt(1, [[1, 1, 1]]));
  const client = new pg.Client({ connectionString: database.place });
  await client.connect();
  try {
    const waiting = async (): Promise<number> => {
      const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return (await database.sql<{ n: number }>(text))[0]!.n;
    };
    await client.query('BEGIN');
    await client.query('LOCK TABLE reading');
    for (let round = 0; round < 2; round++) {
      const asked = Promise.allSettled([
        store.append(receipt(1, [[1, 2, 2]])),
        everything(store, 1, 1),
        store.latest([{ deviceKey: 1, fieldKeys: [1] }]),
        store.remove({ deviceKey: 1, fieldKeys: [1], from: 0, to: 10, dryRun: false }),
      ]);
      await expect.poll(waiting, { timeout: 3_000 }).toBeGreaterThan(0);
      for (const outcome of await asked)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
      // What was heard is tried again by itself.
      await expect.poll(waiting, { timeout: 500 }).toBeLessThanOrEqual(1);
    }
    await client.query('ROLLBACK');
    await store.append(receipt(1, [[1, 3, 3]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1], [3, 3]]); // prettier-ignore
  } finally {
    await client.end();
  }
});
