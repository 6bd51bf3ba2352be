import pg from 'pg';
import { test, type TestContext } from 'vitest';
import { everything, type OpenDatabase, openDatabase, receipt, type Store } from './open-store.ts';

/** A database with two stores on it, and its processes that a test has stopped. */
class Ground {
  readonly database: OpenDatabase;
  readonly stores: [Store, Store];
  readonly stopped: number[] = [];

  private constructor(database: OpenDatabase, stores: [Store, Store]) {
    this.database = database;
    this.stores = stores;
  }

  static async open(atEnd: TestContext['onTestFinished']): Promise<Ground> {
    const database = await openDatabase('postgres');
    const ground = new Ground(database, [await database.openStore(), await database.openStore()]);
    atEnd(async () => {
      ground.goOn();
      await Promise.all(ground.stores.map((store) => store.stop()));
      await database.close();
    });
    return ground;
  }

  async writers(): Promise<number[]> {
    const text = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'inlet writer %' AND query LIKE '%INTO reading%'`;
    return (await this.database.sql<{ pid: number }>(text)).map(({ pid }) => pid);
  }

  goOn(): void {
    for (const pid of this.stopped.splice(0)) process.kill(pid, 'SIGCONT');
  }
}

// They mostly wait for what the database refuses in time: side by side.
test.concurrent.for([
  ['the same', 'merges', true],
  ['another', 'merges', true],
  ['the same', 'inserts', false],
])(
  'what the database would do late, after its refusal, is not stored over what %s node has stored since (%s)',
  async ([node, , merging], { expect, onTestFinished }) => {
    const ground = await Ground.open(onTestFinished);
    const { stopped } = ground;
    const [store, other] = ground.stores;
    await store.append(receipt(1, [[1, 1, 1]]));
    if (merging) await store.append(receipt(1, [[1, 1, 2]]));
    // What was heard is written by then: it would take a new connection for itself.
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    stopped.push(...(await ground.writers()));
    expect(stopped).toHaveLength(1);
    process.kill(stopped[0]!, 'SIGSTOP');
    const refused = store.append(receipt(1, [[1, 2, 111], [1, 3, 111]])); // oxfmt-ignore
    await expect(refused).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await (node === 'the same' ? store : other).append(receipt(1, [[1, 2, 222]]));
    const late = stopped[0]!;
    ground.goOn();
    await expect.poll(() => ground.writers()).not.toContain(late);
    expect(await everything(store, 1, 1)).toEqual([[1, merging ? 2 : 1], [2, 222]]); // oxfmt-ignore
  },
);

test.concurrent('nothing waits on in the database for what somebody else has locked', async ({
  expect,
  onTestFinished,
}) => {
  const { database, stores } = await Ground.open(onTestFinished);
  const [store] = stores;
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
      await expect.poll(waiting).toBeGreaterThan(0);
      for (const outcome of await asked)
        expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'UNAVAILABLE' } });
      // What was heard is tried again by itself.
      await expect.poll(waiting).toBeLessThanOrEqual(1);
    }
    await client.query('ROLLBACK');
    await store.append(receipt(1, [[1, 3, 3]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1], [3, 3]]); // oxfmt-ignore
  } finally {
    await client.end();
  }
});
