import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';

const VALUES = 10_000;
/** Longer than somebody who has sent something counts as there. */
const SLOW_MS = 300;

let database: TestDatabase;
let server: TestServer;
let single: string;
let much: string;

beforeAll(async () => {
  database = await createDatabase('postgres');
  server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '0' } });
  const device = async (name: string): Promise<string> =>
    (await createProduct(server, { workspaceId: await createWorkspace(server, name) })).deviceIds[0]!;
  [single, much] = [await device('single'), await device('much')];
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ key: number }>('SELECT key FROM device WHERE id = $1', [much]);
  await client.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_sleep(${SLOW_MS / 1_000}); RETURN NEW; END $$`);
  await client.query(`CREATE TRIGGER slow BEFORE INSERT ON reading FOR EACH ROW
    WHEN (NEW.device_key = ${rows[0]!.key} AND NEW.ts = 1700000000000) EXECUTE FUNCTION slow()`);
  await client.end();
});
afterAll(async () => {
  await server?.stop();
  await database?.drop();
});

/** Records of one value a second, over four connections. */
async function others(seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  let stored = 0;
  const send = async (): Promise<void> => {
    while (performance.now() < until)
      if ((await server.record(single, { field: 'temperature', value: 1 })).status === 200) stored += 1;
  };
  await Promise.all(Array.from({ length: 4 }, send));
  return stored / seconds;
}

test('a workspace whose values take the database long leaves others theirs', async () => {
  const entries = Array.from({ length: VALUES }, (_, at) => ({
    field: 'temperature',
    value: at,
    timestamp: 1_700_000_000 + at,
  }));
  await others(1);
  const alone = await others(2);
  const state = { isOver: false };
  const bulk = Array.from({ length: 8 }, async () => {
    while (!state.isOver)
      if ((await server.record(much, entries)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 20));
  });
  try {
    await others(1);
    expect(await others(4)).toBeGreaterThan(alone / 20);
  } finally {
    state.isOver = true;
    await Promise.all(bulk);
  }
});
