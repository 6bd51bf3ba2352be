import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';

const LIST =
  'query ($w: ID!) { workspace(id: $w) { endpoints { id key name url events products { key } tags enabled } } }';

describe.each(EITHER_DATABASE)('endpoints and dashboards in documents, on %s', (database) => {
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

  const place = { x: 0, y: 0, width: 6, height: 4 };
  const widget = { kind: 'line', fields: ['T'], place, range: '7d' };
  const HOUSE = {
    products: [DOCUMENT.products[0], { name: 'Door' }],
    endpoints: DOCUMENT.endpoints,
    dashboards: [
      {
        key: 'fleet',
        name: 'Fleet',
        widgets: [
          {
            ...widget,
            source: { devices: ['f-2', 'f-1'].map((serialNumber) => ({ product: 'freezer', serialNumber })) },
          },
          { ...widget, source: { product: { name: 'Door' } } },
          { ...widget, source: { tags: ['cold', 'hall'] } },
          { kind: 'text', place, options: { text: 'Read me' } },
        ],
      },
    ],
    devices: ['f-1', 'f-2'].map((serialNumber) => ({ product: 'freezer', serialNumber, name: serialNumber })),
  };
  const DASHBOARDS = 'query ($w: ID!) { workspace(id: $w) { dashboards { id key name widgets } } }';

  test('dashboards come with the devices that they name, and name them in any workspace', async () => {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'dashboards'));
    await client.apply(HOUSE);
    expect(await client.plan(HOUSE, { prune: true })).toMatchObject(NOTHING);
    const list = async () => (await server.gql(DASHBOARDS, { w: client.workspaceId }))['workspace'].dashboards;
    const [made, ...more] = await list();
    expect(more).toEqual([]);
    const { devices } = await server.gql(
      'query ($w: ID!) { devices(workspaceId: $w) { edges { node { id serialNumber product { id } } } } }',
      { w: client.workspaceId },
    );
    const ids = new Map(
      devices.edges.map(({ node }: { node: { id: string; serialNumber: string } }) => [node.serialNumber, node.id]),
    );
    expect(made.widgets[0].source).toEqual({ deviceIds: [ids.get('f-2'), ids.get('f-1')] });
    const exported = await client.export('JSON', undefined, true);
    const { dashboards } = JSON.parse(exported);
    expect(dashboards).toEqual(HOUSE.dashboards);
    for (const id of [...ids.values(), made.id, made.widgets[1].source.productId]) expect(exported).not.toContain(id);
    const other = new ConfigurationClient(server, await createWorkspace(server, 'elsewhere'));
    await other.apply(exported);
    expect(await other.export('JSON', undefined, true)).toBe(exported);

    // Changed by other hands, and back.
    const save = 'mutation ($id: ID!, $w: JSON!) { saveDashboard(id: $id, name: "Night", widgets: $w) { id } }';
    await server.gql(save, { id: made.id, w: made.widgets.slice(1) });
    const { drift } = await client.plan(HOUSE);
    expect(drift.map(({ path }) => path)).toEqual(['dashboards[fleet].name', 'dashboards[fleet].widgets']);
    await client.apply(HOUSE);
    expect(await list()).toEqual([made]);

    // What goes with a document whose dashboard still shows it.
    const [{ blocked: noDevice }, { blocked: noProduct }] = [
      await client.plan({ ...HOUSE, devices: HOUSE.devices.slice(1) }, { prune: true, deleteData: true }),
      await client.plan({ ...HOUSE, products: HOUSE.products.slice(0, 1) }, { prune: true, deleteData: true }),
    ];
    expect([...noDevice, ...noProduct]).toEqual([
      { path: 'dashboards[fleet].widgets[0].source.devices[1]', message: expect.stringContaining('"f-1"') },
      { path: 'dashboards[fleet].widgets[1].source.product', message: expect.stringContaining('no product "Door"') },
    ]);

    // What is gone is not named any more; a document that still does is blocked.
    await server.gql('mutation ($id: ID!) { deleteDevices(ids: [$id]) }', { id: ids.get('f-2') });
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id: made.widgets[1].source.productId });
    const left = JSON.parse(await client.export('JSON'));
    expect(left.dashboards[0].widgets.map(({ source }: { source: unknown }) => source)).toEqual([
      { devices: [{ product: 'freezer', serialNumber: 'f-1' }] },
      { devices: [] },
      { tags: ['cold', 'hall'] },
      undefined,
    ]);
    expect(await client.plan({ dashboards: left.dashboards })).toMatchObject({ pending: [], blocked: [] });
    const renamed = [{ ...left.dashboards[0], name: 'Other' }];
    expect((await client.plan({ dashboards: renamed })).blocked).toEqual([
      { path: 'dashboards[fleet].widgets[1].source.devices', message: expect.stringContaining('name at least one') },
    ]);
    expect((await client.plan({ dashboards: HOUSE.dashboards })).blocked).toEqual([
      { path: 'dashboards[fleet].widgets[0].source.devices[0]', message: expect.stringContaining('"f-2"') },
      { path: 'dashboards[fleet].widgets[1].source.product', message: expect.stringContaining('no product "Door"') },
    ]);
    await client.apply({}, { prune: false });
    expect(await list()).toHaveLength(1);
    await client.apply({ products: left.products, endpoints: left.endpoints }, { prune: true, deleteData: true });
    expect(await list()).toEqual([]);
  });

  test.each([
    ['an id', { deviceIds: ['x'] }, '.source.deviceIds', 'unknown; there are devices, product, tags'],
    ['two choices', { tags: ['a'], product: 'freezer' }, '.source', 'choose devices in exactly one way'],
    ['no source', undefined, '.source', 'is missing'],
    ['no device', { devices: ['f-1'] }, '.source.devices[0]', 'expected {product, serialNumber}'],
  ])('a dashboard with %s for a source is blocked at its place', async (_what, source, path, message) => {
    const client = new ConfigurationClient(server, await createWorkspace(server, 'sources'));
    const dashboards = [{ key: 'fleet', name: 'Fleet', widgets: [{ ...widget, source }] }];
    expect((await client.plan({ dashboards })).blocked).toEqual([
      { path: `dashboards[fleet].widgets[0]${path}`, message: expect.stringContaining(message) },
    ]);
  });
});
