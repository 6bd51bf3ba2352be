import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const ENTRIES = 4_000;
const FIELDS = 200;
/** As often as it may be asked for. */
const NAMES = 3;
const MATCHED = Array.from({ length: NAMES }, (_, at) => `d${at}: matchedDevice { id }`).join(' ');

function many<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

describe.each(EITHER_DATABASE)('what became of thousands of entries on %s', (database) => {
  let server: TestServer;
  let product: TestProduct;

  beforeAll(async () => {
    server = await startServer({ database, watched: true });
    product = await createProduct(server, {
      fields: Object.fromEntries(many(FIELDS, (at) => [`f${at}`, 'FLOAT'])),
      serialNumbers: ['s0', 's1'],
    });
  });
  afterAll(() => server.stop());

  const expected = (device: (at: number) => string): unknown[] =>
    many(ENTRIES, (at) => ({
      index: at,
      code: 'INVALID_VALUE',
      ...Object.fromEntries(many(NAMES, (alias) => [`d${alias}`, { id: device(at) }])),
      matchedField: { identifier: `f${at % FIELDS}` },
    }));

  test('each refused one is told with its device and field, and others are heard meanwhile', async () => {
    const entries = many(ENTRIES, (at) => ({ field: `f${at % FIELDS}`, value: 'x' }));
    const query = `mutation ($d: ID!, $e: [EntryInput!]!) {
      recordMeasurements(deviceId: $d, entries: $e) { stored rejected { index code ${MATCHED} matchedField { identifier } } }
    }`;
    const [d] = product.deviceIds as [string];
    let told: unknown;
    const record = async (): Promise<void> => {
      told = (await server.gql(query, { d, e: entries }))['recordMeasurements'];
    };
    await expectPieces(3, () => piecesOfServer(server, record));
    expect(told).toEqual({ stored: 0, rejected: expected(() => d) });
  });

  test('so is what a decoder gave', async () => {
    const source = `function Decoder() { var a = []; for (var i = 0; i < ${ENTRIES}; i++) a.push({ device: 's' + i % 2, field: 'f' + i % ${FIELDS}, value: 'x' }); return a }`;
    const query = `mutation ($p: ID!, $s: String) {
      testDecoder(productId: $p, source: $s, request: { body: "" }) { entries { index code ${MATCHED} matchedField { identifier } } }
    }`;
    let told: unknown;
    const run = async (): Promise<void> => {
      told = (await server.gql(query, { p: product.id, s: source }))['testDecoder'].entries;
    };
    await expectPieces(5, () => piecesOfServer(server, run));
    expect(told).toEqual(expected((at) => product.deviceIds[at % 2]!));
  });

  test('so are thousands of devices that are created together', async () => {
    const query = `mutation ($p: ID!, $d: [DeviceInput!]!) {
      createDevices(productId: $p, devices: $d, plan: "unlimited") { id name serialNumber tags online lastHeardAt product { id name } }
    }`;
    let told: { name: string; product: { id: string } }[] = [];
    const create = async (): Promise<void> => {
      const d = many(6_000, (at) => ({ name: `n${at}`, tags: ['t'] }));
      told = (await server.gql(query, { p: product.id, d }))['createDevices'];
    };
    await expectPieces(3, () => piecesOfServer(server, create));
    expect(told.map(({ name }) => name)).toEqual(many(6_000, (at) => `n${at}`));
    expect(told.every((device) => device.product.id === product.id)).toBe(true);
  });
});
