import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDatabase, DATABASES, startServer, type TestDatabase, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const CREATE = 'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id key name } }';
const UPDATE = `mutation ($id: ID!, $input: UpdateProductInput!) { updateProduct(id: $id, input: $input) { id key } }`;
const BY_KEY = 'query ($key: String!, $w: ID) { product(key: $key, workspaceId: $w) { id key } }';
const place = { x: 0, y: 0, width: 6, height: 4 };

/** An input with something of everything, long texts included. */
function whole(key: string): Record<string, unknown> {
  return {
    key,
    name: 'Meter',
    deviceType: 'LORAWAN',
    dashboard: { widgets: [{ kind: 'line', fields: ['t'], place, options: { min: 0, deep: [1, { a: null }] } }] },
    fields: [
      { identifier: 't', type: 'FLOAT', unit: '°C', description: 'long '.repeat(100), role: 'PRIMARY' },
      { identifier: 'n', type: 'INTEGER', meaning: 'COUNTER', overflowAt: 65536 },
    ],
    decoder: `function Decoder() { return [] /* ${'x'.repeat(1000)} */ }`,
    offlineAfterSeconds: 60,
    answer200: true,
    webhookAnswer: { body: '[]' },
    timeZone: 'Europe/Berlin',
    ignoreZeroPlaces: true,
  };
}

