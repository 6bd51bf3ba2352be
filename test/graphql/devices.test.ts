import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, EITHER_DATABASE, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const FIELDS = 'id name serialNumber deviceType plan { slug } tags metadata location product { id }';
const CREATE = `mutation ($id: ID!, $devices: [DeviceInput!]!, $plan: String) {
  createDevices(productId: $id, devices: $devices, plan: $plan) { ${FIELDS} }
}`;
const UPDATE = `mutation ($id: ID!, $input: UpdateDeviceInput!) { updateDevice(id: $id, input: $input) { ${FIELDS} } }`;
const DELETE = 'mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }';
const LIST = `query ($w: ID, $p: ID, $search: String, $tags: [String!], $online: Boolean, $first: Int, $after: String) {
  devices(workspaceId: $w, productId: $p, search: $search, tags: $tags, online: $online, first: $first, after: $after) {
    edges { node { name } } pageInfo { hasNextPage endCursor }
  }
}`;
const RATE = `mutation ($w: ID, $p: ID, $d: ID, $rate: Float, $reset: Boolean) {
  setWriteRate(workspaceId: $w, productId: $p, deviceId: $d, perSecond: $rate, reset: $reset)
}`;

/** JSON text with sorted keys: PostgreSQL keeps no order of them. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}

describe.each(DATABASES)('devices on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database, compared: true, env: { WRITE_RATE_PER_FIELD: '0.01' } });
    workspaceId = await createWorkspace(server, 'devices');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
  });

  afterAll(async () => {
    await server?.stop();
  });

  const newProduct = async (input: Record<string, unknown> = {}): Promise<string> =>
    (await createProduct(server, { token, serialNumbers: [], input })).id;

  async function create(id: string, devices: unknown[], plan: string | null = 'unlimited'): Promise<any[]> {
    return (await server.gql(CREATE, { id, devices, plan }, token))['createDevices'];
  }

  async function refusal(query: string, variables: unknown): Promise<{ code?: string; message?: string }> {
    const answer = await server.query(query, variables, token);
    expect(answer.data).toBeNull();
    return { code: answer.errors?.[0]?.extensions.code, message: answer.errors?.[0]?.message };
  }

  async function names(variables: Record<string, unknown>): Promise<string[]> {
    const { devices } = await server.gql(LIST, { first: 500, ...variables }, token);
    return devices.edges.map((edge: { node: { name: string } }) => edge.node.name);
  }

  test('a device needs a name only; its serial number is made, readable and unique', async () => {
    const product = await newProduct({ deviceType: 'PARTICLE' });
    const [one, two] = await create(product, [{ name: 'one' }, { name: 'two' }]);
    expect(one).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      name: 'one',
      serialNumber: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{12}$/),
      deviceType: 'PARTICLE',
      plan: { slug: 'unlimited' },
      tags: [],
      metadata: null,
      location: null,
      product: { id: product },
    });
    expect(two.serialNumber).not.toBe(one.serialNumber);
  });

  test.each([
    ['a text', 'text'],
    ['a text that looks like JSON', '{"a":[1]}'],
    ['a text that looks like a number', '12'],
    ['a number', -1.5e300],
    ['true', true],
    ['false', false],
    ['an empty list', []],
    ['keys that mean something elsewhere', { $gt: 1, $or: [], 'a.b': { constructor: 1 }, toString: null, '': '?' }],
    ['quotes and emoji', { q: `'"\\\u2028 😀 ?` }],
    ['a __proto__ key', JSON.parse('{"__proto__": {"x": 1}}')],
  ])('metadata comes back as it was: %s', async (_title, metadata) => {
    const product = await newProduct();
    const [device] = await create(product, [{ name: 'm', metadata }]);
    expect(canonical(device.metadata)).toBe(canonical(metadata));
    const { device: read } = await server.gql(
      'query ($id: ID!) { device(id: $id) { metadata } }',
      { id: device.id },
      token,
    );
    expect(canonical(read.metadata)).toBe(canonical(metadata));
    await server.gql(UPDATE, { id: device.id, input: { metadata: { other: 1 } } }, token);
    const { updateDevice } = await server.gql(UPDATE, { id: device.id, input: { metadata } }, token);
    expect(canonical(updateDevice.metadata)).toBe(canonical(metadata));
  });

  test.each([
    ['devices', []],
    ['devices[1].name', [{ name: 'a' }, { name: '' }]],
    ['devices[0].name', [{ name: 'x'.repeat(201) }]],
    ['devices[0].name', [{ name: 'a\0' }]],
    ['devices[0].serialNumber', [{ name: 'a', serialNumber: '' }]],
    ['devices[0].serialNumber', [{ name: 'a', serialNumber: ' x' }]],
    ['devices[0].serialNumber', [{ name: 'a', serialNumber: 'x\ny' }]],
    ['devices[0].serialNumber', [{ name: 'a', serialNumber: 'x'.repeat(101) }]],
    ['devices[0].tags[1]', [{ name: 'a', tags: ['b', 'c\nd'] }]],
    ['devices[0].tags[1]', [{ name: 'a', tags: ['b', 'b'] }]],
    ['devices[0].tags[0]', [{ name: 'a', tags: [''] }]],
    ['devices[0].tags[0]', [{ name: 'a', tags: ['x'.repeat(101)] }]],
    ['devices[0].tags', [{ name: 'a', tags: Array.from({ length: 51 }, (_, index) => `t${index}`) }]],
    ['devices[0].metadata', [{ name: 'a', metadata: 'x'.repeat(65_536) }]],
    ['devices[0].metadata.a[0]', [{ name: 'a', metadata: { a: ['\0'] } }]],
    ['devices[0].metadata.a', [{ name: 'a', metadata: { a: '\ud800' } }]],
    ['devices[0].location', [{ name: 'a', location: 'x'.repeat(501) }]],
  ])('a mistake is named by its path: %s', async (path, devices) => {
    const product = await newProduct();
    const found = await refusal(CREATE, { id: product, devices });
    expect(found.code).toBe('BAD_USER_INPUT');
    expect(found.message?.slice(0, path.length + 2)).toBe(`${path}: `);
  });

  test('all or none: a serial number that is taken is named with its place', async () => {
    const product = await newProduct();
    await create(product, [{ name: 'first', serialNumber: 'SN-1' }]);
    const twice = [{ name: 'x', serialNumber: 'a' }, { name: 'y' }, { name: 'z', serialNumber: 'a' }];
    const inRequest = await refusal(CREATE, { id: product, devices: twice, plan: 'unlimited' });
    expect(inRequest).toEqual({ code: 'CONFLICT', message: expect.stringMatching(/^devices\[2\]\.serialNumber: "a"/) });
    const taken = [{ name: 'x' }, { name: 'y', serialNumber: 'SN-1' }];
    const inProduct = await refusal(CREATE, { id: product, devices: taken, plan: 'unlimited' });
    expect(inProduct).toEqual({
      code: 'CONFLICT',
      message: expect.stringMatching(/^devices\[1\]\.serialNumber: .*"SN-1"/),
    });
    expect(await names({ p: product })).toEqual(['first']);
    // Case counts, and another product is another matter.
    await create(product, [{ name: 'second', serialNumber: 'sn-1' }]);
    await create(await newProduct(), [{ name: 'elsewhere', serialNumber: 'SN-1' }]);
  });

  test.each([
    ['LORAWAN', '70B3D57ED005ABCD'],
    ['PARTICLE', 'E00FCE68AABBCCDDEEFF0011'],
  ])('of %s devices identifiers are compared without regard to case', async (deviceType, id) => {
    const product = await newProduct({ deviceType });
    const [device] = await create(product, [{ name: 'a', serialNumber: id }]);
    const again = { id: product, devices: [{ name: 'b', serialNumber: id.toLowerCase() }], plan: 'unlimited' };
    expect((await refusal(CREATE, again)).code).toBe('CONFLICT');
    const { updateDevice } = await server.gql(
      UPDATE,
      { id: device.id, input: { serialNumber: id.toLowerCase() } },
      token,
    );
    expect(updateDevice.serialNumber).toBe(id.toLowerCase());
    const [other] = await create(product, [{ name: 'c' }]);
    expect((await refusal(UPDATE, { id: other.id, input: { serialNumber: id } })).code).toBe('CONFLICT');
  });

  test('of two who want the same serial number at once, one gets it', async () => {
    const product = await newProduct({ deviceType: 'LORAWAN' });
    const answers = await Promise.all(
      ['A84041000181C0DE', 'a84041000181c0de', 'A8-40-41-00-01-81-C0-DE', '0xa84041000181c0de'].map((serialNumber) =>
        server.query(CREATE, { id: product, devices: [{ name: 'x', serialNumber }], plan: 'unlimited' }, token),
      ),
    );
    expect(answers.map((answer) => answer.errors?.[0]?.extensions.code ?? 'made').sort()).toEqual([
      'CONFLICT',
      'CONFLICT',
      'CONFLICT',
      'made',
    ]);
  });

  test('free covers the first two devices of a workspace, and says which plan to choose for more', async () => {
    const own = await createWorkspace(server, 'free');
    const { token: admin } = await createMember(server, own, 'ADMIN');
    const product = (await createProduct(server, { token: admin, serialNumbers: [] })).id;
    const second = (await createProduct(server, { token: admin, serialNumbers: [] })).id;
    const make = (id: string, count: number, plan?: string) =>
      server.query(CREATE, { id, devices: Array.from({ length: count }, (_, n) => ({ name: `d${n}` })), plan }, admin);
    const three = await make(product, 3);
    expect(three.errors?.[0]).toMatchObject({
      extensions: { code: 'PLAN_LIMIT' },
      message: expect.stringContaining('"standard"'),
    });
    const large = await make(product, 1001, 'standard');
    expect(large.errors?.[0]).toMatchObject({
      extensions: { code: 'PLAN_LIMIT' },
      message: expect.stringContaining('"unlimited"'),
    });
    const racing = await Promise.all([make(product, 1), make(second, 1), make(product, 1), make(second, 1)]);
    expect(racing.map((answer) => answer.errors?.[0]?.extensions.code ?? 'made').sort()).toEqual([
      'PLAN_LIMIT',
      'PLAN_LIMIT',
      'made',
      'made',
    ]);
    const more = await make(product, 1, 'standard');
    expect(more.data?.['createDevices'][0].plan).toEqual({ slug: 'standard' });
    const move = { id: more.data?.['createDevices'][0].id, input: { plan: 'free' } };
    expect((await server.query(UPDATE, move, admin)).errors?.[0]?.extensions.code).toBe('PLAN_LIMIT');
    const made = racing.find((answer) => answer.data !== null)?.data?.['createDevices'][0];
    await server.gql(DELETE, { ids: [made.id] }, admin);
    expect((await server.gql(UPDATE, move, admin))['updateDevice'].plan).toEqual({ slug: 'free' });
  });

  test('an unknown plan is refused with the plans there are', async () => {
    const product = await newProduct();
    const found = await refusal(CREATE, { id: product, devices: [{ name: 'x' }], plan: 'gold' });
    expect(found).toEqual({ code: 'BAD_USER_INPUT', message: expect.stringContaining('free, standard, unlimited') });
    const { plans } = await server.gql('{ plans { slug deviceAllowance retentionDays } }', {}, token);
    expect(plans[0]).toEqual({ slug: 'free', deviceAllowance: 2, retentionDays: null });
    expect(plans.at(-1)).toEqual({ slug: 'unlimited', deviceAllowance: null, retentionDays: null });
  });

  test('thousands of devices come and go at once, in their order', async () => {
    // As many as may be on one, more than a statement takes on both.
    const count = EITHER_DATABASE.includes(database) ? 10_000 : 3_000;
    const product = await newProduct();
    const devices = Array.from({ length: count }, (_, index) => ({ name: `bulk ${index}` }));
    const data = await server.gql(
      'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id name serialNumber } }',
      { id: product, devices },
      token,
    );
    const made: { id: string; name: string; serialNumber: string }[] = data['createDevices'];
    expect(made.map((device) => device.name)).toEqual(devices.map((device) => device.name));
    expect(new Set(made.map((device) => device.serialNumber)).size).toBe(count);
    expect(await names({ p: product, first: 3 })).toEqual(['bulk 0', 'bulk 1', 'bulk 2']);
    const kept = made[2000]!.id;
    const ids = made.map((device) => device.id).filter((id) => id !== kept);
    expect((await server.gql(DELETE, { ids }, token))['deleteDevices']).toHaveLength(count - 1);
    expect(await names({ p: product })).toEqual(['bulk 2000']);
  });

  test('updateDevice changes what is given; null clears; name, serial number and plan cannot be cleared', async () => {
    const product = await newProduct();
    const all = { name: 'n', serialNumber: 's', tags: ['a'], metadata: { a: 1 }, location: 'Berlin' };
    const [device] = await create(product, [all]);
    const update = async (input: unknown): Promise<unknown> =>
      (await server.gql(UPDATE, { id: device.id, input }, token))['updateDevice'];
    expect(await update({})).toMatchObject(all);
    expect(await update({ name: 'm', tags: ['b', 'c'] })).toMatchObject({ ...all, name: 'm', tags: ['b', 'c'] });
    expect(await update({ metadata: null, location: null, tags: null })).toMatchObject({
      metadata: null,
      location: null,
      tags: [],
    });
    for (const key of ['name', 'serialNumber', 'plan'])
      expect((await refusal(UPDATE, { id: device.id, input: { [key]: null } })).message).toMatch(
        new RegExp(`^input\\.${key}: `),
      );
    expect(await names({ p: product, search: 'M' })).toEqual(['m']);
  });

  test('a changed serial number is the one to record under from the next request on', async () => {
    const product = await newProduct();
    const [device] = await create(product, [{ name: 'x', serialNumber: 'old-serial' }]);
    const status = async (serial: string): Promise<number> =>
      (await server.record(serial, { field: 'temperature', value: 1, timestamp: 1_700_000_001 }, { token })).status;
    expect(await status('old-serial')).not.toBe(404);
    await server.gql(UPDATE, { id: device.id, input: { serialNumber: 'new-serial' } }, token);
    expect(await status('old-serial')).toBe(404);
    expect(await status('new-serial')).not.toBe(404);
  });

  test('devices are found by product, workspace, text and every one of the tags', async () => {
    const product = await newProduct();
    await create(product, [
      { name: "Pümpe 1_% '", serialNumber: 'SER-A', tags: ['Nord', 'Halle 1'] },
      { name: 'PÜMPE 2', serialNumber: 'ser-b?', tags: ['nord'] },
      { name: 'Ventil\\', serialNumber: 'c', tags: ['Nord', 'Halle 1', "it's? \\"] },
      { name: 'Halle', serialNumber: 'd', tags: [] },
    ]);
    const p = product;
    expect(await names({ p, search: 'pümpe' })).toEqual(["Pümpe 1_% '", 'PÜMPE 2']);
    expect(await names({ p, search: 'SER-' })).toEqual(["Pümpe 1_% '", 'PÜMPE 2']);
    expect(await names({ p, search: '%' })).toEqual(["Pümpe 1_% '"]);
    expect(await names({ p, search: '_' })).toEqual(["Pümpe 1_% '"]);
    expect(await names({ p, search: '\\' })).toEqual(['Ventil\\']);
    expect(await names({ p, search: 'b?' })).toEqual(['PÜMPE 2']);
    expect(await names({ p, tags: ['Nord'] })).toEqual(["Pümpe 1_% '", 'Ventil\\']);
    expect(await names({ p, tags: ['Halle 1', 'Nord'] })).toEqual(["Pümpe 1_% '", 'Ventil\\']);
    expect(await names({ p, tags: ["it's? \\", 'Nord'] })).toEqual(['Ventil\\']);
    expect(await names({ p, tags: ['Halle'] })).toEqual([]);
    expect(await names({ p, tags: [] })).toHaveLength(4);
    expect(await names({ p, w: workspaceId })).toHaveLength(4);
    // The operator sees both workspaces; both conditions must hold.
    const { devices: elsewhere } = await server.gql(LIST, { p, w: await createWorkspace(server, 'empty') });
    expect(elsewhere.edges).toEqual([]);
  });

  test('pages follow the order of creation and stay whole when devices come and go', async () => {
    const product = await newProduct();
    const made = await create(
      product,
      Array.from({ length: 7 }, (_, index) => ({ name: `p${index}` })),
    );
    const first: any = await server.gql(LIST, { p: product, first: 3 }, token);
    await server.gql(DELETE, { ids: [made[2].id, made[4].id] }, token);
    await create(product, [{ name: 'p7' }]);
    const after = first['devices'].pageInfo.endCursor;
    expect(await names({ p: product, first: 3, after })).toEqual(['p3', 'p5', 'p6']);
    const { product: nested } = await server.gql(
      'query ($id: ID!) { product(id: $id) { devices(first: 2) { edges { node { name } } pageInfo { hasNextPage } } } }',
      { id: product },
      token,
    );
    expect(nested.devices).toEqual({
      edges: [{ node: { name: 'p0' } }, { node: { name: 'p1' } }],
      pageInfo: { hasNextPage: true },
    });
  });

  test('online follows offlineAfterSeconds of the product, in the filter as on the device', async () => {
    const product = await newProduct({ offlineAfterSeconds: 60 });
    const patient = await newProduct();
    const [quick] = await create(product, [{ name: 'quick' }, { name: 'silent' }]);
    const [slow] = await create(patient, [{ name: 'slow' }]);
    for (const device of [quick, slow])
      expect(
        (await server.record(device.id, { field: 'temperature', value: 1, timestamp: 1_700_000_005 }, { token }))
          .status,
      ).toBe(200);
    const online = async (id: string): Promise<boolean> =>
      (await server.gql('query ($id: ID!) { device(id: $id) { online } }', { id }, token))['device'].online;
    expect(await names({ p: product, online: true })).toEqual(['quick']);
    expect(await names({ p: product, online: false })).toEqual(['silent']);
    expect(await online(quick.id)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const limit = 'mutation ($p: ID!) { updateProduct(id: $p, input: { offlineAfterSeconds: 1 }) { id } }';
    await server.gql(limit, { p: product }, token);
    expect(await names({ p: product, online: true })).toEqual([]);
    expect(await names({ p: product, online: false })).toEqual(['quick', 'silent']);
    expect(await online(quick.id)).toBe(false);
    expect(await names({ p: patient, online: true })).toEqual(['slow']);
    expect(await online(slow.id)).toBe(true);
  });

  test('deleteDevices is all or none and takes the measurements along', async () => {
    const product = await newProduct();
    const [one, two] = await create(product, [{ name: 'one', serialNumber: 'again' }, { name: 'two' }]);
    await server.record(one.id, { field: 'temperature', value: 1 }, { token });
    const missing = '00000000-0000-7000-8000-000000000000';
    expect((await refusal(DELETE, { ids: [one.id, missing] })).code).toBe('NOT_FOUND');
    expect(await names({ p: product })).toEqual(['one', 'two']);
    const { deleteDevices } = await server.gql(DELETE, { ids: [two.id, one.id, one.id.toUpperCase()] }, token);
    expect(new Set(deleteDevices)).toEqual(new Set([one.id, two.id]));
    expect(await names({ p: product })).toEqual([]);
    expect((await server.record(one.id, { field: 'temperature', value: 1 }, { token })).status).toBe(404);
    const [reborn] = await create(product, [{ name: 'reborn', serialNumber: 'again' }]);
    const { device } = await server.gql(
      'query ($id: ID!) { device(id: $id) { latest { value } lastHeardAt } }',
      { id: reborn.id },
      token,
    );
    expect(device).toEqual({ latest: [], lastHeardAt: null });
  });

  test('the nearest write rate wins, and reset goes back to the wider one', async () => {
    const product = await newProduct();
    const [device] = await create(product, [{ name: 'x' }]);
    const limited = async (): Promise<boolean> => {
      const send = (value: number) => server.record(device.id, { field: 'temperature', value }, { token });
      const statuses = (await Promise.all([1, 2, 3].map(send))).map(({ status }) => status);
      for (const status of statuses) expect([200, 429]).toContain(status);
      return statuses.includes(429);
    };
    const set = (variables: unknown): Promise<unknown> => server.gql(RATE, variables, token);
    expect(await limited()).toBe(true);
    expect(await set({ w: workspaceId, rate: null })).toEqual({ setWriteRate: true });
    expect(await limited()).toBe(false);
    await set({ p: product, rate: 0.005 });
    expect(await limited()).toBe(true);
    await set({ d: device.id, rate: 0 });
    expect(await limited()).toBe(false);
    await set({ d: device.id, reset: true });
    expect(await limited()).toBe(true);
    await set({ p: product, reset: true });
    expect(await limited()).toBe(false);
    await set({ w: workspaceId, reset: true });
    expect(await limited()).toBe(true);
  });

  test('setWriteRate wants one id, and either a rate or reset', async () => {
    const product = await newProduct();
    for (const variables of [
      { rate: 1 },
      { p: product, w: workspaceId, rate: 1 },
      { p: product },
      { p: product, reset: false },
      { p: product, rate: 1, reset: true },
      { p: product, rate: -1 },
      { p: product, rate: 1e7 },
    ])
      expect((await refusal(RATE, variables)).code, JSON.stringify(variables)).toBe('BAD_USER_INPUT');
    const admin = await createToken(server, token, workspaceId, ['CONFIGURE']);
    const answer = await server.query(RATE, { w: workspaceId, rate: 1 }, admin.secret);
    expect(answer.errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
