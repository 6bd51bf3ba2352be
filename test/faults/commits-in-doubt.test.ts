import pg from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createPostgresDatabase, type PostgresServer, startPostgres } from '../support/postgres.ts';
import { createProduct, startServer, type TestDatabase, type TestProduct, type TestServer } from '../support/server.ts';

describe.skipIf(inject('redisUrl') === null)('commits whose answer is lost, on two nodes', () => {
  let postgres: PostgresServer;
  let database: TestDatabase;
  let a: TestServer;
  let b: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    postgres = await startPostgres({ durable: false });
    database = await createPostgresDatabase(postgres.url);
    const env = { REDIS_URL: inject('redisUrl')!, WRITE_RATE_PER_FIELD: '0' };
    [a, b] = [await startServer({ database, env }), await startServer({ database, env })];
    product = await createProduct(a, { serialNumbers: ['kept', 'gone'] });
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await postgres?.stop();
  });

  /** Commits wait for a replica that is not there; what it gives lets them go. */
  async function stall(): Promise<() => Promise<void>> {
    const client = new pg.Client({ connectionString: postgres.url });
    const waiting = new pg.Client({ connectionString: postgres.url });
    await Promise.all([client.connect(), waiting.connect()]);
    const set = async (text: string): Promise<void> => {
      await client.query(text);
      await client.query('SELECT pg_reload_conf()');
    };
    await set("ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    // Its checkpointer reads the settings some time later; only then a commit waits.
    const commits: Promise<unknown>[] = [];
    await expect
      .poll(async () => {
        commits.push(waiting.query("SELECT pg_logical_emit_message(true, 'test', '')"));
        const { rows } = await client.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
        return rows.length;
      })
      .toBe(1);
    return async () => {
      await set('ALTER SYSTEM RESET synchronous_standby_names');
      await Promise.all(commits);
      await Promise.all([client.end(), waiting.end()]);
    };
  }

  test('what such a commit changed holds on every node as soon as it can be seen', async () => {
    const { secret, token } = (
      await a.gql('mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }', {
        input: { name: 't', kind: 'INDIVIDUAL', scopes: ['RECORD'] },
      })
    )['createToken'];
    const [kept, gone] = product.deviceIds as [string, string];
    const statuses = async (): Promise<number[]> => {
      const asked = [a, b].flatMap((node) => [
        node.record(kept, { field: 'temperature', value: 1 }, { token: secret }),
        node.record(gone, { field: 'temperature', value: 1 }),
      ]);
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    const letGo = await stall();
    try {
      const changes = await Promise.allSettled([
        a.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: token.id }),
        a.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: [gone] }),
      ]);
      expect(changes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    } finally {
      await letGo();
    }
    await expect.poll(statuses, { interval: 200 }).toEqual([401, 404, 401, 404]);
  });

  test('while another server has taken the database the node goes on', async () => {
    const own = await createPostgresDatabase(postgres.url);
    const node = await startServer({ alone: true, database: own });
    const other = new pg.Client({ connectionString: own.url });
    await other.connect();
    const { id } = await createProduct(node);
    const letGo = await stall();
    try {
      const changing = node.query('mutation ($id: ID!) { updateProduct(id: $id, input: { name: "x" }) { id } }', {
        id,
      });
      await other.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'inlet guard %' AND datname = current_database()"); // oxfmt-ignore
      await other.query('SELECT pg_advisory_lock(738193003)');
      expect((await changing).errors?.[0]?.extensions.code).toBe('UNAVAILABLE');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const alive = await fetch(`${node.url}/healthz`, { signal: AbortSignal.timeout(60_000) });
      expect(alive.status).toBe(200);
    } finally {
      await letGo();
      await other.end();
    }
    const ready = async (): Promise<number> => (await fetch(`${node.url}/readyz`)).status;
    await expect.poll(ready, { interval: 200 }).toBe(200);
    await node.stop();
  });
});