describe.each(DATABASES)('keys of products on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'keys');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function create(input: Record<string, unknown>): Promise<Record<string, any>> {
    return (await server.gql(CREATE, { input }, token))['createProduct'];
  }

  async function update(id: string, input: Record<string, unknown>): Promise<Record<string, any>> {
    return (await server.gql(UPDATE, { id, input }, token))['updateProduct'];
  }

  async function refusal(query: string, variables: unknown, by = token): Promise<Record<string, any>> {
    const answer = await server.query(query, variables, by);
    expect(answer.data).toBeNull();
    const { message, extensions } = answer.errors![0]!;
    return { message, ...extensions };
  }

  test('a key finds its product, beside the id and apart from the name', async () => {
    const made = await create({ name: 'Pump', key: 'pump-1' });
    expect(made).toEqual({ id: made['id'], key: 'pump-1', name: 'Pump' });
    expect((await server.gql(BY_KEY, { key: 'pump-1' }, token))['product']).toEqual({ id: made['id'], key: 'pump-1' });
    expect((await server.gql(BY_KEY, { key: 'pump-1', w: workspaceId }, token))['product'].id).toBe(made['id']);
    expect(await create({ name: 'Pump' })).toMatchObject({ key: null, name: 'Pump' });
    expect(await refusal(BY_KEY, { key: 'pump-2' })).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('"pump-2"'),
    });
    for (const wrong of ['{ product { id } }', `{ product(id: "${made['id']}", key: "pump-1") { id } }`])
      expect(await refusal(wrong, {})).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test.each([
    ['', ''],
    ['Größe 1', 'grosse-1'],
    ['Pump', 'pump'],
    ['a_b', 'a-b'],
    ['x'.repeat(65), 'x'.repeat(64)],
  ])('the key "%s" is none', async (key, usable) => {
    const found = await refusal(CREATE, { input: { name: 'none', key } });
    expect(found).toMatchObject({ code: 'BAD_USER_INPUT', message: expect.stringContaining('input.key: ') });
    if (usable !== '' && !key.includes('ß')) expect(found.message).toContain(`"${usable}"`);
  });

  test('the same input with the same key answers the same product, whatever order it has and defaults it spells out', async () => {
    const input = whole('whole');
    const { id } = await create(input);
    expect((await create(input))['id']).toBe(id);
    const fields = (input['fields'] as object[]).toReversed();
    const backwards = Object.fromEntries(Object.entries({ ...input, fields }).toReversed());
    expect((await create(backwards))['id']).toBe(id);
    const plain = await create({ name: 'Plain', key: 'plain', fields: [{ identifier: 'a', type: 'FLOAT' }] });
    const spelled = {
      name: 'Plain',
      key: 'plain',
      workspaceId,
      deviceType: 'API',
      dashboard: { widgets: [] },
      fields: [{ identifier: 'a', type: 'FLOAT', name: '', unit: null, meaning: 'GAUGE', overflowAt: null }],
      decoder: null,
      offlineAfterSeconds: null,
      answer200: false,
      webhookAnswer: null,
      timeZone: null,
      ignoreZeroPlaces: false,
    };
    expect((await create(spelled))['id']).toBe(plain['id']);
    const listed = await server.gql('{ products { edges { node { key } } } }', {}, token);
    const keys = listed['products'].edges.map(({ node }: { node: { key: string } }) => node.key);
    expect(keys.filter((key: string) => key === 'whole' || key === 'plain')).toEqual(['whole', 'plain']);
  });

  test.each([
    ['name', { name: 'Other' }, 'input.name ("Other", there "Meter")'],
    ['deviceType', { deviceType: 'API' }, 'input.deviceType ("API", there "LORAWAN")'],
    ['dashboard', { dashboard: null }, 'input.dashboard'],
    ['decoder', { decoder: 'function Decoder() {}' }, 'input.decoder'],
    ['decoder', { decoder: null }, 'input.decoder'],
    ['offlineAfterSeconds', { offlineAfterSeconds: null }, 'input.offlineAfterSeconds (left out, there 60)'],
    ['answer200', { answer200: false }, 'input.answer200 (left out, there true)'],
    ['webhookAnswer', { webhookAnswer: { body: '{}' } }, 'input.webhookAnswer'],
    ['timeZone', { timeZone: 'UTC' }, 'input.timeZone ("UTC", there "Europe/Berlin")'],
    ['ignoreZeroPlaces', { ignoreZeroPlaces: null }, 'input.ignoreZeroPlaces (left out, there true)'],
  ])('another %s under the same key is CONFLICT: %j', async (path, change, named) => {
    const { id } = await create(whole('same'));
    const found = await refusal(CREATE, { input: { ...whole('same'), ...change } });
    expect(found).toMatchObject({ code: 'CONFLICT', existingId: id, differences: [`input.${path}`] });
    expect(found.message).toContain('the product "Meter" has the key "same" already');
    expect(found.message).toContain(named);
  });

  test('fields that differ are named one by one', async () => {
    const { id } = await create(whole('fields'));
    const fields = [
      { identifier: 't', type: 'FLOAT', unit: 'K' },
      { identifier: 'new', type: 'STRING' },
    ];
    const found = await refusal(CREATE, { input: { ...whole('fields'), name: 'Both', fields } });
    expect(found).toMatchObject({ code: 'CONFLICT', existingId: id });
    expect(found['differences']).toEqual(['input.name', 'input.fields.t', 'input.fields.new', 'input.fields.n']);
    expect(found.message).toContain('input.fields.new ({"type":"STRING"}, there left out)');
  });

  test('a script may run again after others have changed the product, and one that describes it as it is too', async () => {
    const input = { name: 'First', key: 'twice', fields: [{ identifier: 'a', type: 'FLOAT' }] };
    const { id } = await create(input);
    await server.gql(
      'mutation ($id: ID!) { addField(productId: $id, input: { identifier: "b", type: BOOLEAN }) { id } }',
      { id },
      token,
    );
    await update(id, { name: 'Second' });
    expect(await create(input)).toMatchObject({ id, name: 'Second' });
    const asItIs = { ...input, name: 'Second', fields: [...input.fields, { identifier: 'b', type: 'BOOLEAN' }] };
    expect(await create(asItIs)).toMatchObject({ id });
    const found = await refusal(CREATE, { input: { ...input, name: 'Third' } });
    expect(found).toMatchObject({ existingId: id, differences: ['input.name'] });
    expect(found.message).toContain('("Third", there "Second")');
  });

  test('creates of one key at the same moment make one product', async () => {
    const many = await Promise.all(Array.from({ length: 12 }, () => create(whole('at-once'))));
    expect(new Set(many.map(({ id }) => id)).size).toBe(1);
  });

  test('a key is given, changed, freed and taken over; another product that has it is named', async () => {
    const one = await create({ name: 'One', key: 'one' });
    const two = await create({ name: 'Two' });
    expect(await refusal(UPDATE, { id: two['id'], input: { key: 'one' } })).toMatchObject({
      code: 'CONFLICT',
      message: expect.stringMatching(/^input\.key: the product "One" has the key "one" already/),
      existingId: one['id'],
    });
    expect(await update(two['id'], { key: 'two' })).toMatchObject({ key: 'two' });
    expect(await update(two['id'], { key: 'two', name: 'Still' })).toMatchObject({ key: 'two' });
    // Not made by an input with this key: what it is now counts.
    expect((await create({ name: 'Still', key: 'two' }))['id']).toBe(two['id']);
    expect(await update(one['id'], { key: null })).toMatchObject({ key: null });
    expect(await update(two['id'], { key: 'one' })).toMatchObject({ key: 'one' });
    expect(await refusal(UPDATE, { id: one['id'], input: { key: 'No' } })).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect(await update(one['id'], { name: 'kept' })).toMatchObject({ key: null });
  });

  test('a copy has no key, and a deleted product leaves its own to the next', async () => {
    const { id } = await create({ name: 'Origin', key: 'origin' });
    const clone = 'mutation ($id: ID!) { cloneProduct(id: $id, name: "Copy") { id key } }';
    expect((await server.gql(clone, { id }, token))['cloneProduct'].key).toBeNull();
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id }, token);
    expect((await refusal(BY_KEY, { key: 'origin' })).code).toBe('NOT_FOUND');
    expect((await create({ name: 'Next', key: 'origin' }))['id']).not.toBe(id);
  });

  test('a key belongs to its workspace, and limited tokens learn nothing by it', async () => {
    const other = await createWorkspace(server, 'other');
    const input = { name: 'Shared', key: 'shared' };
    const here = await create(input);
    const there = (await server.gql(CREATE, { input: { ...input, workspaceId: other } }, server.adminToken))[
      'createProduct'
    ];
    expect(there.id).not.toBe(here['id']);
    const admin = server.adminToken;
    expect(await refusal(BY_KEY, { key: 'shared' }, admin)).toMatchObject({ code: 'BAD_USER_INPUT' });
    expect((await server.gql(BY_KEY, { key: 'shared', w: other }, admin))['product'].id).toBe(there.id);
    expect((await refusal(BY_KEY, { key: 'shared', w: other })).code).toBe('NOT_FOUND');
    const own = await create({ name: 'Own', key: 'own' });
    const { token: by } = await createMember(server, workspaceId, 'ADMIN');
    const limited = await createToken(server, by, workspaceId, ['READ', 'CONFIGURE'], { productIds: [own['id']] });
    expect((await server.gql(BY_KEY, { key: 'own' }, limited.secret))['product'].id).toBe(own['id']);
    const hidden = await refusal(BY_KEY, { key: 'shared' }, limited.secret);
    expect(hidden).toEqual({ ...(await refusal(BY_KEY, { key: 'sharer' }, limited.secret)), message: hidden.message });
    expect(hidden.message).not.toContain(here['id']);
    for (const key of ['shared', 'free'])
      expect((await refusal(UPDATE, { id: own['id'], input: { key } }, limited.secret)).code).toBe('FORBIDDEN');
    expect(
      (await server.gql(UPDATE, { id: own['id'], input: { key: null } }, limited.secret))['updateProduct'].key,
    ).toBe(null);
  });
});

const redisUrl = inject('redisUrl');

describe.skipIf(redisUrl === null)('keys on two nodes', () => {
  let database: TestDatabase;
  let nodes: TestServer[];
  beforeAll(async () => {
    database = await createDatabase('postgres');
    const env = { REDIS_URL: redisUrl! };
    nodes = await Promise.all([startServer({ database, env }), startServer({ database, env })]);
  });
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database?.drop();
  });

  test('creates of one key on both at the same moment make one product', async () => {
    const [{ id: workspaceId }] = (await nodes[0]!.gql('{ workspaces { id } }'))['workspaces'];
    for (const key of ['one', 'two', 'three']) {
      const input = { ...whole(key), workspaceId };
      const made = await Promise.all([...nodes, ...nodes].map((node) => node.gql(CREATE, { input })));
      expect(new Set(made.map(({ createProduct }) => createProduct.id)).size).toBe(1);
    }
  });
});
