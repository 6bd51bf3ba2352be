import { afterAll, beforeAll, expect, describe, test } from 'vitest';
import { expectPieces, piecesOfServer } from '../support/pieces.ts';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';

const DEVICES = 300;
const FIELDS = 480;
/** All of what one run may look up, and more. */
const SOURCE =
  'function Decoder() { for (const name in deviceSerialToId) measurements[deviceSerialToId[name]]; return [] }';
const FAILED = '{"stored":0,"rejected":0,"error":"DECODER_FAILED"}';
const CALLS = 6;
/** Of a device, 4,096 control characters each. */
const TEXTS = 480;

function many<T>(count: number, make: (at: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

describe.each(EITHER_DATABASE)('on %s', (name) => {
  let server: TestServer;
  let product: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: name, watched: true });
    product = await createProduct(server, {
      fields: Object.fromEntries(many(FIELDS, (at) => [`f${at}`, 'FLOAT'])),
      serialNumbers: many(DEVICES, (at) => `s${at}`),
      input: { decoder: SOURCE },
    });
    const values = many(FIELDS, (at) => ({ field: `f${at}`, value: at, timestamp: 1_790_000_000 }));
    for (let at = 0; at < DEVICES; at += 4) await server.record(product.deviceIds[at]!, values);
  });
  afterAll(() => server.stop());

  const call = async (called = product): Promise<string> => {
    const url = `${server.url}/integrations/api/${called.webhookId}/`;
    return (await fetch(url, { method: 'POST', body: '{}' })).text();
  };

  test('the event loop hears others between pieces of what decoders look up', async () => {
    await expectPieces(6, () =>
      piecesOfServer(server, async () => {
        expect(new Set(await Promise.all(many(CALLS, () => call())))).toEqual(new Set([FAILED]));
      }),
    );
  });

  test('nor do texts hold them up that are six times as long as JSON', async () => {
    const texts = await createProduct(server, {
      fields: Object.fromEntries(many(TEXTS, (at) => [`f${at}`, 'STRING'])),
      serialNumbers: ['s0', 's1', 's2'],
      input: { decoder: SOURCE },
    });
    const value = '\u0001'.repeat(4096);
    for (const device of texts.deviceIds)
      for (let from = 0; from < TEXTS; from += 40)
        await server.record(
          device,
          many(40, (at) => ({ field: `f${from + at}`, value })),
        );
    await expectPieces(6, () =>
      piecesOfServer(server, async () => {
        expect(new Set(await Promise.all(many(4, () => call(texts))))).toEqual(new Set([FAILED]));
      }),
    );
  });
});
