import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  createProduct,
  DATABASES,
  EITHER_DATABASE,
  startServer,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';
import { callsOf, callWebhook, historyOf, latestOf, saveDecoder } from '../decoders/webhook-client.ts';

const ECHO = `function Decoder(request) {
  console.log(JSON.stringify(request));
  return [{ device: "d1", field: "T", value: request.body.length, timestamp: 1700000000 }];
}`;
const BODY_BYTES = 2000;

describe.each(DATABASES)('the incoming webhook on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({
      database,
      env: { MAX_BODY_BYTES: '10000', CALL_LOG_BODY_BYTES: String(BODY_BYTES), DECODER_TIMEOUT_MS: '200' },
    });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    product = await createProduct(server, {
      fields: { T: 'FLOAT', S: 'STRING' },
      serialNumbers: ['d1', 'd2'],
      input: { decoder: ECHO },
    });
  });

  /** For what is refused or read before the database is asked. */
  const isEither = EITHER_DATABASE.includes(database);
  const onEither = isEither ? test : () => {};

  test('answers 200 after log row and measurements are there', async () => {
    const answer = await callWebhook(server, product, { body: 'abc' });
    expect(answer).toMatchObject({ status: 200, body: { stored: 1, rejected: 0 } });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 3 });
    const [call] = await callsOf(server, product.id);
    expect(call).toMatchObject({
      method: 'POST',
      path: `/integrations/api/${product.webhookId}/`,
      query: {},
      body: 'abc',
      bodyTruncated: false,
      status: 'STORED',
      httpStatus: 200,
      decoderVersion: 1,
      run: { ok: true, error: null, entries: [{ index: 0, code: null, matchedDevice: { id: product.deviceIds[0] } }] },
    });
    expect(Math.abs(Date.parse(call!.receivedAt) - Date.now())).toBeLessThan(20_000);
  });

  test('one call for many devices, by serial number and by id', async () => {
    const decoder = `function Decoder(request) {
      var serials = Object.keys(deviceSerialToId);
      return serials.map(function (serial, at) {
        return { device: at % 2 ? serial : deviceSerialToId[serial].toUpperCase(), field: "T", value: Number(serial) };
      }).concat({ device: "600", field: "T", value: 1 });
    }`;
    const many = await createProduct(server, { fields: { T: 'FLOAT' }, serialNumbers: [], input: { decoder } });
    const ids: string[] = [];
    while (ids.length < 600) {
      const devices = Array.from({ length: 100 }, (_, at) => ({ name: 'one', serialNumber: String(ids.length + at) }));
      const { createDevices } = await server.gql<{ createDevices: { id: string }[] }>(
        'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id } }',
        { id: many.id, devices },
      );
      ids.push(...createDevices.map(({ id }) => id));
    }
    for (let times = 0; times < 2; times += 1)
      expect(await callWebhook(server, many, { body: '' })).toMatchObject({ body: { stored: 600, rejected: 1 } });
    for (const at of [0, 499, 500, 599]) expect(await latestOf(server, ids[at]!)).toEqual({ T: at });
  });

  onEither('the decoder sees path, query and headers as sent', async () => {
    await callWebhook(server, product, {
      method: 'POST',
      path: 'a%20b//c/?x=1&x=2&y=%C3%A9+z&flag',
      headers: { 'x-one': '1', 'content-type': 'application/x-www-form-urlencoded' },
      body: 'k=v&k=w',
    });
    const [call] = await callsOf(server, product.id);
    const seen = JSON.parse(call!.run!.console[0]!);
    expect(seen).toMatchObject({
      method: 'POST',
      path: `/integrations/api/${product.webhookId}/a%20b//c/`,
      body: 'k=v&k=w',
      GET: { x: ['1', '2'], y: ['é z'], flag: [''] },
      POST: { k: ['v', 'w'] },
    });
    expect(seen.headers).toMatchObject({ 'X-One': '1', 'Content-Type': 'application/x-www-form-urlencoded' });
    expect(call!.query).toEqual({ x: ['1', '2'], y: ['é z'], flag: [''] });
  });

  const paths = ['100%/x', '%zz', '%E0%A4%A', 'a;b=c/@:!$&()*+,', "it's", '//'];
  test.each(isEither ? paths : paths.slice(0, 1))('a sub-path like %s comes as sent', async (path) => {
    expect((await callWebhook(server, product, { path, body: 'x' })).status).toBe(200);
    expect((await callsOf(server, product.id))[0]!.path).toBe(`/integrations/api/${product.webhookId}/${path}`);
  });

  onEither('GET works, with and without the final slash, and its body is ""', async () => {
    for (const url of [product.webhookId, `${product.webhookId}/`, `${product.webhookId}?a=1`]) {
      const response = await fetch(`${server.url}/integrations/api/${url}`, { redirect: 'manual' });
      expect([response.status, await response.json()]).toEqual([200, { stored: 1, rejected: 0 }]);
    }
    const [call] = await callsOf(server, product.id);
    expect(JSON.parse(call!.run!.console[0]!)).toMatchObject({ method: 'GET', body: '', GET: { a: ['1'] }, POST: {} });
  });

  const others = ['PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
  test.each(isEither ? others : [])('%s is 405 with Allow, and not logged', async (method) => {
    const answer = await callWebhook(server, product, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe('GET, POST');
    expect(await callsOf(server, product.id)).toEqual([]);
  });

  test('an unknown id is 404 with a problem, also a shortened, lengthened or re-cased one', async () => {
    const { webhookId } = product;
    const swapped = webhookId.replace(/[a-z]/i, (c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()));
    for (const id of ['x', webhookId.slice(1), `${webhookId}x`, swapped, '%00', '..%2f..']) {
      const answer = await callWebhook(server, { webhookId: id }, { body: '1' });
      expect([answer.status, answer.body.code]).toEqual([404, 'NOT_FOUND']);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    }
    expect(await callsOf(server, product.id)).toEqual([]);
  });

  test('a rotated id stops at once and the new one works', async () => {
    const { rotateWebhook } = await server.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { webhookId } }', {
      id: product.id,
    });
    expect((await callWebhook(server, product, { body: '1' })).status).toBe(404);
    expect((await callWebhook(server, rotateWebhook, { body: '1' })).status).toBe(200);
  });

  test('without a decoder the call is kept: 202 NO_DECODER', async () => {
    const bare = await createProduct(server, { serialNumbers: [] });
    const answer = await callWebhook(server, bare, { body: 'kept' });
    expect(answer).toMatchObject({ status: 202, body: { stored: 0, rejected: 0, error: 'NO_DECODER' } });
    const [call] = await callsOf(server, bare.id);
    expect(call).toMatchObject({
      body: 'kept',
      status: 'NO_DECODER',
      httpStatus: 202,
      decoderVersion: null,
      run: null,
    });
  });

  const failures: [kind: string, source: string, line: number | null][] = [
    ['THREW', 'function Decoder() {\n  throw new Error("broken");\n}', 2],
    ['NO_DECODER_FUNCTION', 'var x = 1;', null],
    ['TIMEOUT', 'function Decoder() { for (;;); }', null],
    ['BAD_OUTPUT', 'function Decoder() { return 5; }', null],
  ];
  test.each(isEither ? failures : failures.slice(0, 1))(
    'a decoder that fails with %s: 202, kept with the failure',
    async (kind, source, line) => {
      await saveDecoder(server, product.id, source, true);
      const answer = await callWebhook(server, product, { body: 'kept' });
      expect(answer).toMatchObject({ status: 202, body: { stored: 0, rejected: 0, error: 'DECODER_FAILED' } });
      const [call] = await callsOf(server, product.id);
      expect(call).toMatchObject({ body: 'kept', status: 'DECODER_FAILED', httpStatus: 202, decoderVersion: 2 });
      expect(call!.run).toMatchObject({ ok: false, output: null, entries: [], error: { kind, ...(line && { line }) } });
    },
  );

  test('each entry has its own outcome and one bad entry loses no other', async () => {
    await saveDecoder(
      server,
      product.id,
      `function Decoder() { return [
        { device: "d1", field: "T", value: 1 }, { device: "d2", field: "S", value: "x" }, 5, null,
        { field: "T", value: 1 }, { device: "", field: "T", value: 1 }, { device: "d9", field: "T", value: 1 },
        { device: {}, field: "T", value: 1 }, { device: "d1", value: 1 }, { device: "d1", field: "NEW", value: 2.5 },
        { device: "d1", field: "T" }, { device: "d1", field: "T", value: NaN }, { device: "d1", field: "T", value: Infinity },
        { device: "d1", field: "S", value: {} }, { device: "d1", field: "S", value: [] }, { device: "d1", field: "T", value: 10n, timestamp: 1.7e9 },
        { device: "d1", field: "T", value: 1, timestamp: Date.now() }, { device: "d1", field: "T", value: 1, timestamp: 9e9 },
        { device: "d1", field: "T", value: 1, timestamp: "soon" } ]; }`,
    );
    const answer = await callWebhook(server, product, { body: '' });
    expect(answer).toMatchObject({ status: 200, body: { stored: 3, rejected: 15 } });
    const [call] = await callsOf(server, product.id);
    expect(call!.status).toBe('PARTLY_STORED');
    expect(call!.run!.entries.map(({ index, code }) => [index, code])).toEqual([
      [0, null],
      [1, null],
      [2, 'INVALID_ENTRY'],
      [4, 'MISSING_DEVICE'],
      [5, 'MISSING_DEVICE'],
      [6, 'UNKNOWN_DEVICE'],
      [7, 'UNKNOWN_DEVICE'],
      [8, 'INVALID_ENTRY'],
      [9, 'UNKNOWN_FIELD'],
      [10, 'MISSING_VALUE'],
      [11, 'INVALID_VALUE'],
      [12, 'INVALID_VALUE'],
      [13, 'INVALID_VALUE'],
      [14, 'INVALID_VALUE'],
      [15, null],
      [16, 'INVALID_TIMESTAMP'],
      [17, 'TIMESTAMP_IN_FUTURE'],
      [18, 'INVALID_TIMESTAMP'],
    ]);
    const shown = call!.run!.output as { value?: unknown }[];
    expect([shown[11]?.value, shown[12]?.value, shown[15]?.value]).toEqual(['NaN', 'Infinity', '10n']);
    // Without a timestamp all entries have the call's receipt time.
    const received = Date.parse(call!.receivedAt) / 1000;
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toEqual([
      [1.7e9, 10],
      [received, 1],
    ]);
    expect(await historyOf(server, product.deviceIds[1]!, 'S')).toEqual([[received, 'x']]);
  });

  test('a device is found by serial number, id or number, and only inside the product', async () => {
    const other = await createProduct(server, {
      fields: { T: 'FLOAT' },
      serialNumbers: ['4711'],
      input: { decoder: ECHO },
    });
    await saveDecoder(
      server,
      other.id,
      `function Decoder() { return [4711, "${other.deviceIds[0]}", "${product.deviceIds[0]}", "d1"].map((device, i) => ({ device, field: "T", value: i, timestamp: 1_700_000_000 + i })); }`,
    );
    await callWebhook(server, other, { body: '' });
    const [call] = await callsOf(server, other.id);
    expect(call!.run!.entries.map(({ code }) => code)).toEqual([null, null, 'UNKNOWN_DEVICE', 'UNKNOWN_DEVICE']);
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({});
  });

  onEither('one run tells all that is wrong with an entry: its device, its field or value, and its time', async () => {
    await saveDecoder(
      server,
      product.id,
      `function Decoder() { return [
        { device: "nobody", field: "AIR", value: 1, timestamp: "soon" },
        { device: "nobody", field: "T", value: "warm" },
        { device: "d1", field: "T", value: "warm", timestamp: "soon" },
        { device: "d1", field: "AIR", value: true } ]; }`,
    );
    await callWebhook(server, product, { body: '' });
    const [call] = await callsOf(server, product.id);
    const entries = call!.run!.entries as { code: string; message: string }[];
    expect(entries.map(({ code }) => code)).toEqual([
      'UNKNOWN_DEVICE',
      'UNKNOWN_DEVICE',
      'INVALID_VALUE',
      'UNKNOWN_FIELD',
    ]);
    expect(entries[0]!.message).toMatch(
      /no device .*"nobody"\. Also: .*no field "AIR".* Also: "timestamp" must be .*"soon"/,
    );
    expect(entries[1]!.message).toMatch(/no device .*"nobody"\. Also: FLOAT takes .*"warm"\.$/);
    expect(entries[2]!.message).toMatch(/^FLOAT takes .*"warm"\. Also: "timestamp" must be .*"soon"/);
    expect(entries[3]!.message).not.toContain('Also');
    const query = `query ($id: ID!, $call: ID!) { product(id: $id) { call(id: $call) { run { entries { suggestedField { identifier } } } } } }`;
    const { product: asked } = await server.gql<any>(query, { id: product.id, call: call!.id });
    const suggested = asked.call.run.entries.map(
      (one: { suggestedField: { identifier: string } | null }) => one.suggestedField,
    );
    expect(suggested).toEqual([{ identifier: 'AIR' }, null, null, { identifier: 'AIR' }]);
  });

  test('nothing to store is 200 and NOTHING_STORED; unknown fields of real calls are suggested', async () => {
    await saveDecoder(
      server,
      product.id,
      'function Decoder(r) { return r.body ? { device: "d1", field: "NEW", value: 2.5 } : undefined; }',
    );
    expect(await callWebhook(server, product, { body: '' })).toMatchObject({
      status: 200,
      body: { stored: 0, rejected: 0 },
    });
    expect(await callWebhook(server, product, { body: 'x' })).toMatchObject({
      status: 200,
      body: { stored: 0, rejected: 1 },
    });
    expect((await callsOf(server, product.id)).map(({ status }) => status)).toEqual([
      'NOTHING_STORED',
      'NOTHING_STORED',
    ]);
    await expect
      .poll(
        async () =>
          (
            await server.gql('query ($id: ID!) { product(id: $id) { suggestedFields { identifier type seen } } }', {
              id: product.id,
            })
          ).product.suggestedFields,
      )
      .toEqual([{ identifier: 'NEW', type: 'FLOAT', seen: 1 }]);
  });

  test('the write limit of the record endpoint does not apply', async () => {
    await server.gql('mutation ($id: ID!) { setWriteRate(productId: $id, perSecond: 0.001) }', { id: product.id });
    for (let i = 0; i < 3; i += 1)
      expect(await callWebhook(server, product, { body: 'x' })).toMatchObject({ status: 200, body: { stored: 1 } });
  });

  test('credentials are masked in the log, not for the decoder', async () => {
    await callWebhook(server, product, {
      headers: { Authorization: 'Bearer s3cret', Cookie: 'sid=s3cret', 'X-Api-Key': 's3cret', 'X-Plain': 'seen' },
      body: 'x',
    });
    const [call] = await callsOf(server, product.id);
    expect(call!.headers).toMatchObject({ Authorization: '***', Cookie: '***', 'X-Api-Key': '***', 'X-Plain': 'seen' });
  });

  onEither('nor does the log tell of credentials what a decoder prints, throws or returns of them', async () => {
    const decoder = `function Decoder(request) {
      var token = request.headers.Authorization.split(" ")[1];
      console.log(request.headers);
      console.warn(token + " " + request.headers.Cookie + " " + JSON.stringify(request));
      if (request.body === "throw") throw new Error("not for " + token + JSON.stringify(request.headers));
      return [{ device: "d1", field: "T", value: token.length }, { device: token, field: "S", value: request.headers["X-Api-Key"] }];
    }`;
    const { id, webhookId, deviceIds } = await createProduct(server, {
      fields: { T: 'FLOAT', S: 'STRING' },
      serialNumbers: ['d1'],
      input: { decoder },
    });
    const headers = {
      Authorization: 'Bearer the-t0ken-of-it',
      Cookie: 'a=1; sid=the-s3ssion',
      'X-Api-Key': 'the-k3y-"itself"',
      'X-Plain': 'shown-of-it',
    };
    for (const body of ['return', 'throw']) await callWebhook(server, { webhookId }, { headers, body });
    expect(await latestOf(server, deviceIds[0]!)).toEqual({ T: 'the-t0ken-of-it'.length });
    const calls = await callsOf(server, id);
    expect(calls.map(({ status }) => status)).toEqual(['DECODER_FAILED', 'PARTLY_STORED']);
    const text = JSON.stringify(calls);
    for (const secret of ['t0ken', 's3ssion', 'k3y']) expect(text).not.toContain(secret);
    expect(text.match(/shown-of-it/g)!.length).toBeGreaterThan(6);
    expect(calls[0]!.run!.error!.message).toContain('not for ***');
    expect(calls[1]!.run!.output).toMatchObject([{ value: 15 }, { device: '***', value: '***' }]);
  });

  test('a long body reaches the decoder whole and is cut in the log, between characters', async () => {
    const body = `a${'€'.repeat(1000)}`;
    await callWebhook(server, product, { body });
    const [call] = await callsOf(server, product.id);
    expect(call).toMatchObject({ bodyTruncated: true, body: `a${'€'.repeat(666)}` });
    expect(await latestOf(server, product.deviceIds[0]!)).toEqual({ T: 1001 });
  });

  onEither('a body over the limit is 413 naming it, and not logged', async () => {
    const answer = await callWebhook(server, product, { body: 'x'.repeat(10_001) });
    expect(answer).toMatchObject({ status: 413, body: { code: 'BODY_TOO_LARGE', limit: 10_000 } });
    expect(answer.body.detail).toContain('10000');
    expect(await callsOf(server, product.id)).toEqual([]);
  });

  test('odd bodies and headers are logged on both databases', async () => {
    const bodies = [
      Buffer.from([0, 1, 255, 254]),
      Buffer.from('nul \0 inside'),
      Buffer.from('"\\ud800"'),
      Buffer.from('\ud83d\ude00'),
    ];
    for (const body of bodies) expect((await callWebhook(server, product, { body })).status).toBe(200);
    expect((await callsOf(server, product.id)).map(({ body }) => body).reverse()).toEqual([
      '\u0000\u0001ÿþ',
      'nul \0 inside',
      '"\\ud800"',
      '😀',
    ]);
    await saveDecoder(
      server,
      product.id,
      `function Decoder() { console.log("\\0\\ud800"); return { device: "\\0", field: "\\ud800", value: "\\0\\udc00" }; }`,
    );
    expect(
      await callWebhook(server, product, { path: '%00?%00=%00', headers: { 'x-odd': '\u00ff' }, body: '' }),
    ).toMatchObject({
      status: 200,
      body: { stored: 0, rejected: 1 },
    });
    const [call] = await callsOf(server, product.id);
    expect(call!.query).toEqual({ '\0': ['\0'] });
  });

  onEither('a compressed body is unpacked; a chunked one is read', async () => {
    const { gzipSync } = await import('node:zlib');
    await callWebhook(server, product, { headers: { 'Content-Encoding': 'gzip' }, body: gzipSync('hello') });
    expect((await callsOf(server, product.id))[0]!.body).toBe('hello');
    const status = await new Promise((resolve, reject) => {
      const call = request(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      call.on('error', reject);
      call.write('chu');
      setTimeout(() => call.end('nked'), 20);
    });
    expect(status).toBe(200);
    expect((await callsOf(server, product.id))[0]!.body).toBe('chunked');
  });

  onEither('a sender that hangs up in the middle is not logged', async () => {
    const { port, hostname } = new URL(server.url);
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(
          `POST /integrations/api/${product.webhookId}/ HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf`,
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => resolve());
    });
    expect((await callWebhook(server, product, { body: 'next' })).status).toBe(200);
    expect((await callsOf(server, product.id)).map(({ body }) => body)).toEqual(['next']);
  });

  test('the log pages newest first, by status and time', async () => {
    for (let i = 0; i < 5; i += 1) await callWebhook(server, product, { body: 'x'.repeat(i + 1) });
    await saveDecoder(server, product.id, 'function Decoder() { throw 1; }');
    await callWebhook(server, product, { body: 'failed' });
    const all = await callsOf(server, product.id);
    expect(all.map(({ body }) => body)).toEqual(['failed', 'xxxxx', 'xxxx', 'xxx', 'xx', 'x']);
    expect(
      (await callsOf(server, product.id, ', status: [DECODER_FAILED, NO_DECODER]')).map(({ body }) => body),
    ).toEqual(['failed']);
    const until = all[0]!.receivedAt;
    const before = await callsOf(server, product.id, `, to: "${until}"`);
    expect(before.map(({ id }) => id)).toEqual(all.filter((call) => call.receivedAt < until).map(({ id }) => id));
    const bodies: string[] = [];
    let after: string | null = null;
    for (;;) {
      const page: { product: { calls: any } } = await server.gql(
        'query ($id: ID!, $after: String) { product(id: $id) { calls(first: 2, after: $after) { edges { node { body } } pageInfo { hasNextPage endCursor } } } }',
        { id: product.id, after },
      );
      const { edges, pageInfo } = page.product.calls;
      bodies.push(...edges.map((edge: any) => edge.node.body));
      if (!pageInfo.hasNextPage) break;
      after = pageInfo.endCursor;
    }
    expect(bodies).toEqual(all.map(({ body }) => body));
  });

  test('many calls at once are all logged and stored', async () => {
    await saveDecoder(
      server,
      product.id,
      'function Decoder(r) { return { device: "d1", field: "T", value: +r.body, timestamp: +r.body }; }',
    );
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, i) => callWebhook(server, product, { body: String(1_700_000_001 + i) })),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await historyOf(server, product.deviceIds[0]!, 'T')).toHaveLength(70);
    expect(await callsOf(server, product.id)).toHaveLength(70);
  });
});
