import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EUI, heavyBodies } from '../support/heavy-bodies.ts';
import { eventLoopTime } from '../support/processor-time.ts';
import { createProduct, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { expectAsFast } from './reference.ts';

describe('the heaviest bodies', () => {
  let server: TestServer;
  let product: TestProduct;
  let decoding: TestProduct;
  beforeAll(async () => {
    server = await startServer({ database: 'sqlite' });
    const fields = { place: 'GEOLOCATION', label: 'STRING', temperature: 'FLOAT' };
    product = await createProduct(server, { fields, serialNumbers: [EUI] });
    decoding = await createProduct(server, {});
    await server.gql('mutation ($p: ID!) { saveDecoder(productId: $p, source: "function Decoder() {}") { version } }', {
      p: decoding.id,
    });
  });
  afterAll(() => server.stop());

  const ground = () => ({ url: server.url, deviceId: product.deviceIds[0]!, webhookId: decoding.webhookId });

  test.each(heavyBodies(ground))('%s', async (name, status, send) => {
    let least = Infinity;
    for (let tries = 0; tries < 3; tries += 1) {
      const before = eventLoopTime(server.process.child.pid!).ranMs;
      expect(await send()).toBe(status);
      least = Math.min(least, eventLoopTime(server.process.child.pid!).ranMs - before);
    }
    expectAsFast(`heaviest bodies: ${name}`, least);
  });
});
