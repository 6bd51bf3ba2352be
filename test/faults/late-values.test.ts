import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { SteppedClock } from '../support/clock.ts';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

const redisUrl = inject('redisUrl');
/** Of the value that is committed late, in ms. */
const LATE_AT = 1_767_225_600_000;
/** Of which one deletes, and either commits late. */
const NODES = ['the same', 'the other'];

describe.skipIf(redisUrl === null)('two nodes, one of which commits late', () => {
  let database: TestDatabase;
  let client: pg.Client;
  const nodes: Record<string, TestServer> = {};
  const env = { REDIS_URL: redisUrl! };

  beforeAll(async () => {
    database = await createDatabase('postgres');
    for (const name of NODES) nodes[name] = await startServer({ database, env });
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });
  afterAll(async () => {
    await client?.end();
    await Promise.all(Object.values(nodes).map((node) => node.stop()));
    await database?.drop();
  });

  const rows = async (sql: string, values: unknown[] = []): Promise<any[]> => (await client.query(sql, values)).rows;

  test('nothing stays of a device and a field that are removed while the same node, or another one, commits', async () => {
    const allKeys: number[][] = [];
    for (const name of NODES) {
      const keys: number[] = [];
      const [deleting, recording] = [nodes['the same']!, nodes[name]!];
      const product = await createProduct(deleting, {
        fields: { kept: 'FLOAT', removed: 'FLOAT' },
        serialNumbers: ['gone', 'stays'],
      });
      for (const id of product.deviceIds) {
        await recording.record(id, ['kept', 'removed'].map((field, at) => ({ field, value: 1, timestamp: 1_767_000_000 + at }))); // oxfmt-ignore
        keys.push((await rows('select key from device where id = $1', [id]))[0].key);
      }
      // Whoever wants to write this moment of these devices waits for us.
      await client.query('begin');
      for (const key of keys)
        await client.query("insert into reading (device_key, ts, stored_at, packed) values ($1, $2, 0, '')", [
          key,
          LATE_AT,
        ]);
      const late = product.deviceIds.map((id) =>
        recording.record(id, { field: 'removed', value: 2, timestamp: LATE_AT / 1000 }),
      );
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => rows(waiting)).not.toEqual([]);

      const { product: found } = await deleting.gql(
        'query ($id: ID!) { product(id: $id) { fields { id identifier } } }',
        product,
      );
      const removed = found.fields.find(({ identifier }: any) => identifier === 'removed');
      await deleting.gql('mutation ($ids: [ID!]!, $f: ID!) { deleteDevices(ids: $ids) removeField(id: $f) }', {
        ids: product.deviceIds.slice(0, 1),
        f: removed.id,
      });
      // Time for its purges, where they need not wait for us.
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await client.query('rollback');
      // In a crowd of tests the database may have had enough of waiting: then nothing is stored.
      for (const { status } of await Promise.all(late)) expect([200, 503]).toContain(status);
      await expect.poll(() => rows('select * from purge')).toEqual([]);
      allKeys.push(keys);
    }

    // More than an hour later a node starts.
    const clock = new SteppedClock(2 * 3_600_000);
    const third = await startServer({ alone: true, database, env: { ...env, ...clock.env } });
    const left = `select device_key::int, ts::int8 from reading where device_key = any ($1)
      union all select device_key, first_at from chunk where device_key = any ($1)
      union all select device_key, 0 from device_state where device_key = $2`;
    try {
      for (const keys of allKeys)
        await expect.poll(() => rows(left, [keys, keys[0]])).toEqual([{ device_key: keys[1], ts: '1767000000000' }]);
    } finally {
      await third.stop();
      clock.drop();
    }
  });

  test.each(NODES)(
    'what %s node commits late for a device that was absorbed goes to the one that absorbed it',
    async (name) => {
      const [replacing, recording] = [nodes['the same']!, nodes[name]!];
      const { deviceIds } = await createProduct(replacing, {
        fields: { T: 'FLOAT' },
        serialNumbers: [`absorbed ${name}`, `kept ${name}`],
      });
      const [absorbed, kept] = deviceIds as [string, string];
      await recording.record(absorbed, { field: 'T', value: 1, timestamp: 1_767_000_000 });
      const [{ key }] = await rows('select key from device where id = $1', [absorbed]);
      // Whoever wants to write this moment of the device waits for us.
      await client.query('begin');
      await client.query("insert into reading (device_key, ts, stored_at, packed) values ($1, $2, 0, '')", [
        key,
        LATE_AT,
      ]);
      const late = recording.record(absorbed, { field: 'T', value: 2, timestamp: LATE_AT / 1000 });
      const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(() => rows(waiting)).not.toEqual([]);
      const replaced = replacing.gql(
        'mutation ($id: ID!, $s: String!, $a: ID) { replaceDevice(id: $id, serialNumber: $s, absorb: $a) { id } }',
        { id: kept, s: `absorbed ${name}`, a: absorbed },
      );
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await client.query('rollback');
      const { status } = await late;
      await replaced;
      // In a crowd of tests the database may have had enough of waiting: then nothing is stored.
      expect([200, 503]).toContain(status);
      const values = async (): Promise<number[]> => {
        const { device } = await replacing.gql(
          'query ($d: ID!) { device(id: $d) { measurements(field: "T", first: 9) { edges { node { value } } } } }',
          { d: kept },
        );
        return device.measurements.edges.map(({ node }: any) => node.value).sort();
      };
      await expect.poll(values).toEqual(status === 200 ? [1, 2] : [1]);
      // Nothing is left of it where it was.
      const left = 'select 1 from reading where device_key = $1 union all select 1 from purge where device_key = $1';
      await expect.poll(() => rows(left, [key])).toEqual([]);
    },
  );
});
