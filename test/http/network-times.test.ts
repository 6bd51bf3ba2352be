import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { historyOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, readAnswer, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const iso = (ms: number): string => new Date(ms).toISOString();

/** An EUI belongs to one device of a workspace, and a frame counter to one frame. */
let [made, frames] = [0, 0];
const newEui = (): string => `a84041${String((made += 1)).padStart(10, '0')}`;

describe("which of a message's times counts (CONTRACT 6)", () => {
  let server: TestServer;
  let product: TestProduct;
  let eui: string;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    eui = newEui();
    product = await createProduct(server, {
      fields: { t: 'FLOAT', received: 'STRING' },
      serialNumbers: [eui],
      input: { deviceType: 'LORAWAN' },
    });
  });

  const send = async (network: string, message: unknown): Promise<any> => {
    const response = await fetch(`${server.url}/integrations/${network}/`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(message),
    });
    return (await readAnswer(response)).body;
  };
  const chirpstack = (said: Record<string, unknown>, ...gateways: Record<string, unknown>[]): Promise<any> =>
    send('lorawan/chirpstack', {
      ...said,
      deviceInfo: { devEui: eui },
      fCnt: (frames += 1),
      fPort: 1,
      data: 'AQI=',
      object: { t: 1 },
      rxInfo: gateways.map((times, at) => ({ gatewayId: `010203040506070${at}`, rssi: -60, snr: 7, ...times })),
    });
  const tti = (message: Record<string, unknown>, uplink: Record<string, unknown>): Promise<any> =>
    send('lorawan/tti', {
      end_device_ids: { dev_eui: eui.toUpperCase() },
      ...message,
      uplink_message: { f_port: 1, frm_payload: 'AQI=', decoded_payload: { t: 1 }, ...uplink },
    });
  /** The one time under which something is stored, in ms. */
  const stored = async (): Promise<number> => {
    const values = await historyOf(server, product.deviceIds[0]!, 't');
    expect(values).toHaveLength(1);
    return Math.round(values[0]![0] * 1000);
  };
  const isReceipt = async (from: number): Promise<void> => {
    const at = await stored();
    expect(at).toBeGreaterThanOrEqual(from);
    expect(at).toBeLessThanOrEqual(Date.now());
  };

  test.each([
    ['of 1980', () => Date.parse('1980-01-21T23:17:20.234Z')],
    ['of 2012', () => Date.parse('2012-01-01T00:03:00Z')],
    ['half an hour ahead', () => Date.now() + HOUR / 2],
    ['three hours behind', () => Date.now() - 3 * HOUR],
    ['a minute ahead', () => Date.now() + 60_000],
    ['of 2036', () => Date.parse('2036-01-01T00:00:00Z')],
  ])("ChirpStack: the network server's own before a gateway's %s", async (_, gatewayTime) => {
    const [time, nsTime] = [iso(gatewayTime()), Date.now() - 1_500];
    expect(await chirpstack({ time }, { gwTime: time, nsTime: iso(nsTime) })).toEqual({ stored: 1, rejected: 0 });
    expect(await stored()).toBe(nsTime);
  });

  test('ChirpStack: any gateway may bring the time of the network server, also of hours ago', async () => {
    const [time, nsTime] = [iso(Date.now() + 60_000), Date.now() - 30 * HOUR];
    await chirpstack({ time }, { gwTime: time }, { gwTime: time, nsTime: iso(nsTime) });
    expect(await stored()).toBe(nsTime);
  });

  test.each([
    ['of 1980', '1980-01-21T23:17:20.234+00:00'],
    ['of 1999', '1999-12-31T23:59:59Z'],
    ['two days ahead', iso(Date.now() + 2 * DAY)],
    ['of year 1', '0001-01-01T00:00:00Z'],
    ['that is no day', '2026-02-30T00:00:00Z'],
    ['that is no time', 'x'],
    ['that is null', null],
  ])("ChirpStack: nothing but a gateway's clock %s is the receipt time", async (_, time) => {
    const from = Date.now();
    expect(await chirpstack({ time }, { gwTime: time })).toMatchObject({ stored: 1 });
    await isReceipt(from);
  });

  test("ChirpStack: a gateway's plausible clock counts where there is no other, the first that is", async () => {
    const at = Date.now() - 10 * HOUR;
    await chirpstack({ time: '1980-01-01T00:00:00Z' }, { gwTime: '1980-01-01T00:00:00Z' }, { gwTime: iso(at) });
    expect(await stored()).toBe(at);
  });

  test('ahead of now it is told', async () => {
    expect(await chirpstack({ time: iso(Date.now() + 2 * HOUR) })).toMatchObject({
      stored: 1,
      ahead: { values: 1, message: expect.stringMatching(/1 value is (?:2 h|1 h 59 min) ahead/) },
    });
  });

  test('a network server whose own time cannot be true is not believed either', async () => {
    const from = Date.now();
    await chirpstack({}, { nsTime: '1970-01-01T00:00:10Z' });
    await isReceipt(from);
  });

  test("after a gateway's clock that was ahead the newest value is the newest", async () => {
    const time = iso(Date.now() + HOUR / 2);
    await chirpstack({ time }, { gwTime: time, nsTime: iso(Date.now() - 1_000) });
    await send('lorawan/chirpstack', {
      time: iso(Date.now()),
      deviceInfo: { devEui: eui },
      fCnt: (frames += 1),
      fPort: 1,
      data: 'AQM=',
      object: { t: 2 },
      rxInfo: [{ nsTime: iso(Date.now()) }],
    });
    expect((await latestOf(server, product.deviceIds[0]!))['t']).toBe(2);
  });

  test.each([
    ['of the Network Server', (at: number) => tti({ received_at: iso(at + 999) }, { received_at: iso(at) })],
    [
      'of the Application Server, where the other is no day',
      (at: number) => tti({ received_at: iso(at) }, { received_at: '2021-02-30T00:00:00Z' }),
    ],
    [
      'of the Gateway Server, before the gateway',
      (at: number) => tti({}, { rx_metadata: [{ time: iso(at - HOUR), received_at: iso(at) }] }),
    ],
    ['of a gateway, where there is no other', (at: number) => tti({}, { rx_metadata: [{ time: iso(at) }] })],
  ])('The Things Stack: the time %s', async (_, deliver) => {
    const at = Date.now() - 5_000;
    expect(await deliver(at)).toMatchObject({ stored: 1 });
    expect(await stored()).toBe(at);
  });

  test('The Things Stack: a gateway of 1970 alone does no harm', async () => {
    const from = Date.now();
    await tti({}, { rx_metadata: [{ time: '1970-01-01T00:05:00Z' }] });
    await isReceipt(from);
  });

  test("Helium: the router's time, then a hotspot's, if it may be true", async () => {
    const message = { dev_eui: eui, fcnt: 1, port: 1, payload: 'AQI=', decoded: { payload: { t: 1 } } };
    const at = Date.now() - 7_000;
    await send('lorawan/helium', { ...message, reported_at: at, hotspots: [{ reported_at: 5 }] });
    expect(await stored()).toBe(at);
    const from = Date.now();
    await send('lorawan/helium', {
      ...message,
      fcnt: 2,
      payload: 'AQM=',
      hotspots: [{ reported_at: 315_532_800_000 }],
    });
    const [, [last]] = (await historyOf(server, product.deviceIds[0]!, 't')) as [unknown, [number, unknown]];
    expect(last * 1000).toBeGreaterThanOrEqual(from - 1);
  });

  test('decoders see the time that counts', async () => {
    await saveDecoder(
      server,
      product.id,
      `function decodeUplink({ recvTime }) {
         return { data: { t: 1, received: recvTime.toISOString() + ' ' + normalizedPayload.time } };
       }`,
    );
    const [time, nsTime] = ['1980-01-01T00:00:00Z', iso(Date.now() - 2_000)];
    await chirpstack({ time }, { gwTime: time, nsTime });
    expect((await latestOf(server, product.deviceIds[0]!))['received']).toBe(`${nsTime} ${nsTime}`);
    await chirpstack({ time }, { gwTime: time });
    expect((await latestOf(server, product.deviceIds[0]!))['received']).toMatch(/^2.* null$/);
  });

  test("an entry's own time is judged as everywhere, and an empty one is none", async () => {
    const from = Date.now();
    const deliver = async (timestamp: string): Promise<any> => {
      await saveDecoder(
        server,
        product.id,
        `function Decoder() { return [{ field: 't', value: 1, timestamp: ${timestamp} }]; }`,
      );
      return chirpstack({});
    };
    expect(await deliver('1795860')).toEqual({ stored: 0, rejected: 1 });
    expect(await deliver("'2021-02-30'")).toEqual({ stored: 0, rejected: 1 });
    expect(await deliver("''")).toEqual({ stored: 1, rejected: 0 });
    await isReceipt(from);
  });
});
