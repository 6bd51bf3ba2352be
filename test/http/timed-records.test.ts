import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callsOf, callWebhook, historyOf, latestOf } from '../decoders/webhook-client.ts';
import { createProduct, readAnswer, type RestAnswer, startServer, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

/** Moments some hours ago, in whole seconds. */
const HOUR = Math.floor(Date.now() / 1000) - 3 * 3600;
const [ONE, TWO] = [HOUR, HOUR + 600];
const iso = (seconds: number): string => new Date(seconds * 1000).toISOString();

describe('records with times of their own', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());

  const post = async (path: string, message: unknown): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/integrations/lorawan/${path}`, {
        method: 'POST',
        headers: { Authorization: `Token ${ADMIN_TOKEN}` },
        body: JSON.stringify(message),
      }),
    );
  const suggested = async (id: string): Promise<string[]> => {
    const query = 'query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }';
    const { product } = await server.gql<any>(query, { id });
    return product.suggestedFields.map(({ identifier }: any) => identifier).sort();
  };
  /** Decoded by the network (`null`) or by a decoder that returns what it decoded. */
  const uplinkOf = async (
    object: unknown,
    decoder: string | null,
    fields: Record<string, string> = { temperature: 'FLOAT' },
  ) => {
    const serial = randomBytes(8).toString('hex');
    const input = { deviceType: 'LORAWAN', ...(decoder === null ? {} : { decoder }) };
    const product = await createProduct(server, { fields, serialNumbers: [serial], input });
    const answer = await post('chirpstack/?event=up', {
      deviceInfo: { devEui: serial },
      fPort: 1,
      data: 'AQI=',
      object: Array.isArray(object) ? { data: object } : object,
      rxInfo: [],
    });
    const values = (field = 'temperature') => historyOf(server, product.deviceIds[0]!, field);
    return { ...product, answer, values };
  };
  const WAYS: [string, (object: unknown) => string | null][] = [
    ['decoded by the network', () => null],
    ['returned by decodeUplink', (object) => `function decodeUplink() { return { data: ${JSON.stringify(object)} } }`],
    ['returned by Decoder', (object) => `function Decoder() { return ${JSON.stringify(object)} }`],
  ];

  describe.each(WAYS)('%s', (_, decoderOf) => {
    test.each([
      [
        'a history beside the present',
        {
          temperature: 3,
          history: [
            { timestamp: ONE, temperature: 1 },
            { timestamp: TWO, temperature: 2 },
          ],
        },
        3,
      ],
      [
        'a list of records',
        [
          { temperature: 1, timestamp: ONE },
          { temperature: 2, timestamp: TWO },
        ],
        2,
      ],
      [
        'telemetry of milliseconds',
        [
          { ts: ONE * 1000, values: { temperature: 1 } },
          { ts: TWO * 1000, values: { temperature: 2 } },
        ],
        2,
      ],
      [
        'ISO texts',
        {
          records: [
            { time: iso(ONE), temperature: 1 },
            { time: iso(TWO), temperature: 2 },
          ],
        },
        2,
      ],
      [
        'seconds as text',
        [
          { recorded_at: String(ONE), temperature: 1 },
          { recorded_at: String(TWO), temperature: 2 },
        ],
        2,
      ],
      [
        'nested deeper',
        {
          a: {
            log: [
              { DateTime: iso(ONE), data: { temperature: 1 } },
              { DateTime: iso(TWO), data: { temperature: 2 } },
            ],
          },
        },
        2,
      ],
      [
        'a series below its name',
        {
          temperature: [
            { ts: ONE, value: 1 },
            { ts: TWO, value: 2 },
          ],
        },
        2,
      ],
      [
        'named values',
        {
          series: [
            { ts: ONE, name: 'temperature', value: 1 },
            { ts: TWO, name: 'temperature', value: 2 },
          ],
        },
        2,
      ],
    ])('%s', async (_name, object, count) => {
      const { answer, values, id } = await uplinkOf(object, decoderOf(object));
      expect(answer.body).toEqual({ stored: count, rejected: 0 });
      const all = await values();
      expect(all.slice(0, 2)).toEqual([
        [ONE, 1],
        [TWO, 2],
      ]);
      expect(all).toHaveLength(count);
      expect(await suggested(id)).toEqual([]);
    });
  });

  test.each([
    [
      'entries with their time under another key',
      `[{ field: 'temperature', value: 1, time: '${iso(ONE)}', unit: 'C' }]`,
    ],
    [
      'an entry among records',
      `[{ field: 'temperature', value: 1, timestamp: ${ONE} }, { ts: ${TWO}, temperature: 2 }]`,
    ],
  ])('%s have that time', async (_, list) => {
    const { answer, values } = await uplinkOf({}, `function decodeUplink() { return { data: ${list} } }`);
    expect(answer.body.rejected).toBe(0);
    expect((await values())[0]).toEqual([ONE, 1]);
  });

  test('a list is read as the network decoded it, and as text, too', async () => {
    for (const object of [[{ ts: ONE * 1000, values: { temperature: 1 } }], [{ time: iso(ONE), temperature: 1 }]]) {
      const serial = randomBytes(8).toString('hex');
      const { deviceIds } = await createProduct(server, { serialNumbers: [serial] });
      const up = { deviceInfo: { devEui: serial }, fPort: 1, data: 'AQI=' };
      expect((await post('chirpstack/?event=up', { ...up, object })).body).toEqual({ stored: 1, rejected: 0 });
      const again = await post('chirpstack/?event=up', { ...up, objectJSON: JSON.stringify(object) });
      expect(again.body).toEqual({ stored: 1, rejected: 0 });
      expect(await historyOf(server, deviceIds[0]!, 'temperature')).toEqual([[ONE, 1]]);
    }
  });

  test("a list that Particle's event has as text is one of records, too", async () => {
    const core = randomBytes(12).toString('hex');
    const { deviceIds } = await createProduct(server, { serialNumbers: [core], input: { deviceType: 'PARTICLE' } });
    const data = JSON.stringify([{ ts: ONE * 1000, values: { temperature: 1 } }]);
    const event = { event: 'history', data, coreid: core, published_at: iso(TWO) };
    expect((await post('../particle/', event)).body).toEqual({ stored: 1, rejected: 0 });
    expect(await historyOf(server, deviceIds[0]!, 'temperature')).toEqual([[ONE, 1]]);
  });

  test('names below the list count where the product has them; unknown ones are suggested as the record says', async () => {
    const fields = { indoor_temperature: 'FLOAT', outdoor_temperature: 'FLOAT' };
    const object = {
      indoor: [{ ts: ONE, temperature: 20 }],
      outdoor: [{ ts: ONE, temperature: 5, humidity: 60 }],
    };
    const { answer, values, id } = await uplinkOf(object, null, fields);
    expect(answer.body).toEqual({ stored: 2, rejected: 1 });
    expect([await values('indoor_temperature'), await values('outdoor_temperature')]).toEqual([
      [[ONE, 20]],
      [[ONE, 5]],
    ]);
    expect(await suggested(id)).toEqual(['humidity']);
  });

  test('a date and a time of day are one time; places, units and Cayenne stand in records as elsewhere', async () => {
    const fields = { temperature: 'FLOAT', place: 'GEOLOCATION', temperature_1: 'FLOAT' };
    const [date, clock] = [iso(ONE).slice(0, 10), iso(ONE).slice(11, 19)];
    const object = {
      log: [{ date, time: clock, temperature: { value: 4, unit: 'C' }, place: { latitude: 1, longitude: 2 } }],
    };
    const { answer, values } = await uplinkOf(object, null, fields);
    expect(answer.body).toEqual({ stored: 2, rejected: 0 });
    expect([await values(), await values('place')]).toEqual([[[ONE, 4]], [[ONE, '(1,2)']]]);
  });

  test('a record in a history without a time is refused, and does not stand in for the present', async () => {
    const object = {
      temperature: 3,
      history: [
        { timestamp: null, temperature: 1 },
        { timestamp: ONE, temperature: 2 },
      ],
    };
    const { answer, values, id } = await uplinkOf(object, null);
    expect(answer.body).toEqual({ stored: 2, rejected: 1 });
    expect((await values()).map(([, value]) => value)).toEqual([2, 3]);
    const refused = (await callsOf(server, id))[0]!.run!.entries.find(({ code }) => code !== null);
    expect(refused).toMatchObject({ code: 'INVALID_TIMESTAMP', message: expect.stringContaining('"history"') });
  });

  test('a time that cannot be one is refused with what was sent', async () => {
    const { answer, id } = await uplinkOf(
      {
        history: [
          { timestamp: 5, temperature: 1 },
          { timestamp: 'noon', temperature: 1 },
        ],
      },
      null,
    );
    expect(answer.body.rejected).toBeGreaterThan(0);
    const { entries } = (await callsOf(server, id))[0]!.run!;
    expect(entries[1]).toMatchObject({ code: 'INVALID_TIMESTAMP', message: expect.stringContaining('noon') });
  });

  test('what is no moment stays a value where the product has a field of it', async () => {
    const fields = { schedule_0_time: 'FLOAT', schedule_0_on: 'BOOLEAN' };
    const { answer } = await uplinkOf({ schedule: [{ time: 480, on: true }] }, null, fields);
    expect(answer.body).toEqual({ stored: 2, rejected: 0 });
  });

  test('a list of neither entries nor records is told what was expected', async () => {
    const { id } = await uplinkOf([{ temperature: 1 }, { temperature: 2 }], null);
    const [call] = await callsOf(server, id);
    expect(call!.run!.entries[0]).toMatchObject({
      code: 'INVALID_ENTRY',
      message: expect.stringMatching(/entry \{field, value, timestamp\?\} or a record.*not \{"temperature":1\}/),
    });
  });

  test("a webhook's decoder may return records that name their device", async () => {
    const decoder = `function Decoder() { return [
      { device: 'r1', ts: ${ONE * 1000}, values: { temperature: 1 } },
      { device: 'r2', timestamp: '${iso(TWO)}', temperature: 2 },
      { device: 'r1', field: 'temperature', value: 3, timestamp: ${TWO} },
      { device: 'r1', temperature: 4 } ] }`;
    const product = await createProduct(server, { serialNumbers: ['r1', 'r2'], input: { decoder } });
    expect((await callWebhook(server, product, { body: '' })).body).toEqual({ stored: 3, rejected: 1 });
    const [one, two] = product.deviceIds as [string, string];
    expect(await historyOf(server, one, 'temperature')).toEqual([
      [ONE, 1],
      [TWO, 3],
    ]);
    expect(await historyOf(server, two, 'temperature')).toEqual([[TWO, 2]]);
    const refused = (await callsOf(server, product.id))[0]!.run!.entries.at(-1);
    expect(refused).toMatchObject({ code: 'INVALID_ENTRY', message: expect.stringContaining('a record {device,') });
  });

  describe('bare numbers', () => {
    const BYTES = Array.from({ length: 51 }, (_, byte) => byte);

    test('a payload that was handed through as it came is not decoded: one hint, nothing suggested', async () => {
      for (const object of [{ bytes: BYTES }, { bytes: [1, 2] }, { measured: BYTES.map((byte) => byte * 1.5) }]) {
        const { answer, id } = await uplinkOf(object, null);
        expect([answer.status, answer.body]).toEqual([202, { stored: 0, rejected: 0, error: 'NO_DECODER' }]);
        expect(await suggested(id)).toEqual([]);
        const { product } = await server.gql<any>(
          'query ($id: ID!) { product(id: $id) { calls(first: 1) { edges { node { reason } } } } }',
          { id },
        );
        expect(product.calls.edges[0].node.reason).toContain('set a decoder');
      }
    });

    test('beside values it is told once', async () => {
      const { answer, id, values } = await uplinkOf({ bytes: BYTES, temperature: 7 }, null);
      expect(answer.body).toEqual({ stored: 1, rejected: 1 });
      expect((await values()).map(([, value]) => value)).toEqual([7]);
      expect(await suggested(id)).toEqual([]);
    });

    test('short vectors, and lists of which the product has fields, are values', async () => {
      const vector = await uplinkOf({ x: [1, 2, 3] }, null, { x_0: 'FLOAT', x_1: 'FLOAT', x_2: 'FLOAT' });
      expect(vector.answer.body).toEqual({ stored: 3, rejected: 0 });
      const known = await uplinkOf({ bytes: BYTES }, null, { bytes_0: 'FLOAT', bytes_50: 'FLOAT' });
      expect(known.answer.body.stored).toBe(2);
      expect(await latestOf(server, known.deviceIds[0]!)).toEqual({ bytes_0: 0, bytes_50: 50 });
    });
  });
});
