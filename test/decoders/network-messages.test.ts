import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  networkOfBody,
  networkOfPath,
  pathOfNetwork,
  readNetworkCall,
  uplinkInput,
} from '../../src/domain/networks/network-call.ts';
import { deviceIdentity } from '../../src/domain/text/device-identity.ts';
import { isoTime, timeIn } from '../../src/domain/networks/json-reading.ts';
import { networkTime } from '../../src/domain/times/network-time.ts';
import { type Network, NETWORKS } from '../../src/domain/networks/network-event.ts';
import {
  ACTILITY_UPLINK,
  CHIRPSTACK_UPLINK,
  CHIRPSTACK_V3_UPLINK,
  HELIUM_UPLINK,
  MILESIGHT_UPLINK,
  PARTICLE_EVENT,
  TTI_UPLINK,
} from './network-samples.ts';

const NOW = Date.parse('2026-12-31T00:00:00Z');

/** With the time that counts. */
const read = (network: Network, message: unknown, event?: string) => {
  const GET: Record<string, string[]> = event === undefined ? {} : { event: [event] };
  const { uplink, ...rest } = readNetworkCall(network, { body: JSON.stringify(message), GET });
  const time = uplink && networkTime(uplink.times, NOW);
  return { ...rest, uplink: uplink && { ...uplink, time, normalized: { ...uplink.normalized, time: isoTime(time) } } };
};
const bytesOf = (network: Network, message: unknown): number[] =>
  JSON.parse(uplinkInput(read(network, message), 0, {})).bytes;

const MANY = Array.from({ length: 1_000 }, (_, at) => ({ rssi: -at - 1, LrrRSSI: -at - 1 }));

test.each([
  ['tti', { end_device_ids: { dev_eui: 'e' }, uplink_message: { rx_metadata: MANY } }],
  ['chirpstack', { deviceInfo: { devEui: 'e' }, rxInfo: MANY }],
  ['chirpstack', { DevEUI_uplink: { DevEUI: 'e', Lrrs: { Lrr: MANY } } }],
  ['helium', { dev_eui: 'e', hotspots: MANY }],
] as const)('of the gateways that %s lists the first fifty are read', (network, message) => {
  const gateways = read(network, message).uplink!.normalized.gateways;
  expect(gateways.map(({ rssi }) => rssi)).toEqual(MANY.slice(0, 50).map(({ rssi }) => rssi));
});

describe('The Things Stack', () => {
  test('an uplink', () => {
    const { uplink, deviceIdentifier } = read('tti', TTI_UPLINK);
    expect(deviceIdentifier).toBe('0004A30B001C0530');
    expect(uplink?.time).toBe(Date.parse('2026-02-12T15:15:46.787Z'));
    expect(uplink?.decoded).toEqual({ temperature: 21.5 });
    expect(uplink?.normalized).toEqual({
      deveui: '0004A30B001C0530',
      port: 2,
      counter: 42,
      frequency: 0.8683,
      data_rate: 'SF7BW125',
      coding_rate: '4/5',
      time: '2026-02-12T15:15:46.787Z',
      gateways: [{ id: 'gw-1', datetime: '2026-02-12T15:15:46.700Z', channel: 2, rssi: -35, snr: 5.2 }],
      deviceEui: '0004A30B001C0530',
      dataRate: 'SF7BW125',
    });
    expect(bytesOf('tti', TTI_UPLINK)).toEqual([1, 2, 255]);
  });

  test('keys with zero values are absent', () => {
    const bare = { end_device_ids: TTI_UPLINK.end_device_ids, uplink_message: { rx_metadata: [{ gateway_ids: {} }] } };
    const { uplink } = read('tti', bare);
    expect(uplink).toMatchObject({
      time: null,
      decoded: null,
      carriesPayload: false,
      normalized: {
        port: 0,
        counter: 0,
        frequency: null,
        data_rate: null,
        coding_rate: null,
        gateways: [{ id: null, datetime: null, channel: 0, rssi: 0, snr: 0 }],
        time: null,
      },
    });
    expect(bytesOf('tti', bare)).toEqual([]);
  });

  test.each(['join_accept', 'downlink_ack', 'downlink_queued', 'location_solved', 'service_data', 'uplink_normalized'])(
    '%s is no uplink',
    (kind) => {
      const { uplink_message: _, ...message } = TTI_UPLINK;
      const event = read('tti', { ...message, [kind]: { normalized_payload: [{ air: { temperature: 3 } }] } });
      expect(event.uplink).toBeNull();
      expect(event.deviceIdentifier).toBe('0004A30B001C0530');
    },
  );
});

