import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

let database: TestDatabase;
let server: TestServer;
let client: pg.Client;

beforeAll(async () => {
  database = await createDatabase('postgres');
  server = await startServer({ database });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client?.end();
  await server?.stop();
  await database?.drop();
});

/** Every read of the catalogue is a transaction of its own; PostgreSQL's count of them is up to a second late. */
async function transactions(): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, 1500));
  await client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await client.query<{ count: string }>(
    'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return Number(rows[0]?.count);
}

test('a page of 50 devices with all their children takes hardly more queries than one device', async () => {
  const { id } = await createProduct(server, {
    serialNumbers: Array.from({ length: 50 }, (_, i) => `batch-${i}`),
    input: { decoder: 'function Decoder() { return [] }' },
  });
  const query = `query ($id: ID!, $first: Int) { devices(productId: $id, first: $first) { edges { node {
    serialNumber online lastHeardAt deviceType plan { slug }
    product { id fields { identifier unit } field(identifier: "temperature") { type } decoder { version active source } }
  } } } }`;
  const cost = async (first: number): Promise<number> => {
    const before = await transactions();
    for (let round = 0; round < 3; round += 1) {
      const { devices } = await server.gql(query, { id, first });
      expect(devices.edges).toHaveLength(first);
      expect(devices.edges[first - 1].node).toMatchObject({
        serialNumber: `batch-${first - 1}`,
        online: false,
        lastHeardAt: null,
        product: { id, fields: [{ identifier: 'temperature' }], decoder: { version: 1, active: true } },
      });
    }
    return ((await transactions()) - before) / 3;
  };
  await cost(1);
  const one = await cost(1);
  expect(one).toBeGreaterThan(3);
  expect((await cost(50)) - one).toBeLessThan(5);
}, 60_000);
