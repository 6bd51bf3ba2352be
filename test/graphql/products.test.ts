import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const CREATE = `mutation ($input: CreateProductInput!) {
  createProduct(input: $input) {
    id name deviceType dashboard webhookId webhookUrl offlineAfterSeconds createdAt
    fields { identifier type name unit description } decoder { version source active } suggestedFields { identifier }
  }
}`;
const UPDATE = `mutation ($id: ID!, $input: UpdateProductInput!) {
  updateProduct(id: $id, input: $input) { name dashboard offlineAfterSeconds }
}`;
const LIST = `query ($search: String, $first: Int, $after: String, $w: ID) {
  products(search: $search, first: $first, after: $after, workspaceId: $w) {
    edges { cursor node { name } } pageInfo { hasNextPage endCursor }
  }
}`;
const place = { x: 0, y: 0, width: 6, height: 4 };
const widget = { kind: 'line', fields: ['temperature'], place };

describe.each(EITHER_DATABASE)('products on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'products');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function refusal(query: string, variables: unknown): Promise<{ code?: string; message?: string }> {
    const answer = await server.query(query, variables, token);
    expect(answer.data).toBeNull();
    return { code: answer.errors?.[0]?.extensions.code, message: answer.errors?.[0]?.message };
  }

  test('a product has defaults for everything but its name', async () => {
    const { createProduct: product } = await server.gql(CREATE, { input: { name: 'plain' } }, token);
    expect(product).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: 'plain',
      deviceType: 'API',
      dashboard: { widgets: [] },
      webhookId: expect.stringMatching(/^[A-Za-z0-9][\w-]{21,31}$/),
      webhookUrl: expect.stringMatching(new RegExp(`/integrations/api/${product.webhookId}/$`)),
      offlineAfterSeconds: null,
      createdAt: expect.any(String),
      fields: [],
      decoder: null,
      suggestedFields: [],
    });
    expect(Math.abs(Date.parse(product.createdAt) - Date.now())).toBeLessThan(60_000);
  });

  test('a product is made with fields in their order, dashboard and decoder in one call', async () => {
    const dashboard = {
      widgets: [
        widget,
        {
          kind: 'gauge',
          title: 'It\'s \\ "?" ü 😀',
          fields: ['temperature', 'B-2'],
          range: '24h',
          place,
          options: { min: -40, deep: [1, { a: null }] },
        },
      ],
    };
    const fields = [
      { identifier: 'zulu', type: 'GEOLOCATION' },
      { identifier: 'temperature', type: 'FLOAT', name: 'Temperature', unit: '°C', description: 'two\nlines' },
      { identifier: 'Temperature', type: 'STRING' },
    ];
    const decoder = 'function Decoder(request) { return "?" }';
    const input = { name: 'whole', deviceType: 'LORAWAN', dashboard, fields, decoder, offlineAfterSeconds: 60 };
    const { createProduct: product } = await server.gql(CREATE, { input }, token);
    const none = { name: null, unit: null, description: null };
    expect(product).toMatchObject({
      deviceType: 'LORAWAN',
      offlineAfterSeconds: 60,
      fields: fields.map((field) => ({ ...none, ...field })),
      decoder: { version: 1, source: decoder, active: true },
    });
    expect(product.dashboard).toEqual(dashboard);
    const read = await server.gql(
      'query ($id: ID!) { product(id: $id) { dashboard fields { identifier } } }',
      { id: product.id },
      token,
    );
    expect(read['product'].dashboard).toEqual(dashboard);
    expect(read['product'].fields.map((field: { identifier: string }) => field.identifier)).toEqual([
      'zulu',
      'temperature',
      'Temperature',
    ]);
  });

  test.each([
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\0b' }],
    ['offlineAfterSeconds', { offlineAfterSeconds: 0 }],
    ['offlineAfterSeconds', { offlineAfterSeconds: -5 }],
    [
      'fields[1].identifier',
      {
        fields: [
          { identifier: 'a', type: 'FLOAT' },
          { identifier: 'a b', type: 'FLOAT' },
        ],
      },
    ],
    ['fields[0].identifier', { fields: [{ identifier: '', type: 'FLOAT' }] }],
    ['fields[0].identifier', { fields: [{ identifier: 'x'.repeat(65), type: 'FLOAT' }] }],
    ['fields[0].unit', { fields: [{ identifier: 'a', type: 'FLOAT', unit: 'x'.repeat(51) }] }],
    ['decoder', { decoder: 'function Decoder() { return "\0" }' }],
  ])('a wrong %s is refused with its path: %j', async (path, input) => {
    const found = await refusal(CREATE, { input: { name: 'x', ...input } });
    expect(found).toEqual({
      code: 'BAD_USER_INPUT',
      message: expect.stringMatching(new RegExp(`^input\\.${path.replace(/[[\]]/g, '\\$&')}: `)),
    });
  });

  test('two fields of one identifier, and a decoder that does not parse, leave no product behind', async () => {
    const twice = [
      { identifier: 'a', type: 'FLOAT' },
      { identifier: 'b', type: 'FLOAT' },
      { identifier: 'a', type: 'STRING' },
    ];
    const found = await refusal(CREATE, { input: { name: 'ghost', fields: twice } });
    expect(found).toEqual({ code: 'CONFLICT', message: expect.stringContaining('input.fields[2].identifier') });
    expect((await refusal(CREATE, { input: { name: 'ghost', decoder: 'function (' } })).code).toBe('INVALID_DECODER');
    expect((await server.gql(LIST, { search: 'ghost' }, token))['products'].edges).toEqual([]);
  });

  test.each([
    ['dashboard', 5],
    ['dashboard', 'text'],
    ['dashboard', [widget]],
    ['dashboard.widgets', {}],
    ['dashboard.more', { widgets: [], more: 1 }],
    ['dashboard.widgets', { widgets: { 0: widget } }],
    ['dashboard.widgets[1]', { widgets: [widget, null] }],
    ['dashboard.widgets[2].kind', { widgets: [widget, widget, { ...widget, kind: 'pie-in-the-sky' }] }],
    ['dashboard.widgets[0].kind', { widgets: [{ fields: ['a'], place }] }],
    ['dashboard.widgets[0].colour', { widgets: [{ ...widget, colour: 'red' }] }],
    ['dashboard.widgets[0].title', { widgets: [{ ...widget, title: 5 }] }],
    ['dashboard.widgets[0].title', { widgets: [{ ...widget, title: 'a\0' }] }],
    ['dashboard.widgets[0].fields', { widgets: [{ ...widget, fields: 'temperature' }] }],
    ['dashboard.widgets[0].fields', { widgets: [{ ...widget, fields: [] }] }],
    ['dashboard.widgets[0].fields[1]', { widgets: [{ ...widget, fields: ['a', 'b c'] }] }],
    ['dashboard.widgets[0].range', { widgets: [{ ...widget, range: 'yesterday' }] }],
    ['dashboard.widgets[0].range', { widgets: [{ ...widget, range: 24 }] }],
    ['dashboard.widgets[0].place', { widgets: [{ kind: 'line', fields: ['a'] }] }],
    ['dashboard.widgets[0].place.x', { widgets: [{ ...widget, place: { ...place, x: -1 } }] }],
    ['dashboard.widgets[0].place.width', { widgets: [{ ...widget, place: { ...place, width: 0 } }] }],
    ['dashboard.widgets[0].place.height', { widgets: [{ ...widget, place: { ...place, height: 1.5 } }] }],
    ['dashboard.widgets[0].options', { widgets: [{ ...widget, options: [] }] }],
  ])('a wrong dashboard is refused at %s', async (path, dashboard) => {
    const start = new RegExp(`^${path.replace(/[.[\]]/g, '\\$&')}: `);
    const found = await refusal(CREATE, { input: { name: 'x', dashboard } });
    expect(found).toEqual({ code: 'BAD_USER_INPUT', message: expect.stringMatching(start) });
  });

  test('a dashboard of more than 256 KiB or 64 levels is refused', async () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100; level += 1) deep = { deep };
    for (const options of [{ text: 'x'.repeat(262_144) }, { deep }]) {
      const found = await refusal(CREATE, { input: { name: 'x', dashboard: { widgets: [{ ...widget, options }] } } });
      expect(found.code).toBe('BAD_USER_INPUT');
    }
  });

  test('updateProduct changes what is given and nothing else', async () => {
    const { id } = await createProduct(server, { token, input: { name: 'before', offlineAfterSeconds: 7 } });
    const update = async (input: unknown): Promise<unknown> =>
      (await server.gql(UPDATE, { id, input }, token))['updateProduct'];
    expect(await update({})).toEqual({ name: 'before', dashboard: { widgets: [] }, offlineAfterSeconds: 7 });
    expect(await update({ name: 'after' })).toMatchObject({ name: 'after', offlineAfterSeconds: 7 });
    expect(await update({ dashboard: { widgets: [widget] } })).toMatchObject({ dashboard: { widgets: [widget] } });
    expect(await update({ offlineAfterSeconds: null })).toMatchObject({ name: 'after', offlineAfterSeconds: null });
    expect(await update({ dashboard: null })).toMatchObject({ dashboard: { widgets: [] } });
    expect((await refusal(UPDATE, { id, input: { name: null } })).code).toBe('BAD_USER_INPUT');
    const { products } = await server.gql(LIST, { search: 'AFTER' }, token);
    expect(products.edges).toHaveLength(1);
  });

  test('lists page in the order of creation and search part of the name in any case', async () => {
    const names = ["Straße 1_% 'x", 'STRASSE 2', 'Ärger\\', 'ärger 4', 'e5?'];
    for (const name of names)
      await createProduct(server, { token, serialNumbers: [], input: { name: `list ${name}` } });
    const found = async (search: string): Promise<string[]> => {
      const { products } = await server.gql(LIST, { search }, token);
      return products.edges.map((edge: { node: { name: string } }) => edge.node.name.slice(5));
    };
    expect(await found('LIST ')).toEqual(names);
    expect(await found('straße')).toEqual(["Straße 1_% 'x"]);
    expect(await found('ÄRGER')).toEqual(['Ärger\\', 'ärger 4']);
    expect(await found('%')).toEqual(["Straße 1_% 'x"]);
    expect(await found('_')).toEqual(["Straße 1_% 'x"]);
    expect(await found('\\')).toEqual(['Ärger\\']);
    expect(await found("'")).toEqual(["Straße 1_% 'x"]);
    expect(await found('5?')).toEqual(['e5?']);

    const paged: string[] = [];
    let after: string | null = null;
    do {
      const { products }: any = await server.gql(LIST, { search: 'list', first: 2, after }, token);
      paged.push(...products.edges.map((edge: { node: { name: string } }) => edge.node.name.slice(5)));
      expect(products.pageInfo.hasNextPage).toBe(paged.length < names.length);
      after = products.pageInfo.hasNextPage ? products.pageInfo.endCursor : null;
    } while (after !== null);
    expect(paged).toEqual(names);
    for (const variables of [{ first: 0 }, { first: 501 }, { first: -1 }, { after: 'x' }, { search: 'a\0' }])
      expect((await refusal(LIST, variables)).code, JSON.stringify(variables)).toBe('BAD_USER_INPUT');
  });

  test('where the token sees several workspaces, createProduct has to name one and products shows all', async () => {
    const answer = await server.query(CREATE, { input: { name: 'x' } });
    expect(answer.errors?.[0]).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT' },
      message: expect.stringContaining('input.workspaceId'),
    });
    const own = await createWorkspace(server, 'own');
    await createProduct(server, { workspaceId: own, serialNumbers: [], input: { name: 'operator list' } });
    const all = await server.gql(LIST, { search: 'list', first: 500 });
    const one = await server.gql(LIST, { search: 'list', first: 500, w: own });
    expect(all['products'].edges.length).toBe(one['products'].edges.length + 5);
    expect(one['products'].edges).toHaveLength(1);
  });

  test('a rotated webhook URL works at once, the old one is unknown', async () => {
    const product = await createProduct(server, { token });
    const call = async (id: string): Promise<number> =>
      (await fetch(`${server.url}/integrations/api/${id}/`, { method: 'POST', body: '{}' })).status;
    expect(await call(product.webhookId)).toBe(202);
    const { rotateWebhook } = await server.gql(
      'mutation ($id: ID!) { rotateWebhook(productId: $id) { webhookId } }',
      { id: product.id },
      token,
    );
    expect(rotateWebhook.webhookId).not.toBe(product.webhookId);
    expect(await call(product.webhookId)).toBe(404);
    expect(await call(rotateWebhook.webhookId)).toBe(202);
  });

  test('who may only read does not see the webhook URL, which is a secret', async () => {
    const product = await createProduct(server, { token });
    const viewer = await createMember(server, workspaceId, 'VIEWER');
    for (const key of ['webhookId', 'webhookUrl']) {
      const answer = await server.query(
        `query ($id: ID!) { product(id: $id) { ${key} } }`,
        { id: product.id },
        viewer.token,
      );
      expect(answer.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
      expect(JSON.stringify(answer)).not.toContain(product.webhookId);
    }
  });

  test('a deleted product takes devices, measurements, calls and webhook with it', async () => {
    const product = await createProduct(server, { token });
    const device = product.deviceIds[0]!;
    await server.record(device, { field: 'temperature', value: 1 }, { token });
    await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: '{}' });
    const remove = 'mutation ($id: ID!) { deleteProduct(id: $id) }';
    expect(await server.gql(remove, { id: product.id }, token)).toEqual({ deleteProduct: product.id });
    expect((await refusal('query ($id: ID!) { product(id: $id) { name } }', { id: product.id })).code).toBe(
      'NOT_FOUND',
    );
    expect((await refusal('query ($id: ID!) { device(id: $id) { name } }', { id: device })).code).toBe('NOT_FOUND');
    expect((await server.record(device, { field: 'temperature', value: 1 }, { token })).status).toBe(404);
    const call = await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: '{}' });
    expect(call.status).toBe(404);
    expect((await refusal(remove, { id: product.id })).code).toBe('NOT_FOUND');
  });

  test('a RECORD token may neither read nor change a product', async () => {
    const product = await createProduct(server, { token });
    const admin = await createMember(server, workspaceId, 'ADMIN');
    const { secret } = await createToken(server, admin.token, workspaceId, ['RECORD']);
    for (const query of [
      'query ($id: ID!) { product(id: $id) { name } }',
      'mutation ($id: ID!) { deleteProduct(id: $id) }',
    ])
      expect((await server.query(query, { id: product.id }, secret)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