describe('ChirpStack', () => {
  test('an uplink', () => {
    const { uplink, deviceIdentifier } = read('chirpstack', CHIRPSTACK_UPLINK, 'up');
    expect(deviceIdentifier).toBe('24e124128b012345');
    expect(uplink?.time).toBe(Date.parse('2026-05-01T10:00:00.123Z'));
    expect(uplink?.decoded).toEqual({ temperature: 22 });
    expect(uplink?.normalized).toMatchObject({
      port: 85,
      counter: 7,
      frequency: 0.8681,
      data_rate: 'SF9BW125',
      coding_rate: '4/5',
      gateways: [{ id: '0016c001f153a14c', datetime: null, channel: 0, rssi: -57, snr: 10 }],
    });
    expect(bytesOf('chirpstack', CHIRPSTACK_UPLINK)).toEqual([3, 103, 220, 0]);
  });

  test('an uplink without fPort, data and times', () => {
    const { uplink } = read('chirpstack', { deviceInfo: { devEui: '24e124128b012345' } }, 'up');
    expect(uplink).toMatchObject({ time: null, decoded: null, normalized: { port: 0, counter: 0, gateways: [] } });
  });

  test.each(['join', 'status', 'ack', 'txack', 'log', 'location', 'integration'])('%s is no uplink', (name) => {
    expect(read('chirpstack', CHIRPSTACK_UPLINK, name).uplink).toBeNull();
  });

  test('without ?event= the keys decide', () => {
    expect(read('chirpstack', CHIRPSTACK_UPLINK).uplink).not.toBeNull();
    const { deviceInfo } = CHIRPSTACK_UPLINK;
    const integration = { integrationName: 'loracloud', eventType: 'gnss', object: { temperature: 9 } };
    const others = [{ acknowledged: true, fCntDown: 3 }, { margin: 3, batteryLevel: 80 }, { devAddr: '01' }];
    for (const more of [...others, integration]) expect(read('chirpstack', { deviceInfo, ...more }).uplink).toBeNull();
  });
});

describe('relatives of ChirpStack', () => {
  test('ChirpStack v3 writes EUIs in base64', () => {
    const { uplink, deviceIdentifier } = read('chirpstack', CHIRPSTACK_V3_UPLINK, 'up');
    expect(deviceIdentifier).toBe('24e124128b012345');
    expect(uplink?.decoded).toEqual({ temperature: 22 });
    expect(uplink?.normalized).toMatchObject({
      port: 85,
      frequency: 0.8681,
      data_rate: 'SF7BW125',
      coding_rate: '4/5',
      gateways: [{ id: '0016c001f153a14c', datetime: '2026-05-01T10:00:00.000Z', channel: 2, rssi: -57, snr: 10 }],
    });
    const { devEUI: _, ...nameless } = CHIRPSTACK_V3_UPLINK;
    expect(() => read('chirpstack', nameless, 'up')).toThrow(/devEUI/);
  });

  test("the server built into Milesight's gateways", () => {
    const { uplink, deviceIdentifier } = read('chirpstack', MILESIGHT_UPLINK);
    expect(deviceIdentifier).toBe('24e124136b502217');
    expect(bytesOf('chirpstack', MILESIGHT_UPLINK)).toEqual([3, 103, 234, 0, 4, 104, 79, 5, 0, 0]);
    expect(uplink?.normalized).toMatchObject({
      port: 85,
      counter: 128,
      frequency: 0.8681,
      data_rate: 'SF7BW125',
      coding_rate: '4/5',
      gateways: [{ id: '24e124fffef54092', rssi: -51, snr: 13.8 }],
    });
    const { data: _, rxInfo: __, fCnt: ___, fPort: ____, ...notice } = MILESIGHT_UPLINK;
    expect(read('chirpstack', { ...notice, status: 'offline' }).uplink).toBeNull();
  });

  test("Actility's ThingPark", () => {
    const { uplink, deviceIdentifier } = read('chirpstack', ACTILITY_UPLINK);
    expect(deviceIdentifier).toBe('0018B20000000B20');
    expect(uplink?.time).toBe(Date.parse('2026-10-03T13:38:46.882Z'));
    expect(bytesOf('chirpstack', ACTILITY_UPLINK)).toEqual([0x9e, 0x1c, 0x48]);
    expect(uplink?.normalized).toMatchObject({
      port: 1,
      counter: 1174,
      frequency: 0.8681,
      data_rate: 'SF7BW125',
      gateways: [{ id: '004A18E3', channel: 6, rssi: -80, snr: 7 }],
    });
    expect(read('chirpstack', { DevEUI_downlink_Sent: { DevEUI: '0018B20000000B20' } }).uplink).toBeNull();
  });
});

