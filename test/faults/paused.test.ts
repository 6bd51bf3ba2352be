import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

/** Longer than anybody waits for the writer. */
const HELD_MS = 20_000;

let database: TestDatabase;
let server: TestServer;
let product: { id: string; deviceIds: string[] };
beforeAll(async () => {
  database = await createDatabase('sqlite');
  server = await startServer({ database, env: { GRAPHQL_COMPILE: 'seen' } });
  product = await createProduct(server);
});
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

const rename = async (): Promise<boolean> => {
  const query = 'mutation ($id: ID!) { updateProduct(id: $id, input: { name: "x" }) { id } }';
  return (await server.query(query, { id: product.id })).errors === undefined;
};
const record = async (): Promise<number> =>
  (await server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 })).status;

test(
  'SQLite’s writer, held up for longer than anybody waits, writes again when it goes on',
  { timeout: 90_000 },
  async () => {
    const file = new Sqlite(database.url.replace('sqlite:', ''));
    file.exec('BEGIN IMMEDIATE');
    // Whoever wants a turn to write waits behind what the writer cannot store.
    const state = { isOver: false };
    const loops = [record, record, rename, rename].map(async (write) => {
      while (!state.isOver) await write();
    });
    await new Promise((resolve) => setTimeout(resolve, HELD_MS));
    file.exec('ROLLBACK');
    file.close();
    state.isOver = true;
    await Promise.all(loops);
    await expect.poll(rename, { timeout: 20_000 }).toBe(true);
    await expect.poll(record, { timeout: 20_000 }).toBe(200);
  },
);
