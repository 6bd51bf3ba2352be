import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, createProduct, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { firstPush } from '../support/subscribe.ts';
import { CALL_FIELDS, callsOf, callWebhook, latestOf, saveDecoder } from './webhook-client.ts';

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('webhooks of two nodes on one PostgreSQL and one Redis', () => {
  let database: TestDatabase;
  let a: TestServer;
  let b: TestServer;
  beforeAll(async () => {
    database = await createDatabase('postgres');
    const env = { REDIS_URL: redisUrl! };
    [a, b] = await Promise.all([startServer({ database, env }), startServer({ database, env })]);
  });
  afterAll(async () => {
    await Promise.all([a?.stop(), b?.stop()]);
    await database?.drop();
  });

  test('a decoder saved on one node runs with the next call to the other; so does a rotated id', async () => {
    const product = await createProduct(a, { fields: { T: 'FLOAT' }, serialNumbers: ['d1'] });
    for (let version = 1; version <= 5; version += 1) {
      await saveDecoder(a, product.id, `function Decoder() { return { device: "d1", field: "T", value: ${version} } }`);
      expect((await callWebhook(b, product, { body: '' })).status).toBe(200);
      expect(await latestOf(a, product.deviceIds[0]!)).toEqual({ T: version });
    }
    await a.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', { id: product.id });
    expect((await callWebhook(b, product, { body: '' })).status).toBe(404);
  });

  test('webhookCalled on one node shows the calls of the other', async () => {
    const product = await createProduct(a, { serialNumbers: [] });
    const query = `subscription ($id: ID!) { webhookCalled(productId: $id) { ${CALL_FIELDS} } }`;
    const pushed = firstPush(b.url, b.adminToken, query, { id: product.id });
    const timer = setInterval(() => void callWebhook(a, product, { body: 'from a' }), 100);
    const call = (await pushed.finally(() => clearInterval(timer)))?.data?.['webhookCalled'];
    expect(call).toMatchObject({ body: 'from a', status: 'NO_DECODER' });
    expect(await callsOf(b, product.id)).toContainEqual(call);
  });
});
