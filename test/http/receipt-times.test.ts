import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callWebhook, historyOf, saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, EITHER_DATABASE, type RestAnswer, startServer, type TestServer } from '../support/server.ts';

const SENDERS = 20;
const EACH = 100;

/** Many senders at once, each of which waits for its answers; the values are 0, 1, 2, … */
async function sendAll(each: number, send: (value: number) => Promise<RestAnswer>): Promise<RestAnswer[]> {
  const answers = Array.from({ length: SENDERS }, async (_, sender) => {
    const got: RestAnswer[] = [];
    for (let at = 0; at < each; at += 1) got.push(await send(sender * each + at));
    return got;
  });
  return (await Promise.all(answers)).flat();
}

describe.each(EITHER_DATABASE)('entries without a timestamp, %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server.stop());

  test('each acknowledged value of one device and field is kept, from many senders at once', async () => {
    const product = await createProduct(server);
    const id = product.deviceIds[0]!;
    const answers = await sendAll(EACH, (value) => server.record(id, [{ field: 'temperature', value }]));
    expect(answers.filter(({ status, body }) => status !== 200 || body.stored !== 1)).toEqual([]);
    const history = await historyOf(server, id, 'temperature');
    const values = history.map(([, value]) => Number(value)).toSorted((a, b) => a - b);
    expect(values).toEqual(Array.from({ length: SENDERS * EACH }, (_, value) => value));
  });

  test('all entries of one request get one time', async () => {
    const product = await createProduct(server, { fields: { A: 'FLOAT', B: 'FLOAT', C: 'FLOAT' } });
    const id = product.deviceIds[0]!;
    const entries = ['A', 'B', 'C'].map((field) => ({ field, value: 1 }));
    await Promise.all(Array.from({ length: 50 }, () => server.record(id, entries)));
    const [a, b, c] = await Promise.all(['A', 'B', 'C'].map((field) => historyOf(server, id, field)));
    expect(a).toHaveLength(50);
    expect(b).toEqual(a);
    expect(c).toEqual(a);
  });

  test("a decoder's entries too, under the time by which the log knows the call: a replay adds nothing", async () => {
    const product = await createProduct(server, { serialNumbers: ['d1', 'd2'] });
    await saveDecoder(
      server,
      product.id,
      'function Decoder(r) { return ["d1", "d2"].map(function (device) { return { device: device, field: "temperature", value: +r.body } }) }',
    );
    const each = 20;
    const answers = await sendAll(each, (value) => callWebhook(server, product, { body: String(value) }));
    expect(answers.filter(({ status, body }) => status !== 200 || body.stored !== 2)).toEqual([]);
    const [first, second] = await Promise.all(product.deviceIds.map((id) => historyOf(server, id, 'temperature')));
    expect(first).toHaveLength(SENDERS * each);
    expect(second).toEqual(first);
    const { replayCalls } = await server.gql('mutation ($id: ID!) { replayCalls(productId: $id) { calls stored } }', {
      id: product.id,
    });
    expect(replayCalls).toEqual({ calls: SENDERS * each, stored: 2 * SENDERS * each });
    expect(await historyOf(server, product.deviceIds[0]!, 'temperature')).toEqual(first);
  });
});
