import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  KERLINK_UPLINK,
  LORIOT_UPLINK,
  NETMORE_UPLINK,
  TTI_CONSOLE_EVENT,
  TTI_UPLINK,
} from '../decoders/network-samples.ts';
import { callWebhook, callsOf, historyOf, latestOf } from '../decoders/webhook-client.ts';
import { createProduct, readAnswer, type RestAnswer, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const FIELDS = { BYTES: 'STRING', PORT: 'INTEGER', RSSI: 'FLOAT', RATE: 'STRING', COUNTER: 'INTEGER' };
const DECODER = `function Decoder(bytes, port) { return { BYTES: bytes.join(), PORT: port, COUNTER: normalizedPayload.counter,
  RSSI: normalizedPayload.gateways[0].rssi, RATE: normalizedPayload.data_rate }; }`;
const RECEIVED = 1_780_000_000.123;

describe('networks without a URL of their own, and messages copied from elsewhere', () => {
  let server: TestServer;
  let serial = 0;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());

  const send = async (path: string, message: unknown): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/integrations/${path}`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(message),
      }),
    );
  /** An EUI of its own for each product. */
  const next = (): string => (0x70b3d57ed0000000n + BigInt((serial += 1))).toString(16);
  const renamed = (message: unknown, identifier: string, to: string): unknown =>
    JSON.parse(JSON.stringify(message).replaceAll(identifier, to));
  const productOf = (identifier: string) =>
    createProduct(server, {
      fields: FIELDS,
      serialNumbers: [identifier],
      input: { deviceType: 'LORAWAN', decoder: DECODER },
    });

  const RATES = { loriot: 'SF9BW125', netmore: 'SF10BW125', kerlink: 'SF9BW125' };
  describe.each([
    ['LORIOT', LORIOT_UPLINK, '0011223344556601', { PORT: 4, RSSI: -91, RATE: RATES.loriot, COUNTER: 61 }],
    ['Netmore', NETMORE_UPLINK, '0011223344556602', { PORT: 5, RSSI: -105, RATE: RATES.netmore, COUNTER: 62 }],
    ['Kerlink', KERLINK_UPLINK, '0011223344556603', { PORT: 3, RSSI: -40, RATE: RATES.kerlink, COUNTER: 63 }],
  ])('%s', (name, sample, identifier, expected) => {
    test.each(['tti', 'chirpstack', 'helium'])('is taken at the URL of %s, under its own time', async (url) => {
      const own = next();
      const { deviceIds } = await productOf(own);
      expect((await send(`lorawan/${url}/`, renamed(sample, identifier, own))).body).toEqual({
        stored: 5,
        rejected: 0,
      });
      expect(await latestOf(server, deviceIds[0]!)).toEqual({ BYTES: '1,2,255', ...expected });
      expect(await historyOf(server, deviceIds[0]!, 'PORT')).toEqual([[RECEIVED, expected.PORT]]);
    });

    test('is named where it comes to the wrong door', async () => {
      const product = await createProduct(server, { input: { decoder: 'function Decoder() { throw 1 }' } });
      await callWebhook(server, product, { body: JSON.stringify(sample) });
      expect((await callsOf(server, product.id))[0]!.run!.error!.message).toContain(`a message of ${name}`);
      const wrong = await send('particle/', sample);
      expect([wrong.status, wrong.body.detail]).toEqual([400, expect.stringContaining(`a message of ${name}`)]);
    });
  });

  test('LORIOT tells an uplink twice: stored once', async () => {
    const own = next();
    await productOf(own);
    const { gws: _, ...bare } = LORIOT_UPLINK;
    const first = await send('lorawan/chirpstack/', { ...bare, EUI: own, cmd: 'rx', rssi: -91, snr: 8 });
    expect(first.body.stored).toBe(5);
    expect((await send('lorawan/chirpstack/', { ...LORIOT_UPLINK, EUI: own })).body.stored).toBe(0);
  });

  test.each([
    ['LORIOT', { ...LORIOT_UPLINK, data: undefined, encdata: 'aabb' }, 'AppSKey'],
    ['Kerlink', { ...KERLINK_UPLINK, encrypted: true }, 'AppSKey'],
    ['LORIOT', { ...LORIOT_UPLINK, EUI: undefined }, '"EUI"'],
    ['Netmore', [NETMORE_UPLINK[0], NETMORE_UPLINK[0]], 'send each message by itself'],
  ])('what is missing of %s is said', async (name, message, said) => {
    const answer = await send('lorawan/tti/', message);
    expect([answer.status, answer.body.code, answer.body.detail]).toEqual([
      400,
      'INVALID_BODY',
      expect.stringContaining(said),
    ]);
    expect(answer.body.detail).not.toContain('ABP');
    if (name === 'Kerlink') expect(answer.body.detail).toContain(name);
  });

  test.each([
    ['its console', TTI_CONSOLE_EVENT],
    ['its storage', { result: TTI_UPLINK }],
  ])('a message of The Things Stack copied from %s is taken', async (_, message) => {
    const own = next();
    const { deviceIds } = await productOf(own);
    const sent = renamed(message, '0004A30B001C0530', own);
    expect((await send('lorawan/tti/', sent)).body).toEqual({ stored: 5, rejected: 0 });
    expect(await latestOf(server, deviceIds[0]!)).toMatchObject({ BYTES: '1,2,255', PORT: 2 });
  });

  test('another event of that console is named, and what to set up instead', async () => {
    const event = { ...TTI_CONSOLE_EVENT, name: 'gs.up.receive', data: { raw_payload: 'QA==' } };
    const answer = await send('lorawan/tti/', event);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(/gs\.up\.receive.*webhook/)]);
  });
});