describe('Helium', () => {
  test('an uplink', () => {
    const { uplink } = read('helium', HELIUM_UPLINK);
    expect(uplink?.time).toBe(1_778_000_000_123);
    expect(uplink?.decoded).toEqual({ battery: 3.3 });
    expect(uplink?.normalized).toMatchObject({
      deviceEui: '1C29FBD1D2084E21',
      port: 1,
      counter: 19,
      frequency: 0.9043,
      dataRate: 'SF9BW125',
      gateways: [
        { id: 'hotspot-a', datetime: new Date(1_778_000_000_123).toISOString(), channel: 3, rssi: -54, snr: 9.5 },
        { rssi: 0, snr: 0 },
      ],
    });
    expect(bytesOf('helium', HELIUM_UPLINK)).toEqual([72, 105]);
  });

  test('a join is no uplink; a console built on ChirpStack sends its events', () => {
    expect(read('helium', { dev_eui: '1C29FBD1D2084E21', type: 'join' }).uplink).toBeNull();
    expect(read('helium', CHIRPSTACK_UPLINK, 'up').deviceIdentifier).toBe('24e124128b012345');
    expect(read('helium', CHIRPSTACK_UPLINK, 'join').uplink).toBeNull();
  });
});

describe('Particle', () => {
  test('an event with JSON text', () => {
    const { uplink, deviceIdentifier } = read('particle', PARTICLE_EVENT);
    expect(deviceIdentifier).toBe('e00fce68aabbccddeeff0011');
    expect(uplink?.time).toBe(Date.parse('2026-03-04T05:06:07.089Z'));
    expect(uplink?.decoded).toEqual({ temp: 20.5 });
    expect(uplink?.content).toEqual({ kind: 'particle', payload: '{"temp":20.5}', event: 'readings' });
  });

  test.each([
    ['plain text', '23.02', '23.02'],
    ['a number', 23.02, 23.02],
    ['broken JSON', '{"temp":', '{"temp":'],
    ['nothing', undefined, ''],
    ['an array as text', '[1]', '[1]'],
  ])('%s is handed on as it is', (_, data, payload) => {
    const { uplink } = read('particle', { ...PARTICLE_EVENT, data });
    expect(uplink?.decoded).toBeNull();
    expect(uplink?.content).toMatchObject({ payload });
  });

  test('custom JSON without data: its own keys are the data', () => {
    const { coreid, event, published_at } = PARTICLE_EVENT;
    const custom = { coreid, event, published_at, userid: 'u', temp: 20.5, hum: '40' };
    const { uplink } = read('particle', custom);
    expect(uplink?.decoded).toEqual({ temp: 20.5, hum: '40' });
    expect(uplink?.content).toMatchObject({ payload: { temp: 20.5, hum: '40' } });
  });

  test('a form with the same names is the same event', () => {
    const body = new URLSearchParams(PARTICLE_EVENT).toString();
    const json = readNetworkCall('particle', { body: JSON.stringify(PARTICLE_EVENT), GET: {} });
    expect(readNetworkCall('particle', { body, GET: {} })).toEqual({ ...json, raw: expect.anything() });
  });

  test('events of the cloud itself are no readings', () => {
    expect(read('particle', { ...PARTICLE_EVENT, event: 'spark/status', data: 'online' }).uplink).toBeNull();
  });
});

