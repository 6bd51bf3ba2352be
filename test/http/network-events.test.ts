import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, readAnswer, type RestAnswer, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const BATTERY = { batteryLevel: 'FLOAT', margin: 'FLOAT' };
/** Of each kind of event every key, as a forwarder writes them that knows them all. */
const EMPTY = {
  level: null,
  margin: 0,
  batteryLevel: 0,
  queueItemId: '',
  downlinkId: 0,
  acknowledged: false,
  location: null,
  integrationName: '',
  status: null,
  error: '',
  joinServer: null,
};

describe('what networks say beside uplinks, and uplinks that look like it', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());

  const eui = (): string => randomBytes(8).toString('hex');
  const send = async (path: string, message: unknown): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/integrations/${path}`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(message),
      }),
    );
  const productOf = (serial: string, fields: Record<string, string>, decoder: string | null = null) =>
    createProduct(server, {
      fields,
      serialNumbers: [serial],
      input: { deviceType: 'LORAWAN', ...(decoder === null ? {} : { decoder }) },
    });
  const reasons = async (id: string): Promise<(string | null)[]> => {
    const { product } = await server.gql<any>(
      'query ($id: ID!) { product(id: $id) { calls(first: 9) { edges { node { status reason run { ok } } } } } }',
      { id },
    );
    return product.calls.edges.map(({ node }: any) => node.reason);
  };
  const suggested = async (id: string): Promise<string[]> => {
    const query = 'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }';
    const { product } = await server.gql<any>(query, { id });
    return product.suggestedFields.map(({ identifier }: any) => identifier).sort();
  };

  describe.each(['', '?event=up', '?event=UP', '?event=uplink', '?event='])('ChirpStack%s', (query) => {
    test('an uplink with the empty keys of all other events is an uplink', async () => {
      const serial = eui();
      const { deviceIds } = await productOf(serial, { temperature: 'FLOAT' });
      const up = { ...EMPTY, deviceInfo: { devEui: serial }, fPort: 2, data: 'AQI=', object: { temperature: 21 } };
      expect((await send(`lorawan/chirpstack/${query}`, up)).body).toEqual({ stored: 1, rejected: 0 });
      expect(await latestOf(server, deviceIds[0]!)).toEqual({ temperature: 21 });
    });
  });

  test.each([
    ['margin alone', { margin: 7, data: null, object: null }],
    ['a refused downlink', { queueItemId: 'x', acknowledged: false }],
    ['a log', { level: 'ERROR', code: 'UPLINK_CODEC' }],
    ['a join', { devAddr: '00112233' }],
  ])('without a query %s is none', async (_, event) => {
    const serial = eui();
    const { id } = await productOf(serial, { temperature: 'FLOAT' });
    const answer = await send('lorawan/chirpstack/', { deviceInfo: { devEui: serial }, ...event });
    expect([answer.status, answer.body]).toEqual([200, { stored: 0, rejected: 0 }]);
    const [reason] = await reasons(id);
    expect(reason).toContain('no decodeEvent');
  });

  test('a call that was not run says why', async () => {
    const serial = eui();
    const { id } = await productOf(serial, { temperature: 'FLOAT' });
    await send('lorawan/chirpstack/?event=up', { deviceInfo: { devEui: serial }, fPort: 2, data: 'AQI=' });
    await send('lorawan/chirpstack/?event=up', { deviceInfo: { devEui: serial }, fPort: 2 });
    expect(await reasons(id)).toEqual([
      expect.stringContaining('no payload'),
      expect.stringContaining('save a decoder, then replay'),
    ]);
  });

  test.each([
    ['chirpstack', '?event=status', (s: string) => ({ deviceInfo: { devEui: s }, margin: 12, batteryLevel: 75.5 })],
    ['chirpstack', '', (s: string) => ({ deviceInfo: { devEui: s }, margin: 12, batteryLevel: 75.5 })],
  ])(
    'battery and margin of a status (%s%s) are fields without a decoder, and beside one for uplinks',
    async (...of) => {
      const [network, query, message] = of;
      for (const decoder of [null, 'function decodeUplink() { return { data: { margin: 1 } } }']) {
        const serial = eui();
        const { deviceIds } = await productOf(serial, BATTERY, decoder);
        expect((await send(`lorawan/${network}/${query}`, message(serial))).body).toEqual({ stored: 2, rejected: 0 });
        expect(await latestOf(server, deviceIds[0]!)).toEqual({ batteryLevel: 75.5, margin: 12 });
      }
    },
  );

  test('a battery level that is not known, or needless, is none', async () => {
    const serial = eui();
    const { deviceIds } = await productOf(serial, BATTERY);
    const status = { deviceInfo: { devEui: serial }, margin: 3, batteryLevel: 0 };
    await send('lorawan/chirpstack/?event=status', { ...status, batteryLevelUnavailable: true });
    await send('lorawan/chirpstack/?event=status', { ...status, externalPowerSource: true });
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ margin: 3 });
  });

  test('without fields they are suggested, and the sender is told of no fault', async () => {
    const serial = eui();
    const { id } = await productOf(serial, { temperature: 'FLOAT' });
    const status = { deviceInfo: { devEui: serial }, margin: 3, batteryLevel: 50 };
    const location = { deviceInfo: { devEui: serial }, location: { latitude: 52.5, longitude: 13.4, altitude: 3 } };
    expect((await send('lorawan/chirpstack/?event=status', status)).body).toEqual({ stored: 0, rejected: 0 });
    expect((await send('lorawan/chirpstack/?event=location', location)).body).toEqual({ stored: 0, rejected: 0 });
    expect(await suggested(id)).toEqual(['batteryLevel', 'location', 'margin']);
  });

  test.each([
    [
      'chirpstack/?event=location',
      (s: string) => ({ deviceInfo: { devEui: s }, location: { latitude: 52.5, longitude: 13.4, accuracy: 9 } }),
    ],
    [
      'tti/location-solved',
      (s: string) => ({
        end_device_ids: { dev_eui: s },
        location_solved: { service: 'x', location: { latitude: 52.5, longitude: 13.4, source: 'SOURCE_GPS' } },
      }),
    ],
    [
      'chirpstack/',
      (s: string) => ({ DevEUI_location: { DevEUI: s, DevLAT: '52.5', DevLON: '13.4', Time: '2026-05-01T00:00:00Z' } }),
    ],
  ])('a solved place (%s) goes into the field location', async (path, message) => {
    const serial = eui();
    const { deviceIds } = await productOf(serial, { location: 'GEOLOCATION' });
    expect((await send(`lorawan/${path}`, message(serial))).body).toEqual({ stored: 1, rejected: 0 });
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ location: '(52.5,13.4)' });
  });

  const TELLS = `function decodeEvent(input) {
    var event = input.event;
    if (input.type === 'log') return null;
    return { data: { type: input.type, said: String(event.margin || event.devAddr || event.acknowledged || event.session_key_id || event.f_cnt),
      raw: typeof rawPayload, at: input.recvTime.toISOString(), eui: normalizedPayload.deveui } };
  }`;
  const EVENTS: [string, string, (serial: string) => unknown, string][] = [
    ['chirpstack/?event=status', 'status', (s) => ({ deviceInfo: { devEui: s }, margin: 12 }), '12'],
    ['chirpstack/?event=join', 'join', (s) => ({ deviceInfo: { devEui: s }, devAddr: '0102' }), '0102'],
    ['chirpstack/?event=ack', 'ack', (s) => ({ deviceInfo: { devEui: s }, acknowledged: true }), 'true'],
    [
      'tti/join',
      'join_accept',
      (s) => ({ end_device_ids: { dev_eui: s }, join_accept: { session_key_id: 'key' } }),
      'key',
    ],
    ['tti/ack', 'downlink_ack', (s) => ({ end_device_ids: { dev_eui: s }, downlink_ack: { f_cnt: 5 } }), '5'],
    ['helium/', 'join', (s) => ({ dev_eui: s, type: 'join', devAddr: '99' }), '99'],
  ];
  test.each(EVENTS)('%s reaches decodeEvent as %s', async (path, type, message, said) => {
    const serial = eui();
    const fields = { type: 'STRING', said: 'STRING', raw: 'STRING', eui: 'STRING' };
    const { deviceIds } = await productOf(serial, fields, TELLS);
    expect((await send(`lorawan/${path}`, message(serial))).body.stored).toBe(4);
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ type, said, raw: 'object', eui: serial });
  });

  test('a decodeEvent alone leaves uplinks to the network; what it gives nothing for is no fault', async () => {
    const serial = eui();
    const { id, deviceIds } = await productOf(serial, { temperature: 'FLOAT', type: 'STRING' });
    await saveDecoder(server, id, TELLS);
    const up = { deviceInfo: { devEui: serial }, fPort: 2, data: 'AQI=', object: { temperature: 20 } };
    expect((await send('lorawan/chirpstack/?event=up', up)).body).toEqual({ stored: 1, rejected: 0 });
    const log = await send('lorawan/chirpstack/?event=log', { deviceInfo: { devEui: serial }, level: 'INFO' });
    expect([log.status, log.body]).toEqual([200, { stored: 0, rejected: 0 }]);
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ temperature: 20 });
    expect((await callsOf(server, id)).map(({ status }) => status)).toEqual(['NOTHING_STORED', 'STORED']);
  });

  test('one that throws is a failure, kept to be replayed', async () => {
    const serial = eui();
    const { id } = await productOf(serial, BATTERY, 'function decodeEvent() { throw new Error("no") }');
    const answer = await send('lorawan/chirpstack/?event=status', { deviceInfo: { devEui: serial }, margin: 1 });
    expect([answer.status, answer.body]).toMatchObject([202, { error: 'DECODER_FAILED' }]);
    expect((await callsOf(server, id))[0]!.run!.error!.message).toContain('no');
  });
});
