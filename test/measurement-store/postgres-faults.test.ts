import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { pause } from '../../src/scheduling/pause.ts';
import { runAs } from '../../src/scheduling/current-caller.ts';
import type { SeriesRequest } from '../../src/domain/ports/series-request.ts';
import { encode } from '../../src/measurement-store/chunks/codec.ts';
import { LatestMemory } from '../../src/measurement-store/chunks/latest-memory.ts';
import { openPool } from '../../src/measurement-store/postgres/postgres-connection.ts';
import { ReadingVacuum } from '../../src/measurement-store/postgres/reading-vacuum.ts';
import { runPostgresJob } from '../../src/measurement-store/postgres/postgres-work.ts';
import { PostgresMeasurementStore } from '../../src/measurement-store/postgres/postgres-measurement-store.ts';
import {
  cutConnections,
  everything,
  type OpenDatabase,
  openDatabase,
  receipt,
  type Row,
  type Store,
} from './open-store.ts';

describe('the PostgreSQL store', () => {
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

  test('answers a tenant while dozens of changes of another one wait for one device', async () => {
    await store.append(receipt(1, [[1, 1, 1]]));
    const [crowd, other] = ['crowd', 'other'].map((name) => ({ tokenId: name, tenant: name }));
    const holder = openPool(database.place, 1, undefined);
    const client = await holder.connect();
    await client.query('SELECT pg_advisory_lock(738193002, 1)');
    let ended = 0;
    const range = { deviceKey: 1, fieldKeys: [1], from: 5, to: 9, dryRun: false };
    const remove = (): Promise<unknown> => store.remove({ ...range, from: 1 }).finally(() => (ended += 1));
    const waiting = runAs(crowd!, () => Promise.allSettled(Array.from({ length: 40 }, remove)));
    try {
      const locks = `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 1 AND NOT granted`;
      await expect.poll(async () => (await database.sql(locks)).length).toBeGreaterThan(11);
      expect(await runAs(other!, () => store.remove(range))).toBe(0);
      expect(ended).toBe(0);
    } finally {
      client.release(true);
      await holder.end();
      await waiting;
    }
  });

  test('loses nothing it acknowledged when its connections are cut, and goes on by itself', async () => {
    const acknowledged: number[] = [];
    const codes = new Set<unknown>();
    const isEnough = (): boolean => acknowledged.length > 100 && codes.size > 0;
    let next = 0;
    const appender = async (): Promise<void> => {
      while (!isEnough()) {
        const n = next++;
        try {
          await store.append(receipt(1 + (n % 7), [[1, n, n]]));
          acknowledged.push(n);
        } catch (error) {
          codes.add((error as { code?: string }).code);
        }
      }
    };
    const cutter = async (): Promise<void> => {
      // Longer and longer apart: a slow machine needs as long to connect.
      for (let pauseMs = 40; !isEnough(); pauseMs *= 1.1) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        await cutConnections(database);
      }
    };
    await Promise.all([...Array.from({ length: 20 }, appender), cutter()]);
    expect([...codes]).toEqual(['UNAVAILABLE']);
    const found = new Set<number>();
    for (let device = 1; device <= 7; device++)
      for (const [time] of await everything(store, device, 1)) found.add(time);
    expect(acknowledged.filter((n) => !found.has(n))).toEqual([]);
  });

  test('survives the loss of idle connections', async () => {
    await store.ping();
    await cutConnections(database);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await store.append(receipt(1, [[1, 1, 1]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
  });

  test('says UNAVAILABLE when there is no server', async () => {
    await expect(PostgresMeasurementStore.open({ url: 'postgres://inlet@127.0.0.1:1/none' })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });

  test('tries a flush again that could not be serialized', async () => {
    await database.sql('CREATE SEQUENCE tries');
    await failInserts("IF nextval('tries') = 1 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF");
    await store.append(receipt(1, [[1, 1, 1]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
    expect(await database.sql('SELECT last_value::int AS n FROM tries')).toEqual([{ n: 2 }]);
  });

  test('stores what shares a flush with keys that exist, whichever flushes are under way', async () => {
    await store.append(receipt(1, [[1, 0, -1]]));
    const waiting: Promise<unknown>[] = [];
    for (let n = 1; n <= 2_000; n++) {
      waiting.push(store.append(receipt(1 + (n % 5), n % 40 === 0 ? [[1, 0, n]] : [[1, n, n]])));
      if (n % 50 === 0) await waiting.at(-1);
    }
    await Promise.all(waiting);
    const rows = await Promise.all([1, 2, 3, 4, 5].map((device) => everything(store, device, 1)));
    expect(rows.map((found) => found.length)).toEqual([351, 400, 400, 400, 400]);
    expect(rows[0]![0]).toEqual([0, 2_000]);
  });

  test('inserts first, and merges for a while after a key that existed', async () => {
    const statements = async (): Promise<string[]> =>
      (
        await database.sql<{ query: string }>(
          "SELECT query FROM pg_stat_activity WHERE application_name LIKE 'inlet writer %' AND datname = current_database() AND query LIKE '%INSERT INTO reading%'",
        )
      ).map(({ query }) => (query.includes('DO UPDATE SET packed') ? 'merge' : 'insert'));
    await store.append(receipt(1, [[1, 1, 1]]));
    expect(await statements()).toEqual(['insert']);
    await store.append(receipt(1, [[1, 1, 2]]));
    expect(await statements()).toEqual(['merge']);
    for (let n = 2; n <= 101; n++) await store.append(receipt(1, [[1, n, n]]));
    expect(await statements()).toEqual(['merge']);
    await store.append(receipt(1, [[1, 200, 1]]));
    expect(await statements()).toEqual(['insert']);
    expect((await everything(store, 1, 1))[0]).toEqual([1, 2]);
  });

  test('commits durably also where the default of the database is not to', async () => {
    await store.stop();
    const [row] = await database.sql<{ name: string }>('SELECT current_database() AS name');
    await database.sql(`ALTER DATABASE ${row!.name} SET synchronous_commit = off`);
    await failInserts("IF current_setting('synchronous_commit') = 'off' THEN RAISE EXCEPTION 'not durable'; END IF");
    store = await database.openStore();
    await store.append(receipt(1, [[1, 1, 1]]));
    expect(await everything(store, 1, 1)).toEqual([[1, 1]]);
  });

  test('lets two nodes write the same keys at once, in any order', async () => {
    const other = await database.openStore();
    const append = async (node: Store, round: number): Promise<void> => {
      const rows = Array.from({ length: 50 }, (_, i): Row => [1 + ((i * 7) % 50), round, i]);
      await Promise.all([1, 2, 3, 4, 5].map((i) => node.append(receipt(1 + ((i * round) % 5), rows))));
    };
    for (let round = 1; round <= 100; round++) await Promise.all([append(store, round), append(other, round)]);
    expect(await store.lastHeard([1, 2, 3, 4, 5])).toEqual(await other.lastHeard([1, 2, 3, 4, 5]));
    expect((await everything(other, 1, 1)).length).toBeGreaterThanOrEqual(80);
    await other.stop();
  });

  test('takes a new connection after a failed flush: the server may be a former primary', async () => {
    const pids = async (): Promise<number[]> =>
      (
        await database.sql<{ pid: number }>(
          "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'inlet writer %' AND datname = current_database() AND query LIKE '%INSERT INTO reading%'",
        )
      ).map(({ pid }) => pid);
    await store.append(receipt(1, [[1, 1, 1]]));
    const [before] = await pids();
    await database.sql('ALTER TABLE reading RENAME TO elsewhere');
    await expect(store.append(receipt(1, [[1, 2, 2]]))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await database.sql('ALTER TABLE elsewhere RENAME TO reading');
    await store.append(receipt(1, [[1, 3, 3]]));
    expect(await pids()).not.toContain(before);
    expect((await everything(store, 1, 1)).map(([time]) => time)).toEqual([1, 3]);
  });

  test('purges again after a purge that failed', async () => {
    await store.append(receipt(1, [[1, 1, 1]]));
    await database.sql('CREATE SEQUENCE tries');
    await database.sql(
      "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('tries') = 1 THEN RAISE EXCEPTION 'no'; END IF; RETURN OLD; END $$",
    );
    await database.sql('CREATE TRIGGER fail BEFORE DELETE ON reading FOR EACH ROW EXECUTE FUNCTION fail()');
    await database.sql('INSERT INTO purge (device_key, field_key) VALUES (1, NULL)');
    void store.settlePurges();
    await expect.poll(() => everything(store, 1, 1)).toEqual([]);
  });

  test('keeps a moment small that is written again and again', async () => {
    let last = -1;
    const append = (): Promise<unknown> => {
      last += 1;
      return store.append(receipt(1, [[1, 1, 'x'.repeat(1_000) + last], [2, 1, last]])); // oxfmt-ignore
    };
    for (let n = 0; n <= 60; n += 1) await append();
    // It is squeezed behind the flushes, unless the next one comes first.
    const bytes = async (): Promise<number> => {
      await append();
      await pause(50);
      return (await database.sql<{ n: number }>('SELECT octet_length(packed) AS n FROM reading'))[0]!.n;
    };
    await expect.poll(bytes).toBeLessThan(10_000);
    expect(await everything(store, 1, 1)).toEqual([[1, `${'x'.repeat(1_000)}${last}`]]);
    expect(await everything(store, 1, 2)).toEqual([[1, last]]);
  });

  test('sends the readings of a flush in order of their keys, so that nodes do not wait for each other', async () => {
    await database.sql('CREATE TABLE seen (n serial, device_key int)');
    await failInserts('INSERT INTO seen (device_key) VALUES (NEW.device_key)');
    await Promise.all([3, 1, 2].map((device) => store.append(receipt(device, [[1, 1, 1]]))));
    expect(await database.sql('SELECT device_key FROM seen ORDER BY n')).toEqual(
      [1, 2, 3].map((key) => ({ device_key: key })),
    );
  });

  async function failInserts(plpgsql: string): Promise<void> {
    await database.sql(
      `CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${plpgsql}; RETURN NEW; END $$`,
    );
    await database.sql('CREATE TRIGGER fail BEFORE INSERT ON reading FOR EACH ROW EXECUTE FUNCTION fail()');
  }

  const appendMoments = async (moments: number): Promise<void> => {
    for (let from = 0; from < moments; from += 10_000) {
      const count = Math.min(10_000, moments - from);
      await store.append(
        receipt(
          1,
          Array.from({ length: count }, (_, i): Row => [1, (from + i) * 1_000, i]),
        ),
      );
    }
  };

  const vacuums = async (): Promise<number> => {
    const text = "SELECT vacuum_count::int AS count FROM pg_stat_user_tables WHERE relname = 'reading'";
    return (await database.sql<{ count: number }>(text))[0]!.count;
  };

  /** Few rows that are gone are as good as ten times as many. */
  function countTenfold() {
    const { noteGone } = ReadingVacuum.prototype;
    return vi.spyOn(ReadingVacuum.prototype, 'noteGone').mockImplementation(function (this: ReadingVacuum, rows) {
      noteGone.call(this, rows * 10);
    });
  }

  test('clears the indexes of readings when very many of them have gone into chunks, and not for a few', async () => {
    const counted = countTenfold();
    // Beside autovacuum's ours would not begin.
    await database.sql('ALTER TABLE reading SET (autovacuum_enabled = false)');
    await appendMoments(15_000);
    await store.compact([1], Infinity);
    expect(await vacuums()).toBe(0);
    await appendMoments(15_000);
    await store.compact([1], Infinity);
    await expect.poll(vacuums).toBe(1);
    expect(await everything(store, 1, 1)).toHaveLength(15_000);
    counted.mockRestore();
  });

  test('does not wait for a long vacuum when it stops', async () => {
    const [{ name }] = await database.sql<{ name: string }>('SELECT current_database() AS name') as [{ name: string }]; // oxfmt-ignore
    // A page takes about two seconds.
    await database.sql(`ALTER DATABASE "${name}" SET vacuum_cost_delay = 100`);
    await database.sql(`ALTER DATABASE "${name}" SET vacuum_cost_limit = 1`);
    // Beside autovacuum's ours would not begin.
    await database.sql('ALTER TABLE reading SET (autovacuum_enabled = false)');
    await store.stop();
    store = await database.openStore();
    const counted = countTenfold();
    await appendMoments(21_000);
    const compacted = store.compact([1], Infinity);
    const running = `SELECT 1 FROM pg_stat_progress_vacuum AS v JOIN pg_stat_activity AS a USING (pid)
      WHERE v.datname = current_database() AND a.backend_type = 'client backend'`;
    await expect.poll(() => database.sql(running)).toHaveLength(1);
    await store.stop();
    // It may have had slices left.
    await compacted.catch(() => {});
    counted.mockRestore();
    expect(await database.sql(running)).toEqual([]);
    expect(await vacuums()).toBe(0);
  });

  describe('a reader', () => {
    const FROM = 1_000_000;
    let pool: pg.Pool;
    /** What was asked over the newest connection, by name or text. */
    let statements: string[];
    let rollback: () => Promise<unknown>;

    beforeEach(async () => {
      statements = [];
      pool = openPool(database.place, 1, undefined, true);
      pool.on('connect', (client) => {
        const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>;
        statements = [];
        rollback = () => query('ROLLBACK');
        client.query = ((statement: string | { name?: string; text?: string }, ...more: unknown[]) => {
          statements.push(typeof statement === 'string' ? statement : (statement.name ?? statement.text ?? 'copy'));
          return statement === 'ROLLBACK' ? rollback() : query(statement, ...more);
        }) as typeof client.query;
      });
      const text = (i: number): string => String(i).padEnd(4_000, '.');
      for (let at = 0; at < 9_000; at += 1_000) await insertChunk(1, FROM + at, 1_000, text);
      await insertChunk(2, 0, 1, text);
    });
    afterEach(() => pool.end());

    const insertChunk = async (
      field: number,
      firstAt: number,
      count: number,
      text: (i: number) => string,
    ): Promise<void> => {
      const times = Float64Array.from({ length: count }, (_, i) => firstAt + i);
      const { bytes } = encode(times, Array.from(times, text));
      await database.sql(
        'INSERT INTO chunk (device_key, field_key, first_at, last_at, count, packed) VALUES (1, ?, ?, ?, ?, ?)',
        [field, times[0], times.at(-1), count, Buffer.from(bytes)],
      );
    };
    const count = (fieldKey: number, to = 2_000_000): SeriesRequest => {
      const edges = Float64Array.of(FROM, to);
      const view = { kind: 'buckets', edges, aggregation: 'COUNT', fill: 'NULL', rawUpTo: 0 } as const;
      return { deviceKey: 1, fieldKey, fieldType: 'STRING', from: FROM, to, maxCharacters: 1e6, views: [view] };
    };
    const ask = (...requests: SeriesRequest[]): Promise<unknown> =>
      runPostgresJob(pool, { kind: 'series', requests }, new LatestMemory());
    const pid = async (): Promise<number> =>
      (await pool.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]!.pid;

    test('keeps its connection when it refuses a history, and asks nothing more for it', async () => {
      const before = await pid();
      await expect(ask(count(1), count(2))).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
      expect(await pid()).toBe(before);
      const behind = statements.slice(statements.indexOf('ROLLBACK') + 1);
      expect(behind).toEqual(['SELECT pg_backend_pid() AS pid']);
      await expect(ask(count(1, FROM + 1_000))).resolves.toHaveLength(1);
      expect(await pid()).toBe(before);
    });

    test('closes it when a statement failed, and when a refused history cannot be ended', async () => {
      const first = await pid();
      await database.sql('ALTER TABLE chunk RENAME TO elsewhere');
      await expect(ask(count(1))).rejects.toThrow('does not exist');
      await database.sql('ALTER TABLE elsewhere RENAME TO chunk');
      const second = await pid();
      expect(second).not.toBe(first);
      rollback = () => Promise.reject(new Error('no answer'));
      await expect(ask(count(1))).rejects.toMatchObject({ code: 'QUERY_TOO_COMPLEX' });
      expect(await pid()).not.toBe(second);
    });
  });
});
