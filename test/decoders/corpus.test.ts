import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { SENSORS, STYLES } from './corpus-codecs.ts';
import { saveDecoder } from './webhook-client.ts';

/** Every sensor in every style: each codec is a source of its own, saved, and fed an uplink of The Things Stack. */
describe.each(EITHER_DATABASE)('codecs as they are found in public, on %s', (database) => {
  let server: TestServer;
  let minute = 0;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  test('there are more than sixty of them', () => {
    expect(SENSORS.length * STYLES.length).toBeGreaterThanOrEqual(64);
  });

  describe.each(SENSORS)('$name', ({ bytes, port, fields, body, stored }) => {
    let product: TestProduct;
    let eui: string;
    beforeAll(async () => {
      eui = `A8404100000${port.toString(16).padStart(5, '0')}`;
      product = await createProduct(server, { fields, serialNumbers: [eui], input: { deviceType: 'LORAWAN' } });
    });

    test.each(STYLES)('$name', async ({ source }) => {
      await saveDecoder(server, product.id, source(body));
      minute += 1;
      const received_at = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
      const uplink_message = { f_port: port, frm_payload: Buffer.from(bytes).toString('base64'), received_at };
      const response = await fetch(`${server.url}/integrations/lorawan/tti/`, {
        method: 'POST',
        headers: { authorization: `Token ${server.adminToken}` },
        body: JSON.stringify({ end_device_ids: { dev_eui: eui }, uplink_message }),
      });
      expect(await response.json()).toEqual({ stored: Object.keys(stored).length, rejected: 0 });
      const { device } = await server.gql(
        'query ($id: ID!) { device(id: $id) { latest { field { identifier } value timestamp } } }',
        { id: product.deviceIds[0] },
      );
      // The time tells these values from those that the codec before left.
      const latest = device.latest as { field: { identifier: string }; value: unknown; timestamp: string }[];
      expect(latest.map(({ field, value, timestamp }) => [field.identifier, value, timestamp]).sort()).toEqual(
        Object.entries(stored)
          .map(([identifier, value]) => [identifier, value, received_at])
          .sort(),
      );
    });
  });
});
