import { afterAll, beforeAll, expect, test } from 'vitest';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { callWebhook } from '../decoders/webhook-client.ts';

/** In Unix seconds: 2026-01-01. */
const BEGIN = 1_767_225_600;
const DECODER = 'function Decoder(r) { return JSON.parse(r.body) }';

let server: TestServer;
let product: TestProduct;
let device: string;

beforeAll(async () => {
  server = await startServer({ database: 'sqlite' });
  product = await createProduct(server, {
    fields: { t: 'FLOAT', u: 'FLOAT', n: 'INTEGER', id: 'STRING', on: 'BOOLEAN' },
    serialNumbers: ['kept-0', 'kept-1'],
    input: { decoder: DECODER },
  });
  device = product.deviceIds[0]!;
});
afterAll(() => server.stop());

async function stored(field: string, from = BEGIN): Promise<unknown[]> {
  const { device: found } = await server.gql(
    `query ($id: ID!, $field: String!, $from: DateTime!) { device(id: $id) { measurements(field: $field, from: $from, first: 500) {
       edges { node { value } } } } }`,
    { id: device, field, from: new Date(from * 1000).toISOString() },
  );
  return found.measurements.edges.map(({ node }: any) => node.value);
}

const codes = (rejected: any[]): unknown[] => rejected.map(({ index, code }) => [index, code]);

test('entries without a time are one moment: the last of a field is stored, the others are told', async () => {
  const { status, headers, body } = await server.record(device, [
    { field: 't', value: 1 },
    { field: 'u', value: 5 },
    { field: 't', value: 2 },
    { field: 't', value: 3 },
  ]);
  expect([status, body.stored, headers.get('inlet-rejected')]).toEqual([207, 2, '2']);
  expect(codes(body.rejected)).toEqual([
    [0, 'DUPLICATE_IN_REQUEST'],
    [2, 'DUPLICATE_IN_REQUEST'],
  ]);
  expect(body.rejected[0].message).toMatch(/Entry 3 .*same field and moment \(\d{4}-.*Z/);
  expect(await stored('t')).toEqual([3]);
});

test('one moment is a millisecond, and an unstorable entry replaces nothing', async () => {
  const at = BEGIN + 100;
  const { status, body } = await server.record(device, [
    { field: 'u', value: 1, timestamp: at + 0.0101 },
    { field: 'u', value: 2, timestamp: at + 0.0104 },
    { field: 'u', value: 3, timestamp: at + 0.011 },
    { field: 'u', value: 'x', timestamp: at + 0.011 },
  ]);
  expect([status, body.stored]).toEqual([207, 2]);
  expect(codes(body.rejected)).toEqual([
    [0, 'DUPLICATE_IN_REQUEST'],
    [3, 'INVALID_VALUE'],
  ]);
  expect((await stored('u', at)).slice(0, 2)).toEqual([2, 3]);
});

test('a long request out of order: each key that is there twice is told once, no other', async () => {
  const moments = Array.from({ length: 500 }, (_, at) => BEGIN + 1_000 + ((at * 7) % 500));
  const entries = [...moments, moments[3]!, moments[9]!].map((timestamp, value) => ({ field: 't', value, timestamp }));
  const { status, body } = await server.record(device, entries);
  expect([status, body.stored]).toEqual([207, 500]);
  expect(codes(body.rejected)).toEqual([
    [3, 'DUPLICATE_IN_REQUEST'],
    [9, 'DUPLICATE_IN_REQUEST'],
  ]);
  const ordered = await server.record(device, entries.slice(0, 500));
  expect([ordered.status, ordered.body.stored]).toEqual([200, 500]);
});

test('a decoder, the test tool and recordMeasurements tell the same', async () => {
  const entries = [1, 2, 3].map((value) => ({ device: 'kept-0', field: 't', value, timestamp: BEGIN + 3_000 }));
  const body = JSON.stringify([...entries, { ...entries[0], device: 'kept-1' }]);
  expect(await callWebhook(server, product, { body })).toMatchObject({ status: 200, body: { stored: 2, rejected: 2 } });
  const { testDecoder } = await server.gql(
    `mutation ($id: ID!, $body: String!) { testDecoder(productId: $id, request: { body: $body }) {
       entries { index code message matchedDevice { id } } } }`,
    { id: product.id, body },
  );
  expect(testDecoder.entries.map(({ code }: any) => code)).toEqual([
    'DUPLICATE_IN_REQUEST',
    'DUPLICATE_IN_REQUEST',
    null,
    null,
  ]);
  const { product: found } = await server.gql(
    'query ($id: ID!) { product(id: $id) { calls(first: 1) { edges { node { status run { entries { code } } } } } } }',
    { id: product.id },
  );
  expect(found.calls.edges[0].node).toMatchObject({
    status: 'PARTLY_STORED',
    run: {
      entries: [{ code: 'DUPLICATE_IN_REQUEST' }, { code: 'DUPLICATE_IN_REQUEST' }, { code: null }, { code: null }],
    },
  });
  const { recordMeasurements } = await server.gql(
    `mutation ($id: ID!, $at: DateTime!) { recordMeasurements(deviceId: $id, entries: [
       { field: "t", value: 1, timestamp: $at }, { field: "t", value: 2, timestamp: $at }]) { stored rejected { index code } } }`,
    { id: device, at: new Date((BEGIN + 4_000) * 1000).toISOString() },
  );
  expect(recordMeasurements).toEqual({ stored: 1, rejected: [{ index: 0, code: 'DUPLICATE_IN_REQUEST' }] });
});

test('an import counts the values that later lines replace, across its batches too', async () => {
  const lines = Array.from({ length: 12_000 }, (_, at) => `${BEGIN + 10_000 + at},${at}`);
  const file = ['timestamp,t', ...lines, lines[0]!, `${BEGIN + 10_000 + 11_999},7`].join('\n');
  const send = async (): Promise<any> => {
    const response = await fetch(`${server.url}/v1/devices/${device}/import`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'text/csv' },
      body: file,
    });
    return response.json();
  };
  const expected = { lines: 12_002, stored: 12_002, refused: 0, values: 12_000, replaced: 2, rejected: [] };
  expect(await send()).toEqual(expected);
  // What is stored already is replaced in no request.
  expect(await send()).toEqual(expected);
});

