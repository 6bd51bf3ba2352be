import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { ADMIN_TOKEN } from '../support/server-process.ts';

const EUI = '70b3d57ed0000077';
/** The bound, a bit less for what is around them; what a decoder makes on a busy machine; and what a megabyte holds. */
const [MOST, MORE, TOO_MANY] = [49_980, 100_000, 340_000];
const SAID = 'has more than 50000 objects and lists; leave out what is not stored';

const oneValue = (count: number, what: string, more = ''): string =>
  `var o = []; for (var i = 0; i < ${count}; i++) o.push(${what}); return [{ device: '${EUI}', field: 'text', value: o ${more} }]`;
const entries = (value: string, more = ''): string =>
  `var o = []; for (var i = 0; i < 9990; i++) o.push({ device: 'd' + i, field: 'f' + i % 5000, value: ${value} ${more} }); return o`;

describe('very many objects and lists in what decoders return', () => {
  let server: TestServer;
  let product: TestProduct;
  let undecoded: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database: 'sqlite', watched: true, env: { DECODER_TIMEOUT_MS: '20000' } });
    product = await createProduct(server, { fields: { text: 'STRING' }, serialNumbers: ['some'] });
    undecoded = await createProduct(server, { fields: { text: 'STRING' }, serialNumbers: [EUI] });
  });
  afterAll(() => server.stop());

  const post = async (path: string, body: string): Promise<[status: number, answer: any]> => {
    const headers = { Authorization: `Token ${ADMIN_TOKEN}` };
    const response = await fetch(server.url + path, { method: 'POST', headers, body });
    return [response.status, await response.json()];
  };
  const save = (source: string): Promise<unknown> =>
    server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source, force: true) { __typename } }',
      { id: product.id, source },
    );
  const call = () => post(`/integrations/api/${product.webhookId}/`, '{}');
  const trial = (source: string) =>
    server.gql<any>(
      `mutation ($id: ID!, $source: String!) {
         testDecoder(productId: $id, source: $source, request: { body: "x" }) { ok output error { kind message } entries { value } }
       }`,
      { id: product.id, source },
    );
  const uplink = (decoded: unknown, more = {}) =>
    post(
      '/integrations/lorawan/tti/',
      JSON.stringify({ end_device_ids: { dev_eui: EUI }, uplink_message: { decoded_payload: decoded, ...more } }),
    );

  test.each(['{}', '[]'])('more %s than may be are BAD_OUTPUT, which says what to do', async (what) => {
    const source = `function Decoder() { ${oneValue(MORE, what, ', q: NaN')} }`;
    await save(source);
    expect(await call()).toEqual([202, { stored: 0, rejected: 0, error: 'DECODER_FAILED' }]);
    const { testDecoder } = await trial(source);
    expect(testDecoder.error).toEqual({ kind: 'BAD_OUTPUT', message: `The output ${SAID}.` });
  });

  test('so are those that a decoder prints beside', async () => {
    const { testDecoder } = await trial(`function Decoder() { console.log(1); ${oneValue(MORE, '{}')} }`);
    expect(testDecoder.error).toEqual({ kind: 'BAD_OUTPUT', message: `The output ${SAID}.` });
  });

  test("a network's message of more is INVALID_BODY", async () => {
    const [status, problem] = await uplink({ a: Array.from({ length: TOO_MANY }, () => ({})) });
    expect([status, problem.code, problem.detail]).toEqual([400, 'INVALID_BODY', `The body ${SAID}.`]);
    // As JSON text it is no object.
    const text = `{"a":[${Array.from({ length: 100_000 }, () => '{}').join()}]}`;
    expect(await uplink(text)).toEqual([200, { stored: 0, rejected: 0 }]);
  });

  test('so is what is recorded; full batches are not', async () => {
    const path = `/v1/devices/${undecoded.deviceIds[0]}/record/`;
    const entry = (x: unknown, n = 0) => JSON.stringify({ field: 'text', value: 'a', timestamp: 1.7e9 + n, x });
    const [status, problem] = await post(path, entry(Array.from({ length: TOO_MANY }, () => ({}))));
    expect([status, problem.code, problem.detail]).toEqual([400, 'INVALID_BODY', `The body ${SAID}.`]);
    const most = `[${Array.from({ length: 10_000 }, (_, n) => entry([{}, {}], n)).join()}]`;
    expect(await post(path, most)).toMatchObject([200, { stored: 10_000 }]);
  });

  test.each([
    ['objects', oneValue(MOST, '{}')],
    ['objects and NaN', oneValue(MOST, '{}', ', q: NaN')],
    ['lists', oneValue(MOST, '[]')],
    ['lists and NaN', oneValue(MOST, '[]', ', q: NaN')],
    ['objects that say something, and NaN', oneValue(MOST, '{ a: 1, b: 2 }', ', q: NaN')],
    ['entries', entries('{ a: [{}, {}] }')],
    ['entries and NaN', entries('{ a: [{}] }', ', timestamp: NaN')],
  ])('as many as may be: %s', async (_, body) => {
    const source = `function Decoder() { ${body} }`;
    await save(source);
    const called = async (): Promise<void> => expect((await call())[0]).toBe(200);
    await expectPieces(3, () => piecesOfServer(server, called));
    const tried = async (): Promise<void> => expect((await trial(source)).testDecoder.ok).toBe(true);
    await expectPieces(3, () => piecesOfServer(server, tried));
  });

  test.each([
    ['objects', { a: Array.from({ length: MOST }, () => ({})) }],
    ['lists', { a: Array.from({ length: MOST }, () => []) }],
    ['objects of nothing', { a: Array.from({ length: MOST }, () => ({ a: null, b: null })) }],
    ['values in objects', { a: Array.from({ length: 9_990 }, () => ({ a: { b: {}, c: 1 } })) }],
  ])("as many as may be in a network's message: %s", async (_, decoded) => {
    const sent = async (): Promise<void> => expect((await uplink(decoded))[0]).toBe(200);
    await sent();
    expect(undecoded.deviceIds).toHaveLength(1);
  });
});
