import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const RULE = 'mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) { id } }';
const COUNTS =
  'query ($one: ID, $many: ID) { one: alerts(productId: $one) { totalCount } many: alerts(productId: $many) { totalCount } }';
const HOT = {
  name: 'hot',
  levels: [{ severity: 'WARNING', all: [{ field: 'temperature', operator: 'GT', value: 30 }] }],
};
const DEVICES = 800;

let server: TestServer;
let [one, many, few, live]: TestProduct[] = [];
beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  one = await createProduct(server, { serialNumbers: ['one'] });
  many = await createProduct(server, { serialNumbers: Array.from({ length: DEVICES }, (_, at) => `many-${at}`) });
  few = await createProduct(server, { serialNumbers: ['few'] });
  live = await createProduct(server, { serialNumbers: ['live'] });
  const timestamp = Math.floor(Date.now() / 1_000) - 60;
  const lines = [...one.deviceIds, ...many.deviceIds, ...few.deviceIds].map((device) =>
    JSON.stringify({ device, timestamp, temperature: 31 }),
  );
  const answer = await fetch(`${server.url}/v1/import`, {
    method: 'POST',
    headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/x-ndjson' },
    body: lines.join('\n'),
  });
  expect(answer.status).toBe(200);
});
afterAll(() => server.stop());

const fired = async (other: TestProduct): Promise<[one: number, many: number]> => {
  const { one, many: all } = await server.gql(COUNTS, { one: other.id, many: many!.id });
  return [one.totalCount, all.totalCount];
};

test('while the devices of a saved rule are judged by what is stored, what others record is told, and their rules are judged', async () => {
  // Those before and behind it, whenever they were made.
  for (const product of [live!, many!, one!, few!]) await server.gql(RULE, { p: product.id, i: HOT });
  expect((await server.record(live!.deviceIds[0]!, { field: 'temperature', value: 31 })).status).toBe(200);
  for (const other of [live!, one!, few!]) {
    let counts: [number, number] = [0, 0];
    await expect.poll(async () => (counts = await fired(other))[0], { interval: 5 }).toBe(1);
    expect(counts[1]).toBeLessThan(DEVICES);
  }
  await expect.poll(async () => (await fired(one!))[1]).toBe(DEVICES);
});