const BIG = '9007199254740993';

test.each([
  ['n', BIG, 'INVALID_VALUE'],
  ['n', `"${BIG}"`, 'INVALID_VALUE'],
  ['n', `"${BIG}.0"`, 'INVALID_VALUE'],
  ['n', '"9.007199254740993e15"', 'INVALID_VALUE'],
  ['n', '"9007199254740991.4"', 'INVALID_VALUE'],
  ['n', '-9007199254740993', 'INVALID_VALUE'],
  ['n', '8944501406129999321', 'INVALID_VALUE'],
  ['n', '"18446744073709551615"', 'INVALID_VALUE'],
  ['n', '1e300', 'INVALID_VALUE'],
  ['n', '9007199254740992', 9007199254740992],
  ['n', '-9007199254740992', -9007199254740992],
  ['n', '"9007199254740991"', 9007199254740991],
  ['n', '" 9.007199254740992E15 "', 9007199254740992],
  ['n', '"0000000000000000000042.000"', 42],
  ['id', '8944501406129999321', '8944501406129999321'],
  ['id', BIG, BIG],
  ['t', BIG, 9007199254740992],
])('%s takes %s as what was sent, or not at all', async (field, literal, expected) => {
  const timestamp = BEGIN + 30_000;
  const entry = `{"field":"${field}","value":${literal},"timestamp":${timestamp}}`;
  const { status, body } = await server.record(device, `[${entry},{"field":"on","value":NaN}]`);
  if (expected === 'INVALID_VALUE') {
    expect([status, body.rejected[0].code]).toEqual([400, expected]);
    expect(body.rejected[0].message).toContain(field === 'n' ? 'identifiers are STRING' : '');
    expect(body.rejected[0].message).toContain(literal === '1e300' ? '1e300' : literal.replaceAll('"', ''));
    return;
  }
  expect([status, body.stored]).toEqual([207, 1]);
  expect((await stored(field, timestamp))[0]).toBe(expected);
});

test('the other doors agree: literals of GraphQL, NDJSON, what decoders compute', async () => {
  const record = async (value: string): Promise<any> => {
    const { recordMeasurements } = await server.gql(
      `mutation ($id: ID!) { recordMeasurements(deviceId: $id, entries: [{ field: "n", value: ${value} }]) { rejected { code } } }`,
      { id: device },
    );
    return recordMeasurements.rejected[0]?.code ?? null;
  };
  expect([await record(BIG), await record('9007199254740992')]).toEqual(['INVALID_VALUE', null]);

  const at = BEGIN + 40_000;
  const response = await fetch(`${server.url}/v1/devices/${device}/import`, {
    method: 'POST',
    headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'application/x-ndjson' },
    body: `{"timestamp":${at},"n":${BIG},"id":8944501406129999321,"t":1}\n`,
  });
  expect(await response.json()).toMatchObject({ values: 2, rejected: [{ field: 'n', code: 'INVALID_VALUE' }] });
  expect((await stored('id', at))[0]).toBe('8944501406129999321');

  const run = async (value: string): Promise<any> => {
    const { testDecoder } = await server.gql(
      `mutation ($id: ID!, $source: String!) { testDecoder(productId: $id, source: $source, request: {}) {
         entries { value code message } } }`,
      { id: product.id, source: `function Decoder() { return ${value} }` },
    );
    return testDecoder.entries;
  };
  const entries = await run(
    `[['n', 5n], ['n', 9007199254740993n], ['n', 2n ** 5000n], ['id', 8944501406129999321n], ['id', 8944501406129999321], ['on', 1n], ['t', 5n]]
       .map(([field, value], at) => ({ device: 'kept-0', field, value, timestamp: BigInt(${at} + at) }))`,
  );
  expect(entries.map(({ code }: any) => code)).toEqual([
    null,
    'INVALID_VALUE',
    'INVALID_VALUE',
    null,
    'INVALID_VALUE',
    null,
    null,
  ]);
  expect(entries[1].message).toContain('9007199254740993n');
});
