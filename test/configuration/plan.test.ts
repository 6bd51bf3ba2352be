import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';
import { ConfigurationClient, NOTHING } from './configuration-client.ts';

const SOIL = {
  key: 'soil',
  name: 'Soil sensor',
  fields: [
    { identifier: 'MOISTURE', type: 'FLOAT', unit: '%', role: 'PRIMARY' },
    { identifier: 'BATTERY', type: 'FLOAT', unit: 'V' },
  ],
};

/** Something changed: a copy. */
function soil(change: Record<string, unknown>): { products: Record<string, unknown>[] } {
  return { products: [{ ...SOIL, ...change }] };
}

describe.each(EITHER_DATABASE)('plans and applies, on %s', (database) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ database });
  });
  afterAll(() => server?.stop());

  async function workspace(): Promise<ConfigurationClient> {
    return new ConfigurationClient(server, await createWorkspace(server, 'configured'));
  }

  async function productId(client: ConfigurationClient, key = 'soil'): Promise<string> {
    const { product } = await server.gql(
      'query ($key: String, $id: ID) { product(key: $key, workspaceId: $id) { id } }',
      { key, id: client.workspaceId },
    );
    return product.id;
  }

  async function fieldId(client: ConfigurationClient, identifier: string): Promise<string> {
    const { product } = await server.gql(
      'query ($id: ID!, $field: String!) { product(id: $id) { field(identifier: $field) { id } } }',
      { id: await productId(client), field: identifier },
    );
    return product.field.id;
  }

  test('a document with defaults and empty lists written out is planned once', async () => {
    const client = await workspace();
    const wordy = {
      products: [
        {
          ...SOIL,
          deviceType: 'API',
          dashboard: { widgets: [] },
          configurationFields: [],
          decoder: { examples: [] },
          ignoreZeroPlaces: false,
          timeZone: null,
          webhookAnswer: null,
          fields: SOIL.fields.map((field) => ({ description: '', meaning: 'GAUGE', overflowAt: null, ...field })),
        },
      ],
      tokens: [],
    };
    const { pending } = await client.apply(wordy);
    expect(pending.map(({ action, path }) => [action, path])).toEqual([['CREATE', 'products[soil]']]);
    expect(await client.plan(wordy)).toMatchObject(NOTHING);
    expect(await client.plan(soil({}))).toMatchObject(NOTHING);
    expect(JSON.parse(await client.export('JSON', ['soil'])).products).toEqual([
      { ...SOIL, fields: SOIL.fields.toReversed() },
    ]);
  });

  test('tells each difference with its path, and which way it goes', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    const [moisture, battery] = SOIL.fields as [object, object];
    const changed = soil({
      offlineAfterSeconds: 60,
      fields: [
        { ...moisture, unit: 'permille' },
        { ...battery, role: 'BATTERY' },
        { identifier: 'pH', type: 'FLOAT' },
      ],
    });
    const { pending, drift } = await client.plan(changed);
    expect(drift).toEqual([]);
    expect(pending.map(({ action, path, before, after }) => [action, path, before, after])).toEqual([
      ['UPDATE', 'products[soil].offlineAfterSeconds', null, 60],
      ['UPDATE', 'products[soil].fields[BATTERY].role', null, 'BATTERY'],
      ['UPDATE', 'products[soil].fields[MOISTURE].unit', '%', 'permille'],
      ['CREATE', 'products[soil].fields[pH]', null, { identifier: 'pH', type: 'FLOAT' }],
    ]);
    await client.apply(changed);
    await server.gql('mutation ($id: ID!) { updateField(id: $id, input: { unit: "mV", name: "by hand" }) { id } }', {
      id: await fieldId(client, 'BATTERY'),
    });
    const plan = await client.plan(changed);
    expect(plan.drift.map(({ path, before, after }) => [path, before, after])).toEqual([
      ['products[soil].fields[BATTERY].name', null, 'by hand'],
      ['products[soil].fields[BATTERY].unit', 'V', 'mV'],
    ]);
    expect(plan.pending.map(({ path, before, after }) => [path, before, after])).toEqual([
      ['products[soil].fields[BATTERY].name', 'by hand', null],
      ['products[soil].fields[BATTERY].unit', 'mV', 'V'],
    ]);
    // What the document says as well is no drift.
    expect(await client.plan(await client.export())).toMatchObject(NOTHING);
    await client.apply(changed);
    expect(await client.plan(changed)).toMatchObject(NOTHING);
  });

  test('what other hands add to an object, or take away, is drift', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    await server.gql(
      `mutation ($id: ID!, $field: ID!) {
         addField(productId: $id, input: { identifier: "EXTRA", type: INTEGER }) { id }
         removeField(id: $field)
       }`,
      { id: await productId(client), field: await fieldId(client, 'BATTERY') },
    );
    const { pending, drift } = await client.plan(soil({}), { prune: true });
    expect(drift.map(({ action, path }) => [action, path])).toEqual([
      ['DELETE', 'products[soil].fields[BATTERY]'],
      ['CREATE', 'products[soil].fields[EXTRA]'],
    ]);
    // Nobody's document made EXTRA: it stays.
    expect(pending.map(({ action, path }) => [action, path])).toEqual([['CREATE', 'products[soil].fields[BATTERY]']]);
    await client.apply(soil({}), { prune: true });
    expect(await client.plan(soil({}), { prune: true })).toMatchObject(NOTHING);
    expect((await client.export('JSON')).includes('EXTRA')).toBe(true);
  });

  test('only a prune removes, within the set, and what the document never named stays', async () => {
    const client = await workspace();
    await createProduct(server, { workspaceId: client.workspaceId, input: { name: 'by hand', key: 'by-hand' } });
    const two = { products: [SOIL, { key: 'air', name: 'Air' }] };
    await client.apply(two, { set: 'building-a' });
    await client.apply({ products: [{ key: 'water', name: 'Water' }] }, { set: 'building-b' });
    const one = { products: [{ ...SOIL, fields: SOIL.fields.slice(0, 1) }] };
    expect(await client.plan(one, { set: 'building-a' })).toMatchObject(NOTHING);
    // Applied without it, so that nothing is removed yet, and still this set's own.
    await client.apply(one, { set: 'building-a' });
    const how = { set: 'building-a', prune: true };
    const { pending } = await client.plan(one, how);
    expect(pending.map(({ action, path, measurements }) => [action, path, measurements])).toEqual([
      ['DELETE', 'products[soil].fields[BATTERY]', 0],
      ['DELETE', 'products[air]', 0],
    ]);
    await client.apply(one, how);
    expect(await client.plan(one, how)).toMatchObject(NOTHING);
    const { products } = JSON.parse(await client.export('JSON'));
    expect(products.map(({ key }: { key: string }) => key)).toEqual(['by-hand', 'soil', 'water']);
    expect(products[1].fields).toHaveLength(1);
  });

  test('two sets do not take things from each other, unless one has let go', async () => {
    const client = await workspace();
    await client.apply(soil({}), { set: 'a' });
    const { blocked } = await client.plan(soil({ name: 'mine' }), { set: 'b' });
    expect(blocked).toEqual([{ path: 'products[soil]', message: expect.stringContaining('belongs to the set "a"') }]);
    await client.apply({ products: [] }, { set: 'a' });
    await client.apply(soil({ name: 'mine' }), { set: 'b' });
    // It is not a's any more.
    expect(await client.plan({ products: [] }, { set: 'a', prune: true, deleteData: true })).toMatchObject(NOTHING);
  });

  test('what holds measurements goes only when that is said, and the plan says how many', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    const { createDevices } = await server.gql(
      `mutation ($id: ID!) { createDevices(productId: $id, plan: "unlimited",
         devices: [{ name: "a", serialNumber: "a" }, { name: "b", serialNumber: "b" }]) { id } }`,
      { id: await productId(client) },
    );
    for (const [at, { id }] of createDevices.entries())
      await server.record(id, [
        { field: 'BATTERY', value: 1, timestamp: 1_700_000_000 + at },
        { field: 'BATTERY', value: 2, timestamp: 1_700_000_100 },
        { field: 'MOISTURE', value: 2, timestamp: 1_700_000_100 },
      ]);
    const one = { products: [{ ...SOIL, fields: SOIL.fields.slice(0, 1) }] };
    const plan = await client.plan(one, { prune: true });
    expect(plan.pending).toMatchObject([{ action: 'DELETE', path: 'products[soil].fields[BATTERY]', measurements: 4 }]);
    expect(plan.blocked).toEqual([
      { path: 'products[soil].fields[BATTERY]', message: expect.stringMatching(/^holds 4 measurements/) },
    ]);
    const refused = await client.tryToApply(one, plan.hash, { prune: true });
    expect(refused.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    expect((await client.plan({ products: [] }, { prune: true })).blocked[0]!.message).toMatch(/^holds 6 measurements/);
    const how = { prune: true, deleteData: true };
    expect((await client.plan(one, how)).blocked).toEqual([]);
    await client.apply(one, how);
    const { product } = await server.gql('query ($id: ID!) { product(id: $id) { fields { identifier } } }', {
      id: await productId(client),
    });
    expect(product.fields).toEqual([{ identifier: 'MOISTURE' }]);
    await client.apply({ products: [] }, how);
    const { products } = await server.gql('query ($id: ID) { products(workspaceId: $id) { totalCount } }', {
      id: client.workspaceId,
    });
    expect(products.totalCount).toBe(0);
  });

  test('a plan is good until something that it concerns changes, and not longer', async () => {
    const client = await workspace();
    await client.apply({ products: [SOIL, { key: 'air', name: 'Air' }] });
    const wanted = soil({ name: 'Soil' });
    const { hash } = await client.plan(wanted);
    // Of no concern to this document.
    await server.gql('mutation ($id: ID!) { updateProduct(id: $id, input: { name: "else" }) { id } }', {
      id: await productId(client, 'air'),
    });
    expect((await client.plan(wanted)).hash).toBe(hash);
    for (const how of [{ prune: true }, { set: 'other' }, { deleteData: true }])
      expect((await client.tryToApply(wanted, hash, how)).errors?.[0]?.extensions.code, JSON.stringify(how)).toMatch(
        /PLAN_OUTDATED/,
      );
    const another = await client.tryToApply(soil({ name: 'Another' }), hash);
    expect(another.errors?.[0]?.extensions.code).toBe('PLAN_OUTDATED');
    await server.gql('mutation ($id: ID!) { updateField(id: $id, input: { unit: "g" }) { id } }', {
      id: await fieldId(client, 'MOISTURE'),
    });
    expect((await client.tryToApply(wanted, hash)).errors?.[0]?.extensions.code).toBe('PLAN_OUTDATED');
    await client.apply(wanted);
    // Done is done: the same again is another plan.
    expect((await client.tryToApply(wanted, hash)).errors?.[0]?.extensions.code).toBe('PLAN_OUTDATED');
  });

  test('of several applies of one plan at once, one does it', async () => {
    const client = await workspace();
    const { hash } = await client.plan(soil({}));
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.tryToApply(soil({}), hash)));
    const codes = answers.map(({ errors }) => errors?.[0]?.extensions.code ?? 'done');
    expect(codes.toSorted()).toEqual(['PLAN_OUTDATED', 'PLAN_OUTDATED', 'PLAN_OUTDATED', 'done']);
    expect(JSON.parse(await client.export('JSON')).products).toHaveLength(1);
    expect(await client.plan(soil({}))).toMatchObject(NOTHING);
  });

  test('changes take effect at once, and what they replace is gone', async () => {
    const client = await workspace();
    const decoder = (value: number): object => ({
      source: `function Decoder() { return [{ device: "d", field: "MOISTURE", value: ${value} }] }`,
    });
    await client.apply(soil({ decoder: decoder(1) }));
    const id = await productId(client);
    const { createDevices } = await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "d", serialNumber: "d" }]) { id product { webhookId } } }',
      { id },
    );
    const call = async (): Promise<any> => {
      const url = `${server.url}/integrations/api/${createDevices[0].product.webhookId}/`;
      return (await fetch(url, { method: 'POST', body: 'x' })).json();
    };
    expect(await call()).toMatchObject({ stored: 1 });
    await client.apply(soil({ decoder: decoder(2) }));
    expect(await call()).toMatchObject({ stored: 1 });
    const { device, product } = await server.gql(
      `query ($id: ID!, $product: ID!) { device(id: $id) { latest { value } }
         product(id: $product) { decoderVersions { version active author } } }`,
      { id: createDevices[0].id, product: id },
    );
    expect(device.latest).toEqual([{ value: 2 }]);
    expect(product.decoderVersions).toEqual([
      { version: 2, active: true, author: 'operator@localhost' },
      { version: 1, active: false, author: 'operator@localhost' },
    ]);
    // Left out, a decoder stays; only a prune takes it away.
    await client.apply(soil({}));
    expect(await call()).toMatchObject({ stored: 1 });
    await client.apply(soil({}), { prune: true });
    expect(await call()).toEqual({ stored: 0, rejected: 0, error: 'NO_DECODER' });
  });

  test('a role goes from one field to another, and a key from one product to another', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    const [moisture, battery] = SOIL.fields as [object, object];
    const swapped = soil({
      fields: [
        { ...moisture, role: 'BATTERY' },
        { ...battery, role: 'PRIMARY' },
      ],
    });
    await client.apply(swapped);
    expect(await client.plan(swapped)).toMatchObject(NOTHING);
    const back = soil({
      fields: [
        { ...moisture, role: 'PRIMARY' },
        { ...battery, role: 'BATTERY' },
      ],
    });
    await client.apply(back);
    expect(await client.plan(back)).toMatchObject(NOTHING);
  });

  test('a product without a key is known by its name, and gets a key by being adopted', async () => {
    const client = await workspace();
    const made = await createProduct(server, { workspaceId: client.workspaceId, input: { name: 'Old sensor' } });
    await client.apply({ tokens: [{ name: 't', scopes: ['READ'], products: [{ name: 'Old sensor' }] }] });
    const adopting = {
      products: [
        { key: 'sensor', adopt: 'Old sensor', name: 'Sensor', fields: [{ identifier: 'temperature', type: 'FLOAT' }] },
      ],
      tokens: [{ name: 't', scopes: ['READ'], products: ['sensor'] }],
    };
    const { pending } = await client.apply(adopting);
    expect(pending.map(({ path, before, after }) => [path, before, after])).toEqual([
      ['products[sensor].key', null, 'sensor'],
      ['products[sensor].name', 'Old sensor', 'Sensor'],
    ]);
    expect(await productId(client, 'sensor')).toBe(made.id);
    expect(await client.plan(adopting)).toMatchObject(NOTHING);
    await createProduct(server, { workspaceId: client.workspaceId, input: { name: 'Twin' } });
    await createProduct(server, { workspaceId: client.workspaceId, input: { name: 'Twin' } });
    expect(await client.plan(await client.export())).toMatchObject(NOTHING);
    const { blocked } = await client.plan({ products: [{ name: 'Twin' }] });
    expect(blocked).toEqual([{ path: 'products["Twin"]', message: expect.stringContaining('has 2 of this name') }]);
  });

  test('devices, if the document has some: made, changed, and removed with their data only when that is said', async () => {
    const client = await workspace();
    const device = { product: 'soil', serialNumber: 'bed-1', name: 'Bed 1', plan: 'unlimited', tags: ['north'] };
    const document = {
      products: [{ ...SOIL, configurationFields: [{ identifier: 'DEPTH', type: 'NUMBER' }] }],
      devices: [
        { ...device, configuration: { DEPTH: 10 }, metadata: { b: 1, a: [2] }, offlineAfterSeconds: 60 },
        { ...device, serialNumber: 'bed-2', name: 'Bed 2', writeRate: 0 },
      ],
      tokens: [{ name: 'of a bed', scopes: ['READ'], devices: [{ product: 'soil', serialNumber: 'bed-1' }] }],
    };
    await client.apply(document, { set: 'a' });
    expect(await client.plan(document, { set: 'a', prune: true })).toMatchObject(NOTHING);
    const { devices } = await server.gql(
      `query ($id: ID) { devices(workspaceId: $id) { edges { node { id name tags metadata offlineAfterSeconds
         configuration { field { identifier } value } writeRate { perSecond source } } } } }`,
      { id: client.workspaceId },
    );
    expect(devices.edges.map(({ node }: any) => node)).toMatchObject([
      { name: 'Bed 1', tags: ['north'], metadata: { a: [2], b: 1 }, offlineAfterSeconds: 60 },
      { name: 'Bed 2', writeRate: { perSecond: null, source: 'DEVICE' } },
    ]);
    expect(devices.edges[0].node.configuration).toEqual([{ field: { identifier: 'DEPTH' }, value: 10 }]);
    expect(JSON.parse(await client.export('JSON')).devices).toBeUndefined();

    await server.gql('mutation ($id: ID!) { updateDevice(id: $id, input: { name: "by hand" }) { id } }', {
      id: devices.edges[1].node.id,
    });
    const { drift, pending } = await client.plan(document, { set: 'a' });
    expect(drift).toMatchObject([{ path: 'devices["soil/bed-2"].name', before: 'Bed 2', after: 'by hand' }]);
    expect(pending).toMatchObject([{ path: 'devices["soil/bed-2"].name', before: 'by hand', after: 'Bed 2' }]);

    await server.record(devices.edges[1].node.id, [{ field: 'MOISTURE', value: 1, timestamp: 1_700_000_000 }]);
    const less = { ...document, devices: document.devices.slice(0, 1) };
    const how = { set: 'a', prune: true };
    expect((await client.plan(less, how)).blocked).toEqual([
      { path: 'devices["soil/bed-2"]', message: expect.stringMatching(/^holds 1 measurement,/) },
    ]);
    // Nor goes the one to which a token of the document is limited.
    const other = { ...document, devices: document.devices.slice(1) };
    expect((await client.plan(other, how)).blocked).toEqual([
      { path: 'tokens["of a bed"].devices[0]', message: expect.stringContaining('"bed-1"') },
    ]);
    await client.apply(less, { ...how, deleteData: true });
    expect(await client.plan(less, how)).toMatchObject(NOTHING);
    const twice = {
      devices: [device, { ...device, serialNumber: 'x', product: 'none' }, { ...device, configuration: { X: 1 } }],
    };
    expect((await client.plan(twice)).blocked.map(({ path }) => path)).toEqual(['devices["soil/bed-1"]']);
    const { blocked } = await client.plan({
      devices: [
        { ...device, serialNumber: '70b3d57ed0000001' },
        { ...device, serialNumber: '70B3D57ED0000001' },
        { ...device, serialNumber: 'y', product: 'none' },
        { ...device, serialNumber: 'z', configuration: { X: 1, DEPTH: 'deep' } },
      ],
    });
    expect(blocked.map(({ path }) => path)).toEqual([
      'devices["soil/z"].configuration.DEPTH',
      'devices["soil/z"].configuration.X',
      'devices["soil/70B3D57ED0000001"].serialNumber',
      'devices["none/y"].product',
    ]);
    const many = Array.from({ length: 3 }, (_, at) => ({ product: 'soil', serialNumber: `f${at}`, name: 'free' }));
    expect((await client.plan({ devices: many })).blocked).toEqual([
      { path: 'devices', message: expect.stringContaining('covers 2 devices') },
    ]);
  });

  test('earlier identifiers of fields are part of a product, and never those of another field', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    await server.gql('mutation ($id: ID!) { renameField(id: $id, identifier: "WETNESS") { id } }', {
      id: await fieldId(client, 'MOISTURE'),
    });
    const document = JSON.parse(await client.export('JSON'));
    expect(document.products[0].fields[1]).toMatchObject({ identifier: 'WETNESS', aliases: ['MOISTURE'] });
    expect(await client.plan(document, { prune: true })).toMatchObject(NOTHING);
    document.products[0].fields[1].aliases = ['DAMPNESS', 'MOISTURE'];
    await client.apply(document);
    expect(await client.plan(document)).toMatchObject(NOTHING);
    const { createDevices } = await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, devices: [{ name: "d" }]) { id } }',
      { id: await productId(client) },
    );
    expect((await server.record(createDevices[0].id, [{ field: 'DAMPNESS', value: 1 }])).body.stored).toBe(1);
    document.products[0].fields[1].aliases = ['BATTERY'];
    expect((await client.plan(document)).blocked).toEqual([
      {
        path: 'products[soil].fields[WETNESS].aliases',
        message: expect.stringContaining('"BATTERY" is an identifier'),
      },
    ]);
    const other = await workspace();
    document.products[0].fields[1].aliases = ['MOISTURE'];
    await other.apply({ products: document.products });
    expect(JSON.parse(await other.export('JSON')).products).toEqual(document.products);
  });

  test('tokens of one name, one of which has ended, are told apart', async () => {
    const tokensOf = async (client: ConfigurationClient): Promise<unknown[]> =>
      JSON.parse(await client.export('JSON')).tokens;
    const both = async (lastingMs: number): Promise<{ client: ConfigurationClient; before: string }> => {
      const client = await workspace();
      for (const expiresAt of [new Date(Date.now() + lastingMs).toISOString(), null])
        await createToken(server, server.adminToken, client.workspaceId, ['READ'], { name: 'same', expiresAt });
      const before = await client.export();
      // On a slow machine it may have ended by now.
      return (await tokensOf(client)).length === 2 ? { client, before } : both(2 * lastingMs);
    };
    const { client, before } = await both(1_500);
    await client.apply(before);
    await expect.poll(() => tokensOf(client)).toHaveLength(1);
    expect(await client.plan(await client.export())).toMatchObject(NOTHING);
    expect(await client.plan(before)).toMatchObject(NOTHING);
  });

  test('a product is known by its key whatever it is called', async () => {
    const client = await workspace();
    await client.apply(soil({}));
    const id = await productId(client);
    await client.apply(soil({ name: 'Another name' }));
    expect(await productId(client)).toBe(id);
    await server.gql('mutation ($id: ID!) { updateProduct(id: $id, input: { name: "By hand" }) { id } }', { id });
    expect((await client.plan(soil({}))).pending.map(({ path }) => path)).toEqual(['products[soil].name']);
  });

  test('tokens and members: declared without a secret, granted like by hand', async () => {
    const client = await workspace();
    const { email } = await createMember(server, await createWorkspace(server, 'elsewhere'), 'VIEWER');
    const document = {
      products: [SOIL],
      tokens: [
        { name: 'reader', scopes: ['READ'], products: ['soil'], fields: ['MOISTURE'] },
        { name: 'ends', scopes: ['RECORD', 'READ'], expiresAt: '2090-01-01T01:00:00+01:00' },
      ],
      members: [{ email: email.toUpperCase(), role: 'EDITOR' }],
    };
    await client.apply(document);
    expect(await client.plan(document)).toMatchObject(NOTHING);
    const exported = await client.export('JSON');
    expect(JSON.parse(exported).tokens).toEqual([
      { name: 'ends', scopes: ['READ', 'RECORD'], expiresAt: '2090-01-01T00:00:00.000Z' },
      { name: 'reader', scopes: ['READ'], products: ['soil'], fields: ['MOISTURE'] },
    ]);
    const { workspace: found } = await server.gql(
      'query ($id: ID!) { workspace(id: $id) { tokens { id name } members { user { email } role } } }',
      { id: client.workspaceId },
    );
    expect(found.members).toContainEqual({ user: { email }, role: 'EDITOR' });
    const { id } = found.tokens.find(({ name }: { name: string }) => name === 'reader');
    const { renewToken } = await server.gql('mutation ($id: ID!) { renewToken(id: $id) { secret token { id } } }', {
      id,
    });
    expect(renewToken.token.id).toBe(id);
    const seen = await server.gql('{ products { edges { node { key } } } }', {}, renewToken.secret);
    expect(seen['products'].edges).toEqual([{ node: { key: 'soil' } }]);

    const less = { ...document, tokens: document.tokens.slice(1), members: [] };
    await client.apply(less, { prune: true });
    expect(
      (await server.query('{ viewer { token { id } } }', {}, renewToken.secret)).errors?.[0]?.extensions.code,
    ).toBe('UNAUTHENTICATED');
    expect(await client.plan(less, { prune: true })).toMatchObject(NOTHING);
    const unknown = await client.plan({ members: [{ email: 'nobody@example.org', role: 'VIEWER' }] });
    expect(unknown.blocked).toEqual([
      { path: 'members["nobody@example.org"]', message: expect.stringContaining('no user with the address') },
    ]);
    const alone = await client.plan({ members: [{ email: 'operator@localhost', role: 'VIEWER' }] });
    expect(alone.blocked).toEqual([{ path: 'members', message: expect.stringContaining('without an ADMIN') }]);
  });
});

