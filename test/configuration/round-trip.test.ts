import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { seededRandom } from '../support/seeded-random.ts';
import { DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';
import { RandomConfiguration } from './random-configuration.ts';

const SEEDS = process.env['INLET_TESTS'] === 'nightly' ? 40 : 2;

describe.each(DATABASES)('configurations of every kind, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database, env: { SMTP_URL: 'smtp://127.0.0.1:9' } });
  });
  afterAll(() => server?.stop());

  test.each(Array.from({ length: SEEDS }, (_, seed) => seed + 1))(
    'a plan is empty after an export and after an apply, seed %i',
    async (seed) => {
      const random = seededRandom(seed);
      const client = new ConfigurationClient(server, await createWorkspace(server, `seed ${seed}`));
      const configuration = new RandomConfiguration(server, client.workspaceId, random);
      await configuration.make(1 + Math.floor(random() * 5));
      // With their devices every other time.
      const withDevices = seed % 2 === 0;
      const exported = (of: ConfigurationClient, format = 'JSON'): Promise<string> =>
        of.export(format, undefined, withDevices);
      const texts = { yaml: await exported(client, 'YAML'), json: await exported(client) };
      for (const how of [{}, { prune: true }, { set: 'a', prune: true, deleteData: true }])
        for (const document of Object.values(texts)) expect(await client.plan(document, how)).toMatchObject(NOTHING);
      // Both say the same, so one can be applied where the other was.
      await client.apply(texts.yaml);
      expect(await client.plan(texts.json, { prune: true })).toMatchObject(NOTHING);

      await configuration.change(3);
      const changed = await exported(client);
      expect(await client.plan(changed)).toMatchObject(NOTHING);
      await client.apply(texts.json);
      expect(await client.plan(texts.yaml)).toMatchObject(NOTHING);
      // What was made by hand is not the document's.
      expect(await client.plan(texts.yaml, { prune: true })).toMatchObject(NOTHING);
      await client.apply(changed, { prune: true });
      expect(await client.plan(changed, { prune: true })).toMatchObject(NOTHING);
      expect(await exported(client)).toBe(changed);

      const other = new ConfigurationClient(server, await createWorkspace(server, `other ${seed}`));
      const portable = withDevices ? JSON.parse(changed) : withoutDeviceNames(JSON.parse(changed));
      await other.apply(portable);
      expect(await other.plan(portable)).toMatchObject(NOTHING);
      const { products, endpoints, dashboards, devices } = JSON.parse(await exported(other));
      expect({ products, endpoints, dashboards, devices }).toEqual({
        products: portable.products,
        endpoints: portable.endpoints,
        dashboards: portable.dashboards,
        devices: portable.devices,
      });
    },
  );
});

/** Tokens and dashboards may name devices, which another workspace does not have. */
function withoutDeviceNames(document: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(document).filter(([section]) => !['tokens', 'dashboards'].includes(section)),
  );
}