describe('any network', () => {
  test('its path tells it, in any case, with or without the final slash', () => {
    for (const network of NETWORKS) expect(networkOfPath(pathOfNetwork(network))).toBe(network);
    expect(networkOfPath('/integrations/lorawan/TTI')).toBe('tti');
    for (const path of ['/integrations/api/x/', '/integrations/lorawan/particle2/', '/integrations/lorawan/'])
      expect(networkOfPath(path)).toBeNull();
    expect(networkOfPath('/integrations/lorawan/tti/join-accept')).toBe('tti');
    expect(networkOfPath('/integrations/particle/a/b/')).toBe('particle');
  });

  test('its message tells it', () => {
    const messages = [TTI_UPLINK, CHIRPSTACK_UPLINK, HELIUM_UPLINK, PARTICLE_EVENT];
    expect(messages.map((message) => networkOfBody(JSON.stringify(message)))).toEqual([...NETWORKS]);
    // Of a long one the first names tell, and nothing more is read.
    const long = (message: object): string => JSON.stringify({ ...message, x: 'x'.repeat(20_000) }).slice(0, -1);
    expect(messages.map((message) => networkOfBody(long(message)))).toEqual([...NETWORKS]);
    expect(networkOfBody(long({ temperature: 1 }))).toBeNull();
    expect(networkOfBody('[]')).toBeNull();
    expect(networkOfBody('nonsense')).toBeNull();
  });

  test.each(NETWORKS)('%s: what is no JSON object, or names no device, is refused', (network) => {
    expect(() => readNetworkCall(network, { body: '\u0000\u0001', GET: {} })).toThrow(/not JSON/);
    expect(() => read(network, [1])).toThrow(/one JSON object/);
    const key = {
      tti: 'end_device_ids.dev_eui',
      chirpstack: 'deviceInfo.devEui',
      helium: 'dev_eui',
      particle: 'coreid',
    };
    expect(() => read(network, {})).toThrow(`"${key[network]}" is missing`);
    const deep = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(() => readNetworkCall(network, { body: deep, GET: {} })).toThrow(/nested deeper/);
  });

  test('uplinks without identifier are refused, other events without one are events', () => {
    const { dev_eui: _, ...ids } = TTI_UPLINK.end_device_ids;
    expect(() => read('tti', { ...TTI_UPLINK, end_device_ids: ids })).toThrow(/end_device_ids\.dev_eui/);
    expect(read('tti', { end_device_ids: ids, downlink_ack: {} })).toMatchObject({
      deviceIdentifier: null,
      uplink: null,
    });
    const { deviceInfo: __, ...event } = CHIRPSTACK_UPLINK;
    expect(() => read('chirpstack', event, 'up')).toThrow(/deviceInfo\.devEui/);
    expect(read('chirpstack', { margin: 3 }, 'status')).toMatchObject({ deviceIdentifier: null, uplink: null });
    const { coreid: ___, ...published } = PARTICLE_EVENT;
    expect(() => read('particle', published)).toThrow(/coreid/);
  });

  test("a LoRaWAN network's message is read at any LoRaWAN URL, another one is sent to its door", () => {
    expect(read('helium', TTI_UPLINK)).toEqual(read('tti', TTI_UPLINK));
    expect(() => read('particle', TTI_UPLINK)).toThrow('send it to /integrations/lorawan/tti/');
    expect(() => read('tti', PARTICLE_EVENT)).toThrow('send it to /integrations/particle/');
  });

  test.each([
    ['tti', TTI_UPLINK, 'uplink_message', { f_port: 2 }, false],
    ['tti', TTI_UPLINK, 'uplink_message', { frm_payload: 'AQ==' }, false],
    ['tti', TTI_UPLINK, 'uplink_message', { f_port: 0, frm_payload: 'AQ==' }, false],
    ['tti', TTI_UPLINK, 'uplink_message', { f_port: 1, frm_payload: '' }, false],
    ['tti', TTI_UPLINK, 'uplink_message', { f_port: 1, frm_payload: 'AQ==' }, true],
  ] as [Network, Record<string, unknown>, string, object, boolean][])(
    '%s: whether there is something for a decoder',
    (network, message, key, part, expected) => {
      expect(read(network, { ...message, [key]: part }).uplink?.carriesPayload).toBe(expected);
    },
  );

  test('ChirpStack runs codecs on port 0; without data there is nothing to run them on', () => {
    const { data: _, fPort: __, ...bare } = CHIRPSTACK_UPLINK;
    expect(read('chirpstack', bare, 'up').uplink?.carriesPayload).toBe(false);
    expect(read('chirpstack', { ...bare, data: 'AQ==' }, 'up').uplink?.carriesPayload).toBe(true);
    expect(read('helium', { ...HELIUM_UPLINK, payload: '' }).uplink?.carriesPayload).toBe(false);
  });

  test.each(['70-B3-D5-7E-D0-05-AB-CD', '70:b3:d5:7e:d0:05:ab:cd', '0x70B3D57ED005ABCD', ' 70b3 d57e d005 abcd '])(
    'the identifier %s is one and the same',
    (written) => {
      expect(deviceIdentity(written)).toBe('70b3d57ed005abcd');
    },
  );

  test('other identifiers stay as they are', () => {
    for (const other of ['Hall-1', '12-34', '70b3d57ed005abcdef', '0x', ' 70b3d57ed005abc', '70b3d57ed005abcg', ''])
      expect(deviceIdentity(other)).toBe(other);
  });

  test.each(NETWORKS)('%s: keys of the wrong kind are read as absent, never an internal error', (network) => {
    const attempt = (name: Network, message: unknown) => {
      try {
        read(name, message, 'up');
      } catch (error) {
        expect(error).toMatchObject({ code: 'INVALID_BODY' });
      }
    };
    const odd = [null, 1, 'x', [], [null], {}, true];
    const samples = [TTI_UPLINK, CHIRPSTACK_UPLINK, CHIRPSTACK_V3_UPLINK, MILESIGHT_UPLINK, ACTILITY_UPLINK];
    for (const sample of [...samples, HELIUM_UPLINK, PARTICLE_EVENT] as Record<string, unknown>[])
      for (const key of Object.keys(sample)) for (const value of odd) attempt(network, { ...sample, [key]: value });
    const { uplink_message: up } = TTI_UPLINK;
    for (const key of Object.keys(up))
      for (const value of odd) attempt('tti', { ...TTI_UPLINK, uplink_message: { ...up, [key]: value } });
  });

  test.each([
    ['2026-02-12T15:15:46.787826789Z', Date.parse('2026-02-12T15:15:46.787Z')],
    ['2026-02-12T16:15:46+01:00', Date.parse('2026-02-12T15:15:46Z')],
    [1_778_000_000, 1_778_000_000_000],
    [1_778_000_000_123, 1_778_000_000_123],
    ['1778000000123', 1_778_000_000_123],
    [1_778_000_000_123_456, 1_778_000_000_123],
    ['1778000000123456789', 1_778_000_000_123],
    ['yesterday', null],
    [0, null],
    [-5, null],
    [1e300, null],
    [null, null],
  ])('time %s', (given, expected) => {
    expect(timeIn(given)).toBe(expected);
  });

  test.each(['2026-02-12T15:15:46', '2026-02-12 15:15:46.000', ' 2026-02-12t15:15:46Z '])(
    'time %s is in UTC wherever the server stands',
    (given) => {
      vi.stubEnv('TZ', 'Asia/Tokyo');
      onTestFinished(() => void vi.unstubAllEnvs());
      expect(new Date(0).getHours()).toBe(9);
      expect(timeIn(given)).toBe(Date.UTC(2026, 1, 12, 15, 15, 46));
    },
  );
});
