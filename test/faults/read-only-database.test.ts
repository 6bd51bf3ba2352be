import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { databaseAway } from '../../src/errors.ts';
import {
  createDatabase,
  createProduct,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';

let database: TestDatabase;
let server: TestServer;
let product: TestProduct;

beforeAll(async () => {
  database = await createDatabase('postgres');
  server = await startServer({ alone: true, database });
  product = await createProduct(server, { input: { decoder: 'function Decoder() { return [] }' } });
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

/** As after a failover to a standby, and back: connections are lost, and new ones may only read. */
async function readOnly(is: boolean): Promise<void> {
  const name = new URL(database.url).pathname.slice(1);
  const client = new pg.Client({ connectionString: inject('postgresUrl') });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} ${is ? 'SET default_transaction_read_only = on' : 'RESET ALL'}`);
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  await client.end();
}

const post = async (path: string, body: string): Promise<{ status: number; retryAfter: string | null }> => {
  const headers = { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${server.url}${path}`, { method: 'POST', headers, body });
  await answer.text();
  return { status: answer.status, retryAfter: answer.headers.get('retry-after') };
};
const uplink = '{"end_device_ids":{"dev_eui":"70B3D57ED0000001"},"uplink_message":{"frm_payload":"AQ=="}}';
const doors = async () => [
  await post(`/v1/devices/${product.deviceIds[0]}/record/`, '[{"field":"temperature","value":1}]'),
  await post(`/integrations/api/${product.webhookId}/`, 'x'),
  await post('/integrations/lorawan/tti/', uplink),
];
const mutate = async (): Promise<unknown> =>
  (await server.query('mutation { createProduct(input: { name: "x" }) { id } }')).errors?.[0]?.extensions.code ??
  'fine';

test('a database that can only be read: senders are told to come again, and nobody that the server is broken', async () => {
  await readOnly(true);
  const readyz = async (): Promise<number> => (await fetch(`${server.url}/readyz`)).status;
  await expect.poll(async () => (await server.query('{ workspaces { name } }')).data?.['workspaces'].length).toBe(1);
  expect(await doors()).toEqual(Array.from({ length: 3 }, () => ({ status: 503, retryAfter: '1' })));
  expect(await mutate()).toBe('UNAVAILABLE');
  expect(await readyz()).toBe(503);
  const broken = server.process.lines.filter(({ level }) => level === 'error');
  expect(broken.filter(({ msg }) => String(msg).includes('internal'))).toEqual([]);

  await readOnly(false);
  await expect.poll(mutate).toBe('fine');
  await expect.poll(readyz).toBe(200);
  expect((await doors()).map(({ status }) => status)).not.toContain(503);
});

test.each([
  ['not now', true, '08006 25006 25P03 25P04 28P01 3D000 40001 40P01 53100 53300 55P03 57014 57P01 57P05 58030 72000'],
  ['a mistake', false, '0A000 22P02 23505 25001 25P02 42501 42P01 54000 55000 P0001 XX000 XX001'],
])('what PostgreSQL says is %s', (_, isAway, states) => {
  for (const code of states.split(' '))
    expect([code, databaseAway(Object.assign(new Error('x'), { code })) !== null]).toEqual([code, isAway]);
});
