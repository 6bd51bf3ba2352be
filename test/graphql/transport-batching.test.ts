import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';

/** What PostgreSQL says behind every transaction, a query by itself too: it is ready, and in none. */
const READY = 'Z\0\0\0\x05I';

let database: TestDatabase;
let server: TestServer;
/** A way to PostgreSQL on which transactions are counted. */
let proxy: Server;
const open = new Set<Socket>();
/** Every read of the catalogue is one of its own. */
let transactions = 0;

beforeAll(async () => {
  database = await createDatabase('postgres');
  const { hostname, port } = new URL(database.url);
  proxy = createServer((near) => {
    const far = connect(Number(port), hostname);
    let rest = '';
    far.on('data', (chunk: Buffer) => {
      const said = rest + chunk.toString('latin1');
      transactions += said.split(READY).length - 1;
      rest = said.slice(1 - READY.length);
    });
    const ways = [
      [near, far],
      [far, near],
    ] as const;
    for (const [from, into] of ways) {
      from.pipe(into);
      from.on('error', () => into.destroy());
      from.on('close', () => open.delete(from));
      open.add(from);
    }
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.url);
  url.port = String((proxy.address() as { port: number }).port);
  const through = { ...database, url: url.href };
  server = await startServer({ database: through });
});

afterAll(async () => {
  await server?.stop();
  for (const socket of open) socket.destroy();
  proxy?.close();
  await database?.drop();
});

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
    const before = transactions;
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
    return (transactions - before) / 3;
  };
  await cost(1);
  const one = await cost(1);
  expect(one).toBeGreaterThan(3);
  expect((await cost(50)) - one).toBeLessThan(5);
});