describe.each(EITHER_DATABASE)('documents, on %s', (database) => {
  let server: TestServer;
  let client: ConfigurationClient;
  beforeAll(async () => {
    server = await startServer({ database });
    client = new ConfigurationClient(server, await createWorkspace(server, 'documents'));
    await client.apply({ products: [SOIL] });
  });
  afterAll(() => server?.stop());

  test.each<[string, unknown, string, string]>([
    [
      'an unknown section',
      { product: [] },
      'product',
      'unknown key; there are format, products, endpoints, dashboards, tokens, members, devices.',
    ],
    ['an unknown key of a product', soil({ nmae: 'x' }), 'products[soil].nmae', 'unknown key'],
    [
      'an unknown key of a field',
      soil({ fields: [{ identifier: 'A', type: 'FLOAT', units: 'x' }] }),
      'products[soil].fields[A].units',
      'unknown key',
    ],
    [
      'a text that is a number',
      soil({ name: 5 }),
      'products[soil].name',
      'expected a text, got 5; write it in quotes.',
    ],
    ['a missing name', { products: [{ key: 'a' }] }, 'products[a].name', 'is missing.'],
    ['an object without a name', { products: [{}] }, 'products[0].name', 'is missing.'],
    ['a key that is none', { products: [{ key: 'A b', name: 'x' }] }, 'products["A b"].key', 'is no key'],
    ['a product twice', { products: [SOIL, SOIL] }, 'products[soil]', 'is there twice.'],
    [
      'a field twice',
      soil({ fields: [SOIL.fields[0], SOIL.fields[0]] }),
      'products[soil].fields[MOISTURE]',
      'is there twice',
    ],
    [
      'a meaning that does not fit',
      soil({ fields: [{ identifier: 'A', type: 'STRING', meaning: 'COUNTER' }] }),
      'products[soil].fields[A].meaning',
      'COUNTER is for FLOAT and INTEGER',
    ],
    [
      'one role twice',
      soil({ fields: [...SOIL.fields, { identifier: 'Z', type: 'FLOAT', role: 'PRIMARY' }] }),
      'products[soil].fields[Z].role',
      'the field "MOISTURE" is PRIMARY already',
    ],
    [
      'a dashboard that is none',
      soil({ dashboard: { widgets: [{}] } }),
      'products[soil].dashboard.widgets[0].kind',
      'is missing',
    ],
    ['another device type', soil({ deviceType: 'LORAWAN' }), 'products[soil].deviceType', 'is API and never changes'],
    ['a zone that is none', soil({ timeZone: 'Mars' }), 'products[soil].timeZone', 'Mars'],
    ['a wrong scope', { tokens: [{ name: 't', scopes: ['WRITE'] }] }, 'tokens["t"].scopes[0]', 'expected one of'],
    [
      'a product that is not there',
      { tokens: [{ name: 't', scopes: ['READ'], products: ['other'] }] },
      'tokens["t"].products[0]',
      'there is no product with the key "other"',
    ],
    [
      'a device that is not there',
      { tokens: [{ name: 't', scopes: ['READ'], devices: [{ product: 'soil', serialNumber: 's' }] }] },
      'tokens["t"].devices[0]',
      'no device with the serial number "s"',
    ],
    [
      'an end that is past',
      { tokens: [{ name: 't', scopes: ['READ'], expiresAt: '2020-01-01T00:00:00Z' }] },
      'tokens["t"].expiresAt',
      'must be in the future.',
    ],
    ['another format', { format: 2 }, 'format', 'expected 1'],
    [
      'a decoder that does not parse',
      soil({ decoder: { source: 'function (' } }),
      'products[soil].decoder.source',
      'does not parse',
    ],
    [
      'an example that fails',
      soil({
        decoder: {
          source: 'function Decoder() { return [{ device: "d", field: "MOISTURE", value: 2 }] }',
          examples: [{ name: 'dry', request: { body: '' }, expected: [{ field: 'MOISTURE', value: 1 }] }],
        },
      }),
      'products[soil].decoder.examples[dry]',
      'the example fails: entry 0: expected value 1, got 2',
    ],
  ])('%s is blocked at its place', async (_, document, path, message) => {
    const { blocked, hash } = await client.plan(document);
    expect(blocked).toEqual([{ path, message: expect.stringContaining(message) }]);
    const { errors } = await client.tryToApply(document, hash);
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(path),
      extensions: { code: 'BAD_USER_INPUT' },
    });
    expect(await client.plan({ products: [SOIL] })).toMatchObject(NOTHING);
  });

  test.each<[string, string, RegExp]>([
    ['an alias', 'products:\n  - &a {key: a, name: a}\n  - *a\n', /line 2, column .*aliases/],
    ['a mistake', 'products:\n\t- name: a\n', /line 2, column 1/],
    ['a key twice', 'products: []\nproducts: []\n', /line 2, column 1/],
    ['a tag', 'products: !!set {a, b}\n', /tag/],
    ['two documents', 'products: []\n---\nproducts: []\n', /document/],
    ['no number', 'products:\n  - writeRate: .inf\n', /line 2.*finite/],
    ['a list', '- a\n', /expected an object/],
    ['a key that is no text', '1: 2\n', /a key must be a text/],
    ['many levels', `products: ${'['.repeat(5_000)}${']'.repeat(5_000)}`, /nested/],
    ['JSON that is cut off', '{"products": [', /document: no YAML/],
  ])('%s is no document', async (_, document, message) => {
    const query = 'mutation ($d: String!, $id: ID) { planConfiguration(workspaceId: $id, document: $d) { hash } }';
    const { errors } = await server.query(query, { d: document, id: client.workspaceId });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(message),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  test('several mistakes are told at once', async () => {
    const { blocked } = await client.plan({ a: 1, products: [{ key: 'a', name: '', x: 1 }], tokens: {} });
    expect(blocked.map(({ path }) => path)).toEqual(['a', 'products[a].x', 'products[a].name', 'tokens']);
  });

  test('a token grants nothing that it lacks', async () => {
    const token = await createToken(server, server.adminToken, client.workspaceId, ['ADMIN', 'READ', 'CONFIGURE'], {
      expiresAt: '2095-01-01T00:00:00Z',
    });
    const limited = new ConfigurationClient(server, client.workspaceId, token.secret);
    const { blocked } = await limited.plan({
      tokens: [
        { name: 'records', scopes: ['RECORD'], expiresAt: '2090-01-01T00:00:00Z' },
        { name: 'for ever', scopes: ['READ'] },
        { name: 'reads', scopes: ['READ'], expiresAt: '2090-01-01T00:00:00Z' },
      ],
    });
    expect(blocked.map(({ path }) => path)).toEqual(['tokens["records"]', 'tokens["for ever"]']);
  });

  test('an apply has one entry in the audit log, with the hash', async () => {
    const own = new ConfigurationClient(server, await createWorkspace(server, 'audited'));
    const document = { products: [SOIL, { key: 'b', name: 'B', decoder: { source: 'function Decoder() {}' } }] };
    const { hash } = await own.apply(document, { set: 'a' });
    const { auditLog } = await server.gql(
      'query ($id: ID) { auditLog(workspaceId: $id) { edges { node { operation arguments } } } }',
      { id: own.workspaceId },
    );
    expect(auditLog.edges.map(({ node }: { node: unknown }) => node)).toEqual([
      {
        operation: 'applyConfiguration',
        arguments: {
          document: `(${JSON.stringify(document).length} characters)`,
          hash,
          workspaceId: own.workspaceId,
          set: 'a',
        },
      },
    ]);
  });
});
