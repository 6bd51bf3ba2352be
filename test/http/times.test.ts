import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { callWebhook, historyOf, saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, readAnswer, type RestAnswer, startServer, type TestProduct } from '../support/server.ts';
import type { TestServer } from '../support/server.ts';

const NEXT_SECOND = Date.parse('2017-01-01T00:00:00Z') / 1000;
const DAY = 86_400;
const now = (): number => Math.floor(Date.now() / 1000);

describe('times at every door', () => {
  let server: TestServer;
  let product: TestProduct;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    product = await createProduct(server, { fields: { t: 'FLOAT' }, serialNumbers: ['clock'] });
    [device] = product.deviceIds as [string];
  });

  const times = async (): Promise<number[]> => (await historyOf(server, device, 't')).map(([seconds]) => seconds);
  const record = (timestamp: unknown): Promise<RestAnswer> =>
    server.record(device, [{ field: 't', value: 1, timestamp }]);
  const importText = async (body: string, type = 'text/csv'): Promise<RestAnswer> =>
    readAnswer(
      await fetch(`${server.url}/v1/devices/${device}/import`, {
        method: 'POST',
        headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': type },
        body,
      }),
    );
  const importTime = (time: string): Promise<RestAnswer> => importText(`timestamp,t\n"${time}",1\n`);
  /** What a decoder's entry with this time, a JavaScript expression, becomes. */
  const decode = async (time: string): Promise<{ code: string | null; message: string; timestamp: string | null }> => {
    const source = `function Decoder() { return [{ device: 'clock', field: 't', value: 1, timestamp: ${time} }]; }`;
    return (await tried(source))[0]!;
  };
  const tried = async (source: string): Promise<any[]> => {
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $source: String!) { testDecoder(productId: $id, source: $source, request: {}) {
         error { message } entries { code message timestamp notice } } }`,
      { id: product.id, source },
    );
    expect(testDecoder.error).toBeNull();
    return testDecoder.entries;
  };
  const recordMeasurements = async (timestamp: string): Promise<any> =>
    (
      await server.gql(
        `mutation ($id: ID!, $entries: [EntryInput!]!) { recordMeasurements(deviceId: $id, entries: $entries) {
           stored rejected { code message } ahead { values seconds message } } }`,
        { id: device, entries: [{ field: 't', value: 1, timestamp }] },
      )
    ).recordMeasurements;

  describe.each([
    [5, /before 2000: is the device's clock right\?.* since the device started/],
    [0, /before 2000: is the device's clock right/],
    [46_346.5, /before 2000.* spreadsheet.*1795176000/],
    [46_346, /spreadsheet.*1795132800/],
    [12.3, /before 2000.* time of day/],
    [20_261_120, /date written in digits.*1795132800/],
    [2_026_112_012, /date written in digits.*1795176000/],
    [20_261_120_120_000, /date written in digits.*1795176000/],
    [1_795_176, /divided by 1,000.*1795176000/],
    [847_000_000, /before 2000.* seconds since 2000.*1793684800/],
    [1_795_176_000_000_000, /microseconds.*1795176000/],
    [1_795_176_000_000_000_000, /nanoseconds.*1795176000/],
    [-1, /before 1970/],
  ])('the number %s', (number, message) => {
    test.each(['number', 'text'])('as a %s is refused, showing it', async (kind) => {
      const sent = kind === 'text' ? String(number) : number;
      const shown = kind === 'text' ? `"${number}"` : String(number);
      if (kind === 'text' && number < 0) return;
      const { body } = await record(sent);
      expect(body.rejected).toMatchObject([{ code: 'INVALID_TIMESTAMP' }]);
      const outcome = await decode(JSON.stringify(sent));
      const line = JSON.stringify({ timestamp: sent, t: 1 });
      const imported = await importText(`${line}\n`, 'application/x-ndjson');
      expect(imported.body).toMatchObject({ stored: 0, refused: 1 });
      for (const refusal of [body.rejected[0], outcome, imported.body.rejected[0]]) {
        expect(refusal).toMatchObject({ code: 'INVALID_TIMESTAMP', message: expect.stringMatching(message) });
        // What a double does not hold exactly is read as text.
        expect(refusal.message.replace(number > 2 ** 53 ? /(?<=^"timestamp" )"(\d+)"/ : '', '$1')).toContain(
          `"timestamp" ${number > 2 ** 53 ? number : shown}`,
        );
      }
      expect(imported.body.rejected[0].message).not.toMatch(/send Unix seconds/);
      expect(await times()).toEqual([]);
    });
  });

  test('milliseconds are for imports alone; elsewhere the seconds are told', async () => {
    for (const refusal of [(await record(1_795_176_000_250)).body.rejected[0], await decode('1795176000250')])
      expect(refusal).toMatchObject({
        code: 'INVALID_TIMESTAMP',
        message: '"timestamp" 1795176000250 looks like milliseconds; send Unix seconds: 1795176000.25.',
      });
    expect((await importTime('1795176000250')).body).toMatchObject({ stored: 1 });
    expect(await times()).toEqual([1_795_176_000.25]);
  });

  test('the first moment of 2000 is taken, and not the one before', async () => {
    const first = Date.UTC(2000, 0, 1) / 1000;
    expect((await record(first)).status).toBe(200);
    expect((await record(first - 0.001)).body.rejected).toMatchObject([{ code: 'INVALID_TIMESTAMP' }]);
    expect(await decode("'2000-01-01T00:00:00Z'")).toMatchObject({ code: null });
    expect(await decode("'1999-12-31T23:59:59.999Z'")).toMatchObject({ code: 'INVALID_TIMESTAMP' });
    expect(await recordMeasurements('1999-12-31T23:59:59.999Z')).toMatchObject({
      stored: 0,
      rejected: [
        { code: 'INVALID_TIMESTAMP', message: expect.stringMatching(/1999-12-31T23:59:59.999Z" is before 2000/) },
      ],
    });
  });

  test.each([
    ["'now'", /not "now"\. Leave it out/],
    ["''", /not ""\. Leave it out/],
    ["new Date('20.11.2026 12:00')", /not an invalid Date/],
    ["'2026-5-1 2:34:15'", /not "2026-5-1 2:34:15"\. Write it as "2026-05-01T02:34:15"/],
    ["'20.11.2026 12:00'", /not "20\.11\.2026 12:00"\. Write year, month and day/],
    ['NaN', /not NaN/],
    ['({})', /not an object/],
  ])('a decoder that gives %s is told what it may give', async (time, message) => {
    const outcome = await decode(time);
    expect(outcome).toMatchObject({ code: 'INVALID_TIMESTAMP', message: expect.stringMatching(message) });
    expect(outcome.message).toMatch(/Unix seconds, an ISO 8601 text .*, or a Date/);
  });

  test('a Date made of seconds is told from a clock that is wrong', async () => {
    expect(await decode('new Date(1795176)')).toMatchObject({
      code: 'INVALID_TIMESTAMP',
      message: expect.stringMatching(/1970-01-01T00:29:55.176Z" is before 2000/),
    });
    expect((await decode('new Date(1795176000)')).message).toMatch(/multiply Unix seconds by 1,000/);
    expect(await decode('new Date(1795176000000)')).toMatchObject({
      code: null,
      timestamp: '2026-11-20T12:00:00.000Z',
    });
  });

  test.each([
    ['2021-02-30T00:00:00Z', /2021-02 has no day 30/],
    ['2021-02-29', /2021-02 has no day 29/],
    ['2021-04-31T12:00+01:00', /2021-04 has no day 31/],
    ['20210431T120000Z', /no day 31/],
    ['2021-13-01', /no month 13/],
    ['2021-01-01T25:00Z', /no time 25:00/],
    ['2021-01-01T12:60Z', /no time 12:60/],
    ['2021-01-01T12:00+24:00', /no zone \+24:00/],
    ['2021-01-01T12:00:60Z', /leap second/],
    ['2021-11-20T23:59:60Z', /leap second/],
  ])('%s is no time at any door', async (text, message) => {
    const refusals = [await decode(JSON.stringify(text)), (await importTime(text)).body.rejected[0]];
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'INVALID_TIMESTAMP', message: expect.stringMatching(message) });
      expect(refusal.message).toContain(`"${text}"`);
    }
    expect((await record(text)).body.rejected).toMatchObject([{ code: 'INVALID_TIMESTAMP' }]);
  });

  test.each([
    ['2016-12-31T23:59:60Z', NEXT_SECOND],
    ['20161231T235960Z', NEXT_SECOND],
    ['2016-12-31T18:59:60.25-05:00', NEXT_SECOND + 0.25],
    ['20161231T190000-0500', NEXT_SECOND],
    ['20170101T0000', NEXT_SECOND],
    ['2016-12-31T24:00:00Z', NEXT_SECOND],
    ['2017-01-01t00:00:00,123456789z', NEXT_SECOND + 0.123],
    ['2017-01-01 01:00 +01', NEXT_SECOND],
    ['2017-01-01 00:00:00 UTC', NEXT_SECOND],
  ])('%s is a time in decoders and imports', async (text, seconds) => {
    const expected = new Date(seconds * 1000).toISOString();
    expect(await decode(JSON.stringify(text))).toMatchObject({ code: null, timestamp: expected });
    expect((await importTime(text)).body).toMatchObject({ stored: 1 });
    expect(await times()).toEqual([seconds]);
  });

  test('an import takes ISO texts from 1970 on, which a clock does not say', async () => {
    expect((await importTime('1985-10-26T01:21:00Z')).body).toMatchObject({ stored: 1 });
    expect((await importTime('1970-01-01')).body).toMatchObject({ stored: 1 });
    expect(await times()).toEqual([0, 499_137_660]);
    expect((await importTime('1950-01-01T00:00:00Z')).body.rejected).toMatchObject([
      { code: 'INVALID_TIMESTAMP', message: '"timestamp" "1950-01-01T00:00:00Z" is before 1970.' },
    ]);
    expect((await importTime('')).body.rejected[0].message).toMatch(
      /must be ISO 8601 .* epoch seconds or milliseconds/,
    );
  });

  test('an ISO text at the record endpoint is told in Unix seconds', async () => {
    expect((await record('2026-11-20T12:00:00Z')).body.rejected[0].message).toMatch(
      /must be Unix seconds .*"2026-11-20T12:00:00Z"\. That is 1795176000 in Unix seconds/,
    );
  });

  test('a time too far ahead is refused as it was sent', async () => {
    const far = now() + 2 * DAY;
    const iso = new Date(far * 1000).toISOString();
    expect((await record(String(far))).body.rejected[0]).toMatchObject({
      code: 'TIMESTAMP_IN_FUTURE',
      message: expect.stringContaining(`"${far}" is ${iso}, too far ahead of the server's clock`),
    });
    for (const refusal of [await decode(JSON.stringify(iso)), (await importTime(iso)).body.rejected[0]])
      expect(refusal).toMatchObject({ code: 'TIMESTAMP_IN_FUTURE', message: expect.stringContaining(`"${iso}"`) });
    expect((await recordMeasurements(iso)).rejected).toMatchObject([{ code: 'TIMESTAMP_IN_FUTURE' }]);
  });

  describe('ahead of now', () => {
    let at: number;
    beforeEach(() => {
      at = now() + 20 * 3600;
    });
    const AHEAD = {
      values: 1,
      seconds: expect.closeTo(72_000, -2),
      message: expect.stringMatching(/1 value is (?:20 h|19 h 59 min) ahead/),
    };

    test('the record endpoint tells it, with 200 and 207, and says nothing otherwise', async () => {
      expect(await record(at)).toMatchObject({ status: 200, body: { stored: 1, rejected: [], ahead: AHEAD } });
      const { status, body } = await server.record(device, [
        { field: 't', value: 2, timestamp: at },
        { field: 't', value: 3, timestamp: at + 1 },
        { field: 'no', value: 1 },
      ]);
      expect(status).toBe(207);
      expect(body).toMatchObject({ stored: 2, ahead: { values: 2, message: expect.stringMatching(/2 values/) } });
      expect((await record(now())).body).toEqual({ stored: 1, rejected: [] });
      expect((await record(undefined)).body).toEqual({ stored: 1, rejected: [] });
      expect((await record(now() + 2)).body).toEqual({ stored: 1, rejected: [] });
    });

    test('a webhook, the test tool, an import and recordMeasurements tell it', async () => {
      const source = `function Decoder(request) {
        return [{ device: 'clock', field: 't', value: 1, timestamp: +request.body }];
      }`;
      await saveDecoder(server, product.id, source);
      const answered = await callWebhook(server, product, { body: String(at) });
      expect(answered.body).toMatchObject({ stored: 1, rejected: 0, ahead: AHEAD });
      expect((await callWebhook(server, product, { body: String(now()) })).body).toEqual({ stored: 1, rejected: 0 });
      expect((await tried(source.replace('+request.body', String(at))))[0]).toMatchObject({
        code: null,
        notice: expect.stringMatching(/(?:20 h|19 h 59 min) ahead of the server's clock/),
      });
      expect((await importTime(String(at))).body).toMatchObject({ stored: 1, ahead: AHEAD });
      expect((await importTime(String(now()))).body).not.toHaveProperty('ahead');
      expect(await recordMeasurements(new Date(at * 1000).toISOString())).toMatchObject({ stored: 1, ahead: AHEAD });
      expect(await recordMeasurements(new Date().toISOString())).toEqual({ stored: 1, rejected: [], ahead: null });
    });
  });

  describe('a text without a zone', () => {
    const setZone = (timeZone: string | null): Promise<unknown> =>
      server.gql('mutation ($id: ID!, $z: String) { updateProduct(id: $id, input: { timeZone: $z }) { timeZone } }', {
        id: product.id,
        z: timeZone,
      });

    test('is UTC, and the test tool says so', async () => {
      expect(await decode("'2026-11-20 12:00:00'")).toMatchObject({
        code: null,
        timestamp: '2026-11-20T12:00:00.000Z',
        notice: 'The time names no zone: read as UTC.',
      });
      expect(await decode("'2026-11-20T12:00:00Z'")).toMatchObject({ code: null, notice: null });
      expect(await decode('1795176000')).toMatchObject({ code: null, notice: null });
    });

    test('is in the zone of the product, if it has one, in decoders and imports', async () => {
      await setZone('Europe/Berlin');
      expect(await decode("'2026-11-20 12:00:00'")).toMatchObject({
        timestamp: '2026-11-20T11:00:00.000Z',
        notice: 'The time names no zone: read as Europe/Berlin.',
      });
      expect(await decode("'2026-07-20'")).toMatchObject({ timestamp: '2026-07-19T22:00:00.000Z' });
      expect(await decode("'2026-11-20T12:00:00+05:00'")).toMatchObject({ timestamp: '2026-11-20T07:00:00.000Z' });
      expect(await decode('1795176000')).toMatchObject({ timestamp: '2026-11-20T12:00:00.000Z' });
      expect((await importTime('20261120T120000')).body).toMatchObject({ stored: 1 });
      expect(await times()).toEqual([1_795_172_400]);
      await setZone(null);
      expect(await decode("'2026-11-20 12:00:00'")).toMatchObject({ timestamp: '2026-11-20T12:00:00.000Z' });
    });

    test.each([
      // Put forward at 02:00 to 03:00, and back at 03:00 to 02:00.
      ['2026-03-29T01:59:59', '2026-03-29T00:59:59.000Z'],
      ['2026-03-29T02:30:00', '2026-03-29T01:30:00.000Z'],
      ['2026-03-29T03:00:00', '2026-03-29T01:00:00.000Z'],
      ['2026-10-25T01:59:59', '2026-10-24T23:59:59.000Z'],
      ['2026-10-25T02:30:00', '2026-10-25T00:30:00.000Z'],
      ['2026-10-25T03:00:00', '2026-10-25T02:00:00.000Z'],
    ])('%s in Berlin is %s', async (text, moment) => {
      await setZone('Europe/Berlin');
      expect(await decode(`'${text}'`)).toMatchObject({ code: null, timestamp: moment });
    });
  });
});
