import { describe, expect, test } from 'vitest';
import {
  networkOfBody,
  networkOfPath,
  pathOfNetwork,
  readNetworkCall,
  uplinkInput,
} from '../../src/domain/networks/network-call.ts';
import { timeIn } from '../../src/domain/networks/json-reading.ts';
import { type Network, NETWORKS } from '../../src/domain/networks/network-event.ts';
import { CHIRPSTACK_UPLINK, HELIUM_UPLINK, PARTICLE_EVENT, TTI_UPLINK } from './network-samples.ts';

const read = (network: Network, message: unknown, event?: string) =>
  readNetworkCall(network, { body: JSON.stringify(message), GET: event === undefined ? {} : { event: [event] } });
const bytesOf = (network: Network, message: unknown): number[] =>
  JSON.parse(uplinkInput(read(network, message), 0)).bytes;

describe('The Things Stack', () => {
  test('an uplink', () => {
    const { uplink, deviceIdentifier } = read('tti', TTI_UPLINK);
    expect(deviceIdentifier).toBe('0004A30B001C0530');
    expect(uplink?.time).toBe(Date.parse('2026-02-12T15:15:46.787Z'));
    expect(uplink?.decoded).toEqual({ temperature: 21.5 });
    expect(uplink?.normalized).toEqual({
      deviceEui: '0004A30B001C0530',
      port: 2,
      counter: 42,
      dataRate: 'SF7BW125',
      gateways: [{ id: 'gw-1', rssi: -35, snr: 5.2 }],
      time: '2026-02-12T15:15:46.787Z',
    });
    expect(bytesOf('tti', TTI_UPLINK)).toEqual([1, 2, 255]);
  });

  test('keys with zero values are absent', () => {
    const bare = { end_device_ids: TTI_UPLINK.end_device_ids, uplink_message: { rx_metadata: [{ gateway_ids: {} }] } };
    const { uplink } = read('tti', bare);
    expect(uplink).toMatchObject({
      time: null,
      decoded: null,
      normalized: { port: 0, counter: 0, dataRate: null, gateways: [{ id: null, rssi: 0, snr: 0 }], time: null },
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
      dataRate: 'SF9BW125',
      gateways: [{ id: '0016c001f153a14c', rssi: -57, snr: 10 }],
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

describe('Helium', () => {
  test('an uplink', () => {
    const { uplink } = read('helium', HELIUM_UPLINK);
    expect(uplink?.time).toBe(1_778_000_000_123);
    expect(uplink?.decoded).toEqual({ battery: 3.3 });
    expect(uplink?.normalized).toMatchObject({
      deviceEui: '1C29FBD1D2084E21',
      port: 1,
      counter: 19,
      dataRate: 'SF9BW125',
      gateways: [
        { id: 'hotspot-a', rssi: -54, snr: 9.5 },
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
    expect(readNetworkCall('particle', { body, GET: {} })).toEqual(read('particle', PARTICLE_EVENT));
  });

  test('events of the cloud itself are no readings', () => {
    expect(read('particle', { ...PARTICLE_EVENT, event: 'spark/status', data: 'online' }).uplink).toBeNull();
  });
});

describe('any network', () => {
  test('its path tells it, in any case, with or without the final slash', () => {
    for (const network of NETWORKS) expect(networkOfPath(pathOfNetwork(network))).toBe(network);
    expect(networkOfPath('/integrations/lorawan/TTI')).toBe('tti');
    for (const path of ['/integrations/api/x/', '/integrations/lorawan/particle2/', '/integrations/lorawan/tti/more'])
      expect(networkOfPath(path)).toBeNull();
  });

  test('its message tells it', () => {
    const messages = [TTI_UPLINK, CHIRPSTACK_UPLINK, HELIUM_UPLINK, PARTICLE_EVENT];
    expect(messages.map((message) => networkOfBody(JSON.stringify(message)))).toEqual([...NETWORKS]);
    expect(networkOfBody('[]')).toBeNull();
    expect(networkOfBody('nonsense')).toBeNull();
  });

  test.each(NETWORKS)('%s: what is no JSON object is refused, what names no device is no uplink', (network) => {
    expect(() => readNetworkCall(network, { body: '\u0000\u0001', GET: {} })).toThrow(/not JSON/);
    expect(() => read(network, [1])).toThrow(/one JSON object/);
    expect(read(network, {}, 'up')).toMatchObject({ deviceIdentifier: null, uplink: null });
  });

  test.each(NETWORKS)('%s: keys of the wrong kind never throw', (network) => {
    const odd = [null, 1, 'x', [], [null], {}, true];
    for (const sample of [TTI_UPLINK, CHIRPSTACK_UPLINK, HELIUM_UPLINK, PARTICLE_EVENT] as Record<string, unknown>[])
      for (const key of Object.keys(sample)) for (const value of odd) read(network, { ...sample, [key]: value }, 'up');
    const { uplink_message: up } = TTI_UPLINK;
    for (const key of Object.keys(up))
      for (const value of odd) read('tti', { ...TTI_UPLINK, uplink_message: { ...up, [key]: value } });
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
});
