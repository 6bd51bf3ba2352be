import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';

/** Longer than whatever waits for the database in this process. */
const PAUSED_MS = 9_000;

describe.each(DATABASES)('a server on %s whose machine stands still', (database) => {
  let server: TestServer;
  let product: { id: string; deviceIds: string[] };
  beforeAll(async () => {
    server = await startServer({ database, env: { GRAPHQL_COMPILE: 'seen' } });
    product = await createProduct(server);
  });
  afterAll(() => server?.stop());

  const rename = async (): Promise<boolean> => {
    const query = 'mutation ($id: ID!) { updateProduct(id: $id, input: { name: "x" }) { id } }';
    return (await server.query(query, { id: product.id })).errors === undefined;
  };
  const record = async (): Promise<number> =>
    (await server.record(product.deviceIds[0]!, { field: 'temperature', value: 1 })).status;

  test('writes again when it goes on', { timeout: 90_000 }, async () => {
    // In the middle of all kinds of writing.
    const state = { isOver: false };
    const loops = [rename, rename, rename, record, record].map(async (write) => {
      // Whose request came just then may have been given up.
      while (!state.isOver) await write().catch(() => {});
    });
    for (let round = 0; round < 2; round += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300 + 77 * round));
      server.process.child.kill('SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, PAUSED_MS));
      server.process.child.kill('SIGCONT');
    }
    state.isOver = true;
    await Promise.all(loops);
    await expect.poll(rename, { timeout: 20_000 }).toBe(true);
    await expect.poll(record, { timeout: 20_000 }).toBe(200);
  });
});
