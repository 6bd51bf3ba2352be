import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const FIELDS = {
  temperature: 'FLOAT',
  count: 'INTEGER',
  on: 'BOOLEAN',
  label: 'STRING',
  place: 'GEOLOCATION',
  Temperature: 'FLOAT',
};

describe.each(DATABASES)('recording on %s (CONTRACT 3)', (database) => {
  let server: TestServer;
  let product: TestProduct;
  let device: string;

  beforeAll(async () => {
    server = await startServer({ database });
    product = await createProduct(server, { fields: FIELDS, serialNumbers: ['alpha', 'a/b c', 'beta'] });
    device = product.deviceIds[0]!;
  });
  afterAll(() => server.stop());

  /** Raw values of a field, oldest first, as [milliseconds, value]. */
  async function values(field: string, id = device): Promise<[number, unknown][]> {
    const { device: found } = await server.gql(
      `query ($id: ID!, $field: String!) { device(id: $id) { measurements(field: $field, first: 500) {
         edges { node { timestamp value } } } } }`,
      { id, field },
    );
    return found.measurements.edges.map(({ node }: any) => [Date.parse(node.timestamp), node.value]);
  }

  async function valueAt(field: string, seconds: number): Promise<unknown> {
    return (await values(field)).find(([ms]) => ms === Math.round(seconds * 1000))?.[1];
  }

  test('the counts stand in headers too, whatever the answer', async () => {
    const counts = async (body: unknown, options = {}): Promise<[number, string | null, string | null]> => {
      const { status, headers } = await server.record(device, body, options);
      return [status, headers.get('inlet-stored'), headers.get('inlet-rejected')];
    };
    const good = { field: 'temperature', value: 1, timestamp: 1_700_000_001 };
    expect(await counts([good, { ...good, timestamp: 1_700_000_002 }])).toEqual([200, '2', '0']);
    expect(await counts([good, { field: 'no', value: 1 }, {}])).toEqual([207, '1', '2']);
    expect(await counts([{ field: 'no', value: 1 }])).toEqual([400, '0', '1']);
    expect(await counts('no JSON')).toEqual([400, '0', '0']);
    expect((await counts([good], { token: null }))[0]).toBe(401);
  });

  test('every entry stored answers 200 with the count, and the values are there at once', async () => {
    const answer = await server.record(device, [
      { field: 'temperature', value: 21.5, timestamp: 1_700_001_000 },
      { field: 'label', value: 'hall', timestamp: 1_700_001_000, unknownKey: { ignored: true } },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.body).toEqual({ stored: 2, rejected: [] });
    expect(await valueAt('temperature', 1_700_001_000)).toBe(21.5);
    expect(await valueAt('label', 1_700_001_000)).toBe('hall');
  });

  test('an empty array stores nothing and answers 200', async () => {
    expect(await server.record(device, [])).toMatchObject({ status: 200, body: { stored: 0, rejected: [] } });
  });

  test('one entry object is as good as an array of one', async () => {
    const answer = await server.record(
      device,
      { field: 'temperature', value: 7, timestamp: 1_700_001_001 },
      { query: '' },
    );
    expect(answer).toMatchObject({ status: 200, body: { stored: 1 } });
    expect(await valueAt('temperature', 1_700_001_001)).toBe(7);
  });

  test.each([
    ['without the final slash', `record?batch=TRUE`],
    ['with it', `record/?batch=true`],
    ['without a query', `record/`],
    ['with odd queries', `record/?batch=maybe&x=%zz`],
  ])('the path works %s, without a redirect', async (_, end) => {
    const response = await fetch(`${server.url}/v1/devices/${device}/${end}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { Authorization: `Token ${server.adminToken}` },
      body: '[]',
    });
    expect(response.status).toBe(200);
  });

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'nonsense', 'multipart/form-data; boundary=x'])(
    'content type %s is no error as long as the body is JSON',
    async (type) => {
      const answer = await server.record(device, [{ field: 'count', value: 1, timestamp: 1_700_001_002 }], {
        headers: { 'Content-Type': type },
      });
      expect(answer.status).toBe(200);
    },
  );

  test('a device may be named by its serial number, percent-encoded where needed', async () => {
    expect((await server.record('alpha', { field: 'temperature', value: 1, timestamp: 1_700_001_003 })).status).toBe(
      200,
    );
    expect(await valueAt('temperature', 1_700_001_003)).toBe(1);
    expect((await server.record('a/b c', { field: 'temperature', value: 1, timestamp: 1_700_001_003 })).status).toBe(
      200,
    );
    expect((await server.record('ALPHA', [])).status).toBe(404);
    expect((await server.record(device.toUpperCase(), [])).status).toBe(200);
  });

  test('a serial number that several visible devices have answers 409 AMBIGUOUS_DEVICE', async () => {
    const other = await createProduct(server, { serialNumbers: ['twin'] });
    expect((await server.record('twin', [])).status).toBe(200);
    await createProduct(server, { serialNumbers: ['twin'] });
    expect(await server.record('twin', [])).toMatchObject({ status: 409, body: { code: 'AMBIGUOUS_DEVICE' } });
    expect((await server.record(other.deviceIds[0]!, [])).status).toBe(200);
  });

  test.each([
    ['FLOAT', 'temperature', 1.5, 1.5],
    ['FLOAT', 'temperature', -0, 0],
    ['FLOAT', 'temperature', '12.25', 12.25],
    ['FLOAT', 'temperature', ' -1e3 ', -1000],
    ['FLOAT', 'temperature', true, 1],
    ['FLOAT', 'temperature', false, 0],
    ['FLOAT', 'temperature', 1.7976931348623157e308, 1.7976931348623157e308],
    ['FLOAT', 'temperature', 5e-324, 5e-324],
    ['INTEGER', 'count', 12, 12],
    ['INTEGER', 'count', '12', 12],
    ['INTEGER', 'count', 5.0, 5],
    ['INTEGER', 'count', true, 1],
    ['INTEGER', 'count', -9007199254740991, -9007199254740991],
    ['BOOLEAN', 'on', true, true],
    ['BOOLEAN', 'on', 0, false],
    ['BOOLEAN', 'on', '1', true],
    ['BOOLEAN', 'on', 'false', false],
    ['STRING', 'label', 'ü 🌡 "quoted"', 'ü 🌡 "quoted"'],
    ['STRING', 'label', '', ''],
    ['STRING', 'label', 12.5, '12.5'],
    ['STRING', 'label', false, 'false'],
    ['STRING', 'label', 'x'.repeat(4096), 'x'.repeat(4096)],
    ['STRING', 'label', '🌡'.repeat(4096), '🌡'.repeat(4096)],
    ['GEOLOCATION', 'place', '(59.9139,10.7522)', '(59.9139,10.7522)'],
    ['GEOLOCATION', 'place', ' ( -90 , 180 ) ', '(-90,180)'],
    ['GEOLOCATION', 'place', '51.4,6.9', '(51.4,6.9)'],
    ['GEOLOCATION', 'place', ' 51.4 , -0 ', '(51.4,0)'],
    ['BOOLEAN', 'on', 'True', true],
    ['BOOLEAN', 'on', 'FALSE', false],
  ])('%s field %s takes %j', async (_type, field, value, stored) => {
    const answer = await server.record(device, { field, value, timestamp: 1_700_002_000 });
    expect(answer.body).toEqual({ stored: 1, rejected: [] });
    expect(await valueAt(field, 1_700_002_000)).toBe(stored);
  });

  test.each([
    ['temperature', 'warm', 'INVALID_VALUE'],
    ['temperature', '', 'INVALID_VALUE'],
    ['temperature', '0x10', 'INVALID_VALUE'],
    ['temperature', 'NaN', 'INVALID_VALUE'],
    ['temperature', 'Infinity', 'INVALID_VALUE'],
    ['temperature', '1e400', 'INVALID_VALUE'],
    ['temperature', [1], 'INVALID_VALUE'],
    ['temperature', { a: 1 }, 'INVALID_VALUE'],
    ['temperature', null, 'MISSING_VALUE'],
    ['count', 1.5, 'INVALID_VALUE'],
    ['count', '1.5', 'INVALID_VALUE'],
    ['on', 2, 'INVALID_VALUE'],
    ['on', 'maybe', 'INVALID_VALUE'],
    ['label', 'a\0b', 'INVALID_VALUE'],
    ['label', 'x'.repeat(4097), 'INVALID_VALUE'],
    ['label', { toString: 'x' }, 'INVALID_VALUE'],
    ['place', '(91,0)', 'INVALID_VALUE'],
    ['place', '(0,180.1)', 'INVALID_VALUE'],
    ['place', '(1,2', 'INVALID_VALUE'],
    ['place', '1,2)', 'INVALID_VALUE'],
    ['on', 'truely', 'INVALID_VALUE'],
    ['place', 5, 'INVALID_VALUE'],
    ['unknown', 1, 'UNKNOWN_FIELD'],
    ['TEMPERATURE', 1, 'UNKNOWN_FIELD'],
    ['__proto__', 1, 'UNKNOWN_FIELD'],
    ['constructor', 1, 'UNKNOWN_FIELD'],
  ])('field %s refuses %j with %s', async (field, value, code) => {
    const answer = await server.record(device, [{ field, value, timestamp: 1_700_003_000 }]);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.body).toMatchObject({ status: 400, stored: 0, rejected: [{ index: 0, field, code }] });
    expect(answer.body.rejected[0].message.length).toBeGreaterThan(10);
  });

  test.each([
    [1_700_000_000, 1_700_000_000_000],
    [1_700_000_000.1234, 1_700_000_000_123],
    [1_700_000_000.1239, 1_700_000_000_124],
    ['1700000001', 1_700_000_001_000],
    ['1700000001.5', 1_700_000_001_500],
    [946_684_800, 946_684_800_000],
  ])('timestamp %j is Unix seconds with millisecond resolution', async (timestamp, ms) => {
    await server.record(device, [{ field: 'Temperature', value: 5, timestamp }]);
    expect((await values('Temperature')).map(([at]) => at)).toContain(ms);
  });

  test.each([
    [1_700_000_000_000, 'INVALID_TIMESTAMP', /milliseconds/],
    [1e11, 'INVALID_TIMESTAMP', /milliseconds/],
    [-1, 'INVALID_TIMESTAMP', /1970/],
    [0, 'INVALID_TIMESTAMP', /before 2000/],
    ['yesterday', 'INVALID_TIMESTAMP', /Unix seconds/],
    ['2026-01-01T00:00:00Z', 'INVALID_TIMESTAMP', /Unix seconds/],
    [true, 'INVALID_TIMESTAMP', /Unix seconds/],
    [{}, 'INVALID_TIMESTAMP', /Unix seconds/],
    [Math.floor(Date.now() / 1000) + 90_000, 'TIMESTAMP_IN_FUTURE', /clock/],
  ])('timestamp %j is refused with %s', async (timestamp, code, message) => {
    const answer = await server.record(device, [{ field: 'temperature', value: 1, timestamp }]);
    expect(answer).toMatchObject({ status: 400, body: { rejected: [{ code }] } });
    expect(answer.body.rejected[0].message).toMatch(message);
  });

  test('a list in place of an entry is INVALID_ENTRY, saying so', async () => {
    const answer = await server.record(device, [[1], null, 3]);
    expect(answer.body.rejected.map(({ code }: { code: string }) => code)).toEqual(Array(3).fill('INVALID_ENTRY'));
    expect(answer.body.rejected[0].message).toContain('not an array');
  });

  test('NUL characters at the end are ignored; NaN and Infinity as Python writes them cost that entry only', async () => {
    expect(
      await server.record(device, '[{"field":"temperature","value":1,"timestamp":1700004000}]\r\n\0\0'),
    ).toMatchObject({
      status: 200,
      body: { stored: 1 },
    });
    const entry = (value: string, at: number): string =>
      `{"field": "temperature", "value": ${value}, "timestamp": ${at}}`;
    const body = `[${entry('NaN', 1_700_004_001)}, ${entry('4', 1_700_004_002)}, ${entry('-Infinity', 1_700_004_003)}, ${entry('Infinity', 1_700_004_004)},
      {"field": "label", "value": "a NaN, \\"Infinity\\" and - NaN", "timestamp": 1700004002}, ${entry('1', Number.NaN)}]\0`;
    const answer = await server.record(device, body);
    expect(answer).toMatchObject({ status: 207, body: { stored: 2 } });
    expect(answer.body.rejected.map(({ index, code }: { index: number; code: string }) => [index, code])).toEqual([
      [0, 'INVALID_VALUE'],
      [2, 'INVALID_VALUE'],
      [3, 'INVALID_VALUE'],
      [5, 'INVALID_TIMESTAMP'],
    ]);
    expect(await valueAt('label', 1_700_004_002)).toBe('a NaN, "Infinity" and - NaN');
    for (const wrong of ['[NaN', 'NaNa', '[-]', '[Infinit]', '\0[]', '[1]x\0', 'NaN'])
      expect((await server.record(device, wrong)).status).toBe(400);
    expect((await server.record(device, ' '.repeat(500_000) + 'x' + '\0'.repeat(500_000))).status).toBe(400);
  });

  test('entries without a timestamp all get one and the same receipt time', async () => {
    const before = Date.now();
    await server.record('beta', [
      { field: 'temperature', value: 1 },
      { field: 'count', value: 2, timestamp: null },
    ]);
    const [[first]] = (await values('temperature', product.deviceIds[2])) as [[number, unknown]];
    const [[second]] = (await values('count', product.deviceIds[2])) as [[number, unknown]];
    expect(first).toBe(second);
    expect(first).toBeGreaterThanOrEqual(before);
    expect(first).toBeLessThanOrEqual(Date.now());
  });

  test('valid entries are stored although others are refused: 207 with an outcome for each', async () => {
    const answer = await server.record(device, [
      { field: 'temperature', value: 1, timestamp: 1_700_004_000 },
      'text',
      null,
      [1],
      { value: 1 },
      { field: 5, value: 1 },
      { field: 'nothing', value: 1 },
      { field: 'count', value: 3, timestamp: 1_700_004_000 },
    ]);
    expect(answer.status).toBe(207);
    expect(answer.body.stored).toBe(2);
    expect(answer.body.rejected.map(({ index, code }: any) => [index, code])).toEqual([
      [1, 'INVALID_ENTRY'],
      [2, 'INVALID_ENTRY'],
      [3, 'INVALID_ENTRY'],
      [4, 'INVALID_ENTRY'],
      [5, 'INVALID_ENTRY'],
      [6, 'UNKNOWN_FIELD'],
    ]);
    expect(await valueAt('count', 1_700_004_000)).toBe(3);
  });

  test('writing a key again replaces the value, within one request too', async () => {
    await server.record(device, { field: 'temperature', value: 1, timestamp: 1_700_005_000 });
    await server.record(device, [
      { field: 'temperature', value: 2, timestamp: 1_700_005_000 },
      { field: 'temperature', value: 3, timestamp: 1_700_005_000 },
    ]);
    expect((await values('temperature')).filter(([ms]) => ms === 1_700_005_000_000)).toEqual([[1_700_005_000_000, 3]]);
  });

  test('text in the charset that the content type declares is read in it', async () => {
    const send = async (timestamp: number, type: string): Promise<unknown> => {
      const body = Buffer.from(`[{"field":"label","value":"Tür","timestamp":${timestamp}}]`, 'latin1');
      const { status } = await server.record(device, body, { headers: { 'Content-Type': type } });
      return status === 200 ? valueAt('label', timestamp) : status;
    };
    expect(await send(1_700_006_001, 'application/json; charset=ISO-8859-1')).toBe('Tür');
    expect(await send(1_700_006_002, 'application/json; charset=klingon')).toBe(400);
    // Many declare what they do not send.
    for (const [i, charset] of ['utf-16', 'us-ascii', 'ISO-8859-1'].entries()) {
      const body = `[{"field":"label","value":"Tür","timestamp":${1_700_006_003 + i}}]`;
      const headers = { 'Content-Type': `application/json; charset=${charset}` };
      expect((await server.record(device, body, { headers })).status).toBe(200);
      expect(await valueAt('label', 1_700_006_003 + i)).toBe('Tür');
    }
  });

  test('half of a surrogate pair is no character: its entry is refused, the others are stored', async () => {
    const answer = await server.record(
      device,
      `[{"field":"label","value":"a\\ud800b","timestamp":1700006000},{"field":"label","value":"c","timestamp":1700006010}]`,
    );
    expect(answer).toMatchObject({ status: 207, body: { rejected: [{ index: 0, code: 'INVALID_VALUE' }] } });
    expect(await valueAt('label', 1_700_006_010)).toBe('c');
  });

  test.each([
    ['a trailing line break', '[{"field":"count","value":8,"timestamp":1700007000}]\r\n', 200],
    ['a byte order mark', '\ufeff[{"field":"count","value":8,"timestamp":1700007000}]', 200],
    ['duplicate keys: the last counts', '[{"field":"x","field":"count","value":8,"timestamp":1700007000}]', 200],
    ['__proto__ as a key', '[{"__proto__":{"field":"count"},"value":8}]', 400],
    ['1e400', '[{"field":"temperature","value":1e400}]', 400],
    ['a deep nest', '['.repeat(100_000) + ']'.repeat(100_000), 400],
    ['a deep nest that never closes', '['.repeat(100_000), 400],
    ['one byte', '1', 400],
    ['a space', ' ', 400],
    ['nothing', '', 400],
    ['text', '"text"', 400],
    ['null', 'null', 400],
    ['single quotes', "[{'field':'count'}]", 400],
  ])('a body with %s answers as it should', async (_, body, status) => {
    const answer = await server.record(device, body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject(status === 200 ? { stored: 1 } : { stored: 0, status });
  });

  test.each([
    ['[{"field":"count","value":1},\n {"field":"count" "value":2}]', 2, 19],
    ['[1, 2', 1, 6],
    ['{"a":1}}', 1, 8],
    ['[tru]', 1, 2],
    ['["a\nb"]', 1, 2],
  ])('the error of %j says where', async (body, line, column) => {
    const answer = await server.record(device, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_JSON', line, column } });
    expect(answer.body.detail).toContain(`line ${line}, column ${column}`);
  });

  test('bodies over the limit answer 413 naming it, whether the length is announced or not', async () => {
    const small = await startServer({ database, env: { MAX_BODY_BYTES: '1000' } });
    try {
      const { deviceIds } = await createProduct(small);
      const url = `${small.url}/v1/devices/${deviceIds[0]}/record/`;
      const headers = { Authorization: `Token ${small.adminToken}` };
      const announced = await fetch(url, { method: 'POST', headers, body: ' '.repeat(100_000) });
      expect(announced.status).toBe(413);
      expect(await announced.json()).toMatchObject({ code: 'BODY_TOO_LARGE', limit: 1000, stored: 0 });
      const stream = new ReadableStream({
        start(controller) {
          for (let at = 0; at < 100; at += 1) controller.enqueue(new Uint8Array(1000));
          controller.close();
        },
      });
      const chunked = await fetch(url, { method: 'POST', headers, body: stream, duplex: 'half' } as RequestInit);
      expect(chunked.status).toBe(413);
      expect((await fetch(url, { method: 'POST', headers, body: '[]' })).status).toBe(200);
    } finally {
      await small.stop();
    }
  });

  test('10,000 entries are taken, 10,001 answer 413', async () => {
    const entries = Array.from({ length: 10_001 }, (_, at) => ({
      field: 'count',
      value: at,
      timestamp: 1_700_010_000 + at,
    }));
    expect(await server.record(device, entries)).toMatchObject({
      status: 413,
      body: { code: 'TOO_MANY_ENTRIES', limit: 10_000 },
    });
    expect(await server.record(device, entries.slice(0, 10_000))).toMatchObject({
      status: 200,
      body: { stored: 10_000 },
    });
  });

  test.each([
    ['no header', {}],
    ['an unknown token', { Authorization: 'Token nobody-knows-this-token-at-all-123' }],
    ['the scheme Basic', { Authorization: 'Basic dXNlcjpwYXNz' }],
    ['no scheme', { Authorization: 'test-admin-token-0123456789abcdefghijklmnop' }],
    ['an empty token', { Authorization: 'Token ' }],
  ])('%s answers 401 with WWW-Authenticate: Token', async (_, headers) => {
    const answer = await server.record(device, [], { token: null, headers: headers as Record<string, string> });
    expect(answer).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED', stored: 0, rejected: [] } });
    expect(answer.headers.get('www-authenticate')).toBe('Token');
  });

  test.each(['Token', 'token', 'TOKEN', 'Bearer', 'bearer'])('the scheme may be written %s', async (scheme) => {
    const headers = { Authorization: `${scheme}  ${server.adminToken}` };
    expect((await server.record(device, [], { token: null, headers })).status).toBe(200);
  });

  test.each([
    '../',
    '..%2f..%2f',
    'nobody',
    '00000000-0000-4000-8000-000000000000',
    '%00',
    "' OR 1=1 --",
    'x'.repeat(500),
  ])('device %s does not exist: 404', async (name) => {
    const response = await fetch(`${server.url}/v1/devices/${encodeURIComponent(name)}/record/`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}` },
      body: '[]',
    });
    expect(response.status).toBe(404);
    expect(((await response.json()) as any).code).toBe('NOT_FOUND');
  });

  test('other methods answer 405 with Allow', async () => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const response = await fetch(`${server.url}/v1/devices/${device}/record/`, { method });
      expect(response.status).toBe(405);
      expect(response.headers.get('allow')).toBe('POST');
    }
  });

  test('unknown identifiers become suggested fields, with guessed type, last value and count', async () => {
    const { id, deviceIds } = await createProduct(server);
    const send = (value: unknown): Promise<unknown> => server.record(deviceIds[0]!, [{ field: 'humidity', value }]);
    await send(40);
    await send(41.5);
    await server.record(deviceIds[0]!, [{ field: '温度', value: 1 }]);
    const { product: found } = await server.gql(
      'query ($id: ID!) { product(id: $id) { suggestedFields { identifier type lastValue seen lastSeenAt } } }',
      { id },
    );
    expect(found.suggestedFields).toMatchObject([{ identifier: 'humidity', type: 'FLOAT', lastValue: 41.5, seen: 2 }]);
    await server.gql('mutation ($id: ID!, $input: FieldInput!) { addField(productId: $id, input: $input) { id } }', {
      id,
      input: { identifier: 'humidity', type: 'FLOAT' },
    });
    expect(await send(42)).toMatchObject({ status: 200, body: { stored: 1 } });
    const after = await server.gql('query ($id: ID!) { product(id: $id) { suggestedFields { identifier } } }', { id });
    expect(after['product'].suggestedFields).toEqual([]);
  });
});
