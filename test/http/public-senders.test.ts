import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { ACTILITY_UPLINK, PARTICLE_EVENT } from '../decoders/network-samples.ts';
import { callWebhook, latestOf } from '../decoders/webhook-client.ts';

interface Sender {
  name: string;
  fields: Record<string, string>;
  serial: string;
  decoder: string;
  call: { method?: string; path?: string; headers?: Record<string, string>; body?: string };
  stored: Record<string, unknown>;
}

const json = { 'Content-Type': 'application/json' };

/** Calls in the shapes of the senders' public documentation, values our own. */
const SENDERS: Sender[] = [
  {
    name: 'Notehub (Blues), an event of a Notecard',
    fields: { temp: 'FLOAT', voltage: 'FLOAT', LOCATION: 'GEOLOCATION' },
    serial: 'dev:864475040000001',
    decoder: `function Decoder(request) {
      var e = JSON.parse(request.body);
      if (e.file !== 'data.qo') return [];
      var out = Object.keys(e.body).map(function (k) { return { device: e.device, field: k, value: e.body[k], timestamp: e.when }; });
      out.push({ device: e.device, field: 'LOCATION', value: { latitude: e.best_lat, longitude: e.best_lon }, timestamp: e.when });
      return out;
    }`,
    call: {
      headers: { ...json, 'X-Session': 'abc' },
      body: JSON.stringify({
        event: '1e9a3c4d-0000-4000-8000-000000000001',
        session: '2e9a3c4d-0000-4000-8000-000000000002',
        best_id: 'hall',
        device: 'dev:864475040000001',
        product: 'product:org.example.demo',
        received: 1767225605.12,
        routed: 1767225606,
        req: 'note.add',
        when: 1767225600,
        file: 'data.qo',
        body: { temp: 21.5, voltage: 4.12 },
        best_location_type: 'gps',
        best_lat: 51.4,
        best_lon: 6.9,
        fleets: [],
      }),
    },
    stored: { temp: 21.5, voltage: 4.12, LOCATION: '(51.4,6.9)' },
  },
  {
    name: 'Sigfox callback by GET',
    fields: { T: 'FLOAT', RSSI: 'FLOAT' },
    serial: '1A2B3C',
    decoder: `function Decoder(request) {
      var q = request.GET, time = Number(q.time[0]);
      return [
        { device: q.id[0], field: 'T', value: parseInt(q.data[0].substr(0, 4), 16) / 100, timestamp: time },
        { device: q.id[0], field: 'RSSI', value: q.rssi[0], timestamp: time },
      ];
    }`,
    call: { method: 'GET', path: 'sigfox?id=1A2B3C&time=1767225600&seqNumber=42&data=0866ff&rssi=-121.00&snr=12.5' },
    stored: { T: 21.5, RSSI: -121 },
  },
  {
    name: 'Sigfox callback by POST',
    fields: { T: 'FLOAT', LOW: 'BOOLEAN' },
    serial: '1A2B3D',
    decoder: `const Decoder = ({ body }) => {
      const { device, time, data, seqNumber, lqi } = JSON.parse(body);
      const view = new DataView(new Uint8Array(data.match(/../g).map((h) => parseInt(h, 16))).buffer);
      return [{ device, field: 'T', value: view.getInt16(0) / 100, timestamp: time }, { device, field: 'LOW', value: view.getUint8(2) & 1, timestamp: String(time) }];
    };`,
    call: {
      headers: json,
      body: '{"device":"1A2B3D","time":"1767225600","data":"fc1801","seqNumber":"7","lqi":"Good"}',
    },
    stored: { T: -10, LOW: true },
  },
  {
    name: 'Soracom Beam with its headers',
    fields: { T: 'FLOAT', H: 'FLOAT' },
    serial: '295050012345678',
    decoder: `function Decoder(request) {
      var imsi = request.headers['x-soracom-imsi'];
      var p = JSON.parse(request.body);
      return [{ device: imsi, field: 'T', value: p.temp }, { device: imsi, field: 'H', value: p.humi }];
    }`,
    call: {
      headers: {
        ...json,
        'X-Soracom-IMSI': '295050012345678',
        'X-Soracom-Timestamp': '1767225600000',
        'X-Soracom-Signature': 'f00',
      },
      body: '{"temp":21.5,"humi":40}',
    },
    stored: { T: 21.5, H: 40 },
  },
  {
    name: 'Hologram, a cloud data webhook',
    fields: { T: 'FLOAT' },
    serial: '123456',
    decoder: `function Decoder(request) {
      var m = JSON.parse(request.body);
      var text = atob(m.data);
      return { device: m.deviceid, field: 'T', value: JSON.parse(text).t, timestamp: m.received + 'Z' };
    }`,
    call: {
      headers: json,
      body: JSON.stringify({
        received: '2026-01-01T00:00:00.123456',
        authtype: 'psk',
        tags: ['_SIMPLESTRING_'],
        device_name: 'SIM 1',
        errorcode: 0,
        source: 'abcd',
        timestamp: '0',
        data: Buffer.from('{"t":21.5}').toString('base64'),
        deviceid: 123456,
      }),
    },
    stored: { T: 21.5 },
  },
  {
    name: 'Hummingbird (Blues), values with their units',
    fields: { temperature: 'FLOAT', pressure: 'FLOAT' },
    serial: 'dev:hb-1',
    decoder: `function Decoder(request) {
      var e = JSON.parse(request.body);
      return Object.entries(e.body.readings).map(([field, value]) => ({ device: e.device, field, value, timestamp: new Date(e.when * 1000) }));
    }`,
    call: {
      headers: json,
      body: JSON.stringify({
        device: 'dev:hb-1',
        when: 1767225600,
        file: 'air.qo',
        body: { readings: { temperature: { value: 21.5, unit: 'C' }, pressure: { value: 1013.2, unit: 'hPa' } } },
      }),
    },
    stored: { temperature: 21.5, pressure: 1013.2 },
  },
];

