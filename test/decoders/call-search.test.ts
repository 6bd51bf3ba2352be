import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createMember } from '../support/tenant.ts';
import { callWebhook } from './webhook-client.ts';

const SEARCH = `query ($id: ID!, $text: String, $device: String, $status: [CallStatus!], $first: Int, $after: String) {
  product(id: $id) { searchCalls(text: $text, device: $device, status: $status, first: $first, after: $after) {
    calls { body receivedAt } lookedThrough reachedAt next } } }`;

const DECODER = `function Decoder(request) {
  var body = JSON.parse(request.body);
  console.log('saw a ' + body.animal);
  if (body.broken) throw new Error('cannot eat ' + body.broken);
  return [{ device: body.device, field: 'temperature', value: 1 }];
}`;

interface Search {
  calls: { body: string; receivedAt: string }[];
  lookedThrough: number;
  reachedAt: string | null;
  next: string | null;
}

describe.each(DATABASES)('looking for calls on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  const search = async (variables: Record<string, unknown>, token?: string, id = product.id): Promise<Search> =>
    (await server.gql(SEARCH, { id, ...variables }, token)).product.searchCalls;
  const bodies = async (variables: Record<string, unknown>, token?: string): Promise<unknown[]> =>
    (await search(variables, token)).calls.map(({ body }) => (body === '' ? '' : JSON.parse(body).n));

  beforeAll(async () => {
    server = await startServer({ database });
    product = await createProduct(server, { serialNumbers: ['d-1', 'd-2'], input: { decoder: DECODER } });
    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { name: "Glasshouse" }) { id } }', {
      id: product.deviceIds[1],
    });
    const calls = [
      { n: 1, device: 'd-1', animal: 'Hedgehog' },
      { n: 2, device: 'd-2', animal: 'Otter' },
      { n: 3, device: 'nobody', animal: 'otter' },
      { n: 4, broken: 'Glass', animal: 'Owl' },
    ];
    for (const body of calls) await callWebhook(server, product, { body: JSON.stringify(body) });
    await callWebhook(server, product, { method: 'GET', path: 'barn/?animal=Goat', body: null });
  });
  afterAll(() => server.stop());

  test('a text is found in body, path, query, what was printed and why it failed, whatever its case', async () => {
    expect(await bodies({ text: 'oTTer' })).toEqual([3, 2]);
    expect(await bodies({ text: 'SAW A HEDGE' })).toEqual([1]);
    expect(await bodies({ text: 'cannot eat gl' })).toEqual([4]);
    expect(await bodies({ text: '/barn/' })).toEqual(['']);
    expect(await bodies({ text: 'goat' })).toEqual(['']);
    expect(await bodies({ text: 'unicorn' })).toEqual([]);
    expect(await bodies({ text: 'otter', status: ['STORED'] })).toEqual([2]);
    expect(await bodies({})).toEqual(['', 4, 3, 2, 1]);
  });

  test('a device is found as the decoder called it and by name, serial number and id of the one matched', async () => {
    expect(await bodies({ device: 'glassH' })).toEqual([2]);
    expect(await bodies({ device: 'd-' })).toEqual([2, 1]);
    expect(await bodies({ device: product.deviceIds[0]!.slice(0, 20).toUpperCase() })).toContain(1);
    expect(await bodies({ device: 'nobody' })).toEqual([3]);
    expect(await bodies({ device: 'd-', text: 'hedgehog' })).toEqual([1]);
  });

  test('it ends after as many as were wanted, says where, and goes on from there', async () => {
    const first = await search({ text: 'otter', first: 1 });
    expect(first.calls.map(({ body }) => JSON.parse(body).n)).toEqual([3]);
    expect(first).toMatchObject({ lookedThrough: 3, reachedAt: first.calls[0]!.receivedAt });
    const second = await search({ text: 'otter', first: 1, after: first.next });
    expect(second.calls.map(({ body }) => JSON.parse(body).n)).toEqual([2]);
    const third = await search({ text: 'otter', first: 1, after: second.next });
    expect(third).toMatchObject({ calls: [], lookedThrough: 1, next: null });
  });

  test('one search is bounded: it says how far it came, and the next one finds what lies behind', async () => {
    const long = await createProduct(server, {});
    await callWebhook(server, long, { body: 'the needle' });
    const hay = 'x'.repeat(65_000);
    for (let sent = 0; sent < 170; sent += 10)
      await Promise.all(Array.from({ length: 10 }, () => callWebhook(server, long, { body: hay })));
    const first = await search({ text: 'needle' }, undefined, long.id);
    expect(first).toMatchObject({ calls: [], lookedThrough: 150, next: expect.any(String) });
    const second = await search({ text: 'needle', after: first.next }, undefined, long.id);
    expect(second).toMatchObject({ calls: [{ body: 'the needle' }], lookedThrough: 21, next: null });
  });

  test('what may not be seen is not found: the webhook’s secret, for who may not CONFIGURE', async () => {
    const { viewer: admin } = await server.gql('{ viewer { workspaces { id } } }');
    const viewer = await createMember(server, admin.workspaces[0].id, 'VIEWER');
    const part = product.webhookId.slice(0, 8);
    expect(await bodies({ text: part })).toHaveLength(5);
    expect(await bodies({ text: part }, viewer.token)).toEqual([]);
    expect(await bodies({ text: 'otter' }, viewer.token)).toEqual([3, 2]);
    const long = await server.query(SEARCH, { id: product.id, text: 'x'.repeat(201) });
    expect(long.errors?.[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' } });
  });
});
