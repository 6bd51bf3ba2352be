import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';

const LIST =
  'query ($w: ID!) { workspace(id: $w) { endpoints { id key name url events products { key } tags enabled } } }';

describe.each(DATABASES)('endpoints in documents, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  const DOCUMENT = {
    products: [
      {
        key: 'freezer',
        name: 'Freezer',
        fields: [{ identifier: 'T', type: 'FLOAT' }],
        rules: [
          {
            key: 'warm',
            name: 'Too warm',
            levels: [{ severity: 'WARNING', all: [{ field: 'T', operator: 'GT', value: -15 }] }],
            notify: { endpoints: ['ops'] },
          },
        ],
      },
    ],
    endpoints: [
      {
        key: 'ops',
        name: 'Operations',
        kind: 'WEBHOOK',
        url: 'https://example.org/inlet',
        events: ['alert.resolved', 'alert.fired'],
        products: ['freezer'],
      },
    ],
  };

  test('come with the products and rules that name them, and never with a secret', async () => {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'endpoints'));
    await client.apply(DOCUMENT);
    const list = async () => (await server.gql(LIST, { w: client.workspaceId }))['workspace'].endpoints;
    const [made] = await list();
    expect(made).toMatchObject({
      key: 'ops',
      events: ['alert.fired', 'alert.resolved'],
      products: [{ key: 'freezer' }],
      tags: [],
      enabled: true,
    });
    const exported = await client.export('JSON');
    expect(JSON.parse(exported).endpoints).toEqual([
      { ...DOCUMENT.endpoints[0], events: ['alert.fired', 'alert.resolved'] },
    ]);
    expect(JSON.parse(exported).products[0].rules[0].notify).toEqual({ endpoints: ['ops'] });
    const { rotateEndpointSecret } = await server.gql(
      'mutation ($id: ID!) { rotateEndpointSecret(id: $id) { secret } }',
      { id: made.id },
    );
    expect(await client.export('JSON')).toBe(exported);
    expect(exported).not.toContain(rotateEndpointSecret.secret.slice(6));
    expect(await client.plan(DOCUMENT)).toMatchObject(NOTHING);

    // Changed by other hands, and back.
    await server.gql(
      'mutation ($id: ID!) { updateEndpoint(id: $id, input: { name: "Night", kind: WEBHOOK, events: [], enabled: false }) { id } }',
      { id: made.id },
    );
    const plan = await client.plan(DOCUMENT);
    expect(plan.drift.map(({ path }) => path).toSorted()).toEqual([
      'endpoints[ops].enabled',
      'endpoints[ops].events',
      'endpoints[ops].name',
    ]);
    await client.apply(DOCUMENT);
    expect(await list()).toEqual([made]);
    const none = { products: [{ ...DOCUMENT.products[0], rules: [] }] };
    expect((await client.plan(none)).pending).toEqual([]);
    await client.apply(none, { prune: true });
    expect(await list()).toEqual([]);
  });

  test.each([
    ['a kind that changes', { kind: 'ALERTMANAGER' }, 'endpoints[ops].kind', 'it is WEBHOOK and stays so'],
    ['an unknown event', { events: ['alert.fire'] }, 'endpoints[ops].events[0]', 'is no event'],
    ['a URL that is none', { url: 'example.org' }, 'endpoints[ops].url', 'expected a URL'],
    ['a product that is not there', { products: ['other'] }, 'endpoints[ops].products[0]', 'there is no product other'],
    ['a secret', { secret: 'whsec_AAAA' }, 'endpoints[ops].secret', 'unknown key'],
  ])('%s is blocked at its place', async (_what, change, path, message) => {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'blocked'));
    await client.apply(DOCUMENT);
    const document = { ...DOCUMENT, endpoints: [{ ...DOCUMENT.endpoints[0], ...change }] };
    const { blocked } = await client.plan(document);
    expect(blocked).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  test('a rule that names one that is not there, or goes, is blocked; so is EMAIL without SMTP_URL', async () => {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'rules'));
    const mail = { key: 'mail', name: 'Mail', kind: 'EMAIL', addresses: ['ada@example.org'] };
    const { blocked } = await client.plan({ products: DOCUMENT.products, endpoints: [mail] });
    expect(blocked).toEqual([
      { path: 'endpoints[mail].kind', message: expect.stringContaining('SMTP_URL') },
      { path: expect.stringContaining('products[freezer].rules'), message: expect.stringContaining('no endpoint ops') },
    ]);
    await client.apply(DOCUMENT);
    const going = await client.plan({ products: DOCUMENT.products }, { prune: true });
    expect(going.blocked).toEqual([
      { path: expect.stringContaining('products[freezer].rules'), message: expect.stringContaining('no endpoint ops') },
    ]);
  });
});