describe.each(EITHER_DATABASE)('senders on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  test.each(SENDERS)('$name', async ({ fields, serial, decoder, call, stored }) => {
    const product = await createProduct(server, { fields, serialNumbers: [serial], input: { decoder } });
    const count = Object.keys(stored).length;
    expect(await callWebhook(server, product, call)).toMatchObject({
      status: 200,
      body: { stored: count, rejected: 0 },
    });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual(stored);
  });

  test('Particle: the same event as JSON and as a form', async () => {
    const product = await createProduct(server, {
      fields: { temp: 'FLOAT' },
      serialNumbers: [PARTICLE_EVENT.coreid],
      input: { deviceType: 'PARTICLE' },
    });
    const form = new URLSearchParams({
      ...PARTICLE_EVENT,
      data: '{"temp":23}',
      published_at: '2026-03-04T05:07:00.000Z',
    });
    for (const body of [JSON.stringify(PARTICLE_EVENT), form]) {
      const headers = { authorization: `Bearer ${server.adminToken}` };
      const answer = await fetch(`${server.url}/integrations/particle/`, { method: 'POST', headers, body });
      expect(await answer.json()).toEqual({ stored: 1, rejected: 0 });
    }
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ temp: 23 });
  });

  test('Actility: at the LoRaWAN URL, decoded by bytes', async () => {
    const product = await createProduct(server, {
      fields: { FIRST: 'INTEGER', RATE: 'STRING' },
      serialNumbers: [ACTILITY_UPLINK.DevEUI_uplink.DevEUI.toLowerCase()],
      input: {
        deviceType: 'LORAWAN',
        decoder: 'function Decoder(bytes, port) { return { FIRST: bytes[0], RATE: normalizedPayload.data_rate }; }',
      },
    });
    const headers = { authorization: `Token ${server.adminToken}` };
    const body = JSON.stringify(ACTILITY_UPLINK);
    const answer = await fetch(`${server.url}/integrations/lorawan/chirpstack/`, { method: 'POST', headers, body });
    expect(await answer.json()).toEqual({ stored: 2, rejected: 0 });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ FIRST: 0x9e, RATE: 'SF7BW125' });
  });
});
