import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { saveDecoder } from '../decoders/webhook-client.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

/** In Unix seconds. */
const AT = 1_795_860_000;
const OWNTRACKS = `function Decoder(request) {
  const message = JSON.parse(request.body);
  const entries = message._type === 'location'
    ? [['place', '(' + message.lat + ',' + message.lon + ')'], ['battery', message.batt]]
        .map(([field, value]) => ({ device: message.tid, field, value, timestamp: message.tst }))
    : [];
  return { entries, answer: { body: [] } };
}`;
const UPDATE = `mutation ($id: ID!, $input: UpdateProductInput!) {
  updateProduct(id: $id, input: $input) { answer200 webhookAnswer { status contentType body } } }`;

describe.each(EITHER_DATABASE)('answers that senders read, on %s (CONTRACT 3, 4)', (database) => {
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database, env: { MAX_BODY_BYTES: '20000' } });
    product = await createProduct(server, {
      fields: { place: 'GEOLOCATION', battery: 'FLOAT' },
      serialNumbers: ['ab'],
      input: { decoder: OWNTRACKS },
    });
  });
  afterAll(() => server.stop());

  const call = async (body: string | null, query = '', id = product.webhookId): Promise<any> => {
    const response = await fetch(`${server.url}/integrations/api/${id}/pub${query}`, {
      method: body === null ? 'GET' : 'POST',
      headers: { 'X-Limit-U': 'jane', 'X-Limit-D': 'phone', 'Content-Type': 'application/json' },
      body,
    });
    const type = response.headers.get('content-type');
    return { status: response.status, type, text: await response.text(), headers: response.headers };
  };
  const set = (input: unknown): Promise<any> => server.query(UPDATE, { id: product.id, input });
  const location = JSON.stringify({ _type: 'location', tid: 'ab', lat: 52.1, lon: 5.1, tst: AT, batt: 80 });
  const lastCall = async (): Promise<any> => {
    const { product: found } = await server.gql(
      `query ($id: ID!) { product(id: $id) { calls(first: 1) { edges { node {
         status httpStatus run { answer { status contentType body } entries { code } } } } } } }`,
      { id: product.id },
    );
    return found.calls.edges[0].node;
  };

  test('OwnTracks over HTTP gets its empty list, each value is stored, and other messages of it are no failure', async () => {
    expect(await call(location)).toMatchObject({ status: 200, type: 'application/json', text: '[]' });
    expect(await call('{"_type":"lwt","tst":1795860000}')).toMatchObject({ status: 200, text: '[]' });
    const { device } = await server.gql(
      'query ($id: ID!) { device(id: $id) { latest { field { identifier } value } } }',
      {
        id: product.deviceIds[0],
      },
    );
    expect(device.latest).toEqual(
      expect.arrayContaining([
        { field: { identifier: 'place' }, value: '(52.1,5.1)' },
        { field: { identifier: 'battery' }, value: 80 },
      ]),
    );
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $body: String!) { testDecoder(productId: $id, request: { body: $body }) {
         answer { status contentType body } entries { code } } }`,
      { id: product.id, body: location },
    );
    const answer = { status: 200, contentType: 'application/json', body: '[]' };
    expect(testDecoder).toEqual({ answer, entries: [{ code: null }, { code: null }] });
    expect(await lastCall()).toMatchObject({ httpStatus: 200, run: { answer } });
  });

  test('a product says status, type and body for all calls that are kept; a decoder goes first; null goes back', async () => {
    const shown = { status: 204, contentType: null, body: '' };
    expect((await set({ webhookAnswer: { status: 204 } })).data.updateProduct).toEqual({
      answer200: false,
      webhookAnswer: shown,
    });
    expect(await call(location)).toMatchObject({ status: 200, text: '[]' });
    await saveDecoder(server, product.id, 'function Decoder(r) { return JSON.parse(r.body) }');
    const empty = await call('[]');
    expect(empty).toMatchObject({ status: 204, type: null, text: '' });
    expect(empty.headers.get('content-length')).toBeNull();
    // It fails, and is kept.
    expect(await call('no JSON')).toMatchObject({ status: 204, text: '' });
    expect(await lastCall()).toMatchObject({ status: 'DECODER_FAILED', httpStatus: 204 });
    await set({ webhookAnswer: { body: '<b>ü</b>', contentType: 'text/html; charset=utf-8', status: 201 } });
    const page = await call('[]');
    expect(page).toMatchObject({ status: 201, type: 'text/html; charset=utf-8', text: '<b>ü</b>' });
    // On the console's own origin nothing of it may run.
    expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect((await set({ webhookAnswer: null })).data.updateProduct.webhookAnswer).toBeNull();
    expect(await call('[]')).toMatchObject({ status: 200, text: '{"stored":0,"rejected":0}' });
  });

  test('what is not kept is answered as that, whatever is set', async () => {
    await set({ webhookAnswer: { status: 200, body: 'OK' }, answer200: true });
    const { rotateWebhook } = await server.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { webhookId } }', {
      id: product.id,
    });
    expect(await call('[]', '?answer=200')).toMatchObject({ status: 404 });
    product = { ...product, webhookId: rotateWebhook.webhookId };
    expect(await call('[]')).toMatchObject({ status: 200, text: 'OK' });
    expect(await call(`[${' '.repeat(30_000)}]`, '?answer=200')).toMatchObject({ status: 413 });
    await set({ webhookAnswer: null, answer200: null });
  });

  test.each([
    [{ status: 503 }, /webhookAnswer: "status" must be a whole number from 200 to 299/],
    [{ status: 204, body: 'x' }, /none goes with status 204/],
    [{ contentType: 'a\r\nb' }, /"contentType" must be a media type/],
    [{ body: 'ü'.repeat(9_000) }, /more than 16384 bytes/],
  ])('the answer %j is refused with the reason', async (webhookAnswer, why) => {
    const { errors } = await set({ webhookAnswer });
    expect(errors[0]).toMatchObject({ extensions: { code: 'BAD_USER_INPUT' }, message: expect.stringMatching(why) });
  });

  test('a handshake is echoed, and a wrong answer of a decoder is told while the call is kept', async () => {
    await saveDecoder(
      server,
      product.id,
      `function Decoder(r) { return { answer: r.GET.challenge ? { body: r.GET.challenge[0] } : { status: 500 } } }`,
    );
    const echoed = await call(null, '?challenge=x42');
    expect(echoed).toMatchObject({ status: 200, type: 'text/plain; charset=utf-8', text: 'x42' });
    expect(await call('')).toMatchObject({ status: 202, text: '{"stored":0,"rejected":0,"error":"DECODER_FAILED"}' });
    await saveDecoder(server, product.id, 'function Decoder(r) { return JSON.parse(r.body) }');
  });

  test('?answer=200, or the product, turns 202 and 207 into 200 with the same body, and nothing else', async () => {
    const device = product.deviceIds[0]!;
    const some = [
      { field: 'battery', value: 1 },
      { field: 'no', value: 1 },
    ];
    const none = [{ field: 'no', value: 1 }];
    const ask = async (query: string): Promise<unknown[]> => {
      const partly = await server.record(device, some, { query });
      expect(partly.body).toMatchObject({ stored: 1, rejected: [{ index: 1, code: 'UNKNOWN_FIELD' }] });
      expect([partly.headers.get('inlet-stored'), partly.headers.get('inlet-rejected')]).toEqual(['1', '1']);
      const failed = await call('no JSON', query);
      expect(failed.text).toBe('{"stored":0,"rejected":0,"error":"DECODER_FAILED"}');
      expect((await lastCall()).httpStatus).toBe(failed.status);
      return [
        partly.status,
        failed.status,
        (await server.record(device, none, { query })).status,
        (await server.record(device, 'no JSON', { query })).status,
        (await server.record('nobody', some, { query })).status,
        (await server.record(device, some, { query, token: null })).status,
      ];
    };
    const refused = [400, 400, 404, 401];
    expect(await ask('')).toEqual([207, 202, ...refused]);
    expect(await ask('?answer=200')).toEqual([200, 200, ...refused]);
    expect(await ask('?batch=true&answer=200')).toEqual([200, 200, ...refused]);
    expect(await ask('?answer=2000')).toEqual([207, 202, ...refused]);
    expect((await set({ answer200: true })).data.updateProduct.answer200).toBe(true);
    expect(await ask('')).toEqual([200, 200, ...refused]);
    const { cloneProduct } = await server.gql(
      'mutation ($id: ID!) { cloneProduct(id: $id, name: "copy") { answer200 webhookAnswer { status } } }',
      { id: product.id },
    );
    expect(cloneProduct).toEqual({ answer200: true, webhookAnswer: null });
    await set({ answer200: null });
    expect(await ask('')).toEqual([207, 202, ...refused]);
  });

  test('a network that only knows 200 hears it for the message of an unknown device, which is kept', async () => {
    const send = async (query: string): Promise<number> => {
      const response = await fetch(`${server.url}/integrations/lorawan/helium/${query}`, {
        method: 'POST',
        headers: { Authorization: `Token ${server.adminToken}` },
        body: JSON.stringify({ dev_eui: '70b3d57ed0abcdef', port: 1, payload: 'AQ==' }),
      });
      return response.status;
    };
    expect([await send(''), await send('?answer=200')]).toEqual([202, 200]);
  });
});
