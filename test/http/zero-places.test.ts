import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsOf, callWebhook, latestOf } from '../decoders/webhook-client.ts';
import { createProduct, EITHER_DATABASE, readAnswer, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const FIELDS = { place: 'GEOLOCATION', battery: 'FLOAT', text: 'STRING' };
const DECODER = `function Decoder(request) { return JSON.parse(request.body); }`;
const SET =
  'mutation ($id: ID!, $to: Boolean) { updateProduct(id: $id, input: { ignoreZeroPlaces: $to }) { ignoreZeroPlaces } }';
const EUI = '70b3d57ed00a2200';

describe.each(EITHER_DATABASE)('the place (0,0) on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  const post = async (path: string, body: unknown) =>
    readAnswer(
      await fetch(`${server.url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(body),
      }),
    );
  const product = (serial: string, input: Record<string, unknown>) =>
    createProduct(server, { fields: FIELDS, serialNumbers: [serial], input });

  test('is stored until the product ignores it, at every door, and told as NO_FIX', async () => {
    const { id, webhookId, deviceIds } = await product('tracker', { decoder: DECODER });
    const [device] = deviceIds as [string];
    const record = (...values: string[]) =>
      post(
        `/v1/devices/${device}/record/`,
        values.map((value, at) => ({ field: 'place', value, timestamp: 1.78e9 + at })),
      );
    expect((await record('(0,0)')).body).toEqual({ stored: 1, rejected: [] });
    expect(await server.gql(SET, { id, to: true })).toEqual({ updateProduct: { ignoreZeroPlaces: true } });
    const refused = { code: 'NO_FIX', message: expect.stringContaining('ignoreZeroPlaces') };
    const some = await record('(0,0)', '(1,2)', '-0, 0.0');
    expect([some.status, some.body]).toMatchObject([207, { stored: 1, rejected: [refused, refused] }]);
    const none = await record('(0,0)');
    expect([none.status, none.body]).toMatchObject([207, { stored: 0, rejected: [refused] }]);
    const entry = { device: 'tracker', field: 'place', value: { latitude: 0, longitude: 0 } };
    const called = await callWebhook(server, { webhookId }, { body: JSON.stringify([entry]) });
    expect([called.status, called.body]).toEqual([200, { stored: 0, rejected: 1 }]);
    expect((await callsOf(server, id))[0]!.run!.entries[0]).toMatchObject(refused);
    // A text of that look is no place.
    expect((await post(`/v1/devices/${device}/record/`, { field: 'text', value: '(0,0)' })).body.stored).toBe(1);
    expect(await latestOf(server, device)).toEqual({ place: '(1,2)', text: '(0,0)' });
    expect(await server.gql(SET, { id, to: null })).toEqual({ updateProduct: { ignoreZeroPlaces: false } });
    expect((await record('(0,0)')).body.stored).toBe(1);
  });

  test('of a network without a decoder, and of a copy of the product', async () => {
    const { id, deviceIds } = await product(EUI, { deviceType: 'LORAWAN', ignoreZeroPlaces: true });
    const object = { latitude: 0, longitude: 0, battery: 3 };
    const uplink = { deviceInfo: { devEui: EUI }, fPort: 1, data: 'AA==', object };
    expect((await post('/integrations/lorawan/chirpstack/?event=up', uplink)).body).toEqual({ stored: 1, rejected: 1 });
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ battery: 3 });
    const { cloneProduct } = await server.gql<any>(
      'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { ignoreZeroPlaces } }',
      { id },
    );
    expect(cloneProduct).toEqual({ ignoreZeroPlaces: true });
  });
});
