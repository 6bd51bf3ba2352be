import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const LIST = `query ($w: ID, $p: ID, $ids: [ID!], $search: String, $tags: [String!], $anyTags: [String!],
    $online: Boolean, $before: DateTime, $afterTime: DateTime, $order: DeviceOrder, $desc: Boolean, $first: Int, $after: String) {
  devices(workspaceId: $w, productId: $p, ids: $ids, search: $search, tags: $tags, anyTags: $anyTags, online: $online,
      lastHeardBefore: $before, lastHeardAfter: $afterTime, orderBy: $order, descending: $desc, first: $first, after: $after) {
    edges { cursor node { id name } } pageInfo { hasNextPage endCursor } totalCount
  }
}`;
const NAMES = ['beta', 'Alpha', 'äther', 'alpha', 'zeta', 'Beta 2', '10', '9', '😀', 'eta'];

describe.each(DATABASES)('the list of devices on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let productId: string;
  const ids = new Map<string, string>();
  const heardAt = new Map<string, number>();

  beforeAll(async () => {
    server = await startServer({ database, compared: true });
    workspaceId = await createWorkspace(server, 'list');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
    productId = (await createProduct(server, { token, serialNumbers: [] })).id;
    const devices = NAMES.map((name, index) => ({
      name,
      serialNumber: `s${index}`,
      tags: [index % 2 === 0 ? 'even' : 'odd', ...(index % 3 === 0 ? ['third'] : [])],
    }));
    const { createDevices } = await server.gql(
      'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id name } }',
      { id: productId, devices },
      token,
    );
    for (const { id, name } of createDevices) ids.set(name, id);
    // Heard in this order; the rest never.
    for (const name of ['zeta', 'Alpha', '9']) {
      await server.record(ids.get(name)!, [{ field: 'temperature', value: 1 }], { token });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const heard = await server.gql(
      'query ($p: ID!) { product(id: $p) { devices(first: 100) { edges { node { name lastHeardAt } } } } }',
      { p: productId },
      token,
    );
    for (const { node } of heard.product.devices.edges)
      if (node.lastHeardAt !== null) heardAt.set(node.name, Date.parse(node.lastHeardAt));
  });

  afterAll(async () => {
    await server?.stop();
  });

  async function list(variables: Record<string, unknown>) {
    const { devices } = await server.gql(LIST, { p: productId, ...variables }, token);
    return devices;
  }
  const namesOf = (devices: { edges: { node: { name: string } }[] }): string[] =>
    devices.edges.map(({ node }) => node.name);

  async function allPages(variables: Record<string, unknown>, first: number): Promise<string[]> {
    const names: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < 50; page += 1) {
      const devices: any = await list({ ...variables, first, after });
      names.push(...namesOf(devices));
      if (!devices.pageInfo.hasNextPage) return names;
      after = devices.pageInfo.endCursor;
    }
    throw new Error('the pages never end');
  }

  const byName = (): string[] => ['9', '10', 'Alpha', 'alpha', 'äther', 'beta', 'Beta 2', 'eta', 'zeta', '😀'];

  test('is ordered by creation, name or last heard, both ways, and pages meet without a gap', async () => {
    const heard = ['zeta', 'Alpha', '9'];
    const neverHeard = NAMES.filter((name) => !heard.includes(name));
    const expected = { CREATED: NAMES, NAME: byName(), LAST_HEARD: [...neverHeard, ...heard] };
    for (const [order, names] of Object.entries(expected)) {
      expect(await allPages({ order }, 3)).toEqual(names);
      expect(await allPages({ order, desc: true }, 4)).toEqual(names.toReversed());
    }
    expect(namesOf(await list({}))).toEqual(NAMES);
  });

  test('a page may end with the longest name there can be', async () => {
    // Each of its characters is six of a cursor's.
    const names = ['1', '2', '3'].map((last) => `${'\u0001'.repeat(199)}${last}`);
    const devices = names.map((name) => ({ name, serialNumber: name.slice(-100) }));
    const { id } = await createProduct(server, { token, serialNumbers: [] });
    const create = `mutation ($id: ID!, $devices: [DeviceInput!]!) {
      createDevices(productId: $id, devices: $devices, plan: "unlimited") { id }
    }`;
    await server.gql(create, { id, devices }, token);
    expect(await allPages({ p: id, order: 'NAME' }, 1)).toEqual(names);
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id }, token);
  });

  test('a cursor of another order or direction is refused', async () => {
    const { pageInfo } = await list({ order: 'NAME', first: 2 });
    for (const other of [{ order: 'CREATED' }, { order: 'LAST_HEARD' }, { order: 'NAME', desc: true }]) {
      const answer = await server.query(LIST, { p: productId, after: pageInfo.endCursor, ...other }, token);
      expect(answer.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
    }
  });

  test('totalCount counts all pages of the same filter', async () => {
    expect((await list({ first: 2 })).totalCount).toBe(10);
    const { pageInfo } = await list({ first: 2, tags: ['even'] });
    const next = await list({ first: 2, tags: ['even'], after: pageInfo.endCursor });
    expect(next.totalCount).toBe(5);
    expect((await list({ search: 'alpha' })).totalCount).toBe(2);
  });

  test('every connection counts', async () => {
    const { products, product } = await server.gql(
      `query ($w: ID!, $p: ID!) {
         products(workspaceId: $w, first: 1) { totalCount }
         product(id: $p) { devices(first: 1) { totalCount } calls(first: 1) { totalCount }
           failed: calls(status: [DECODER_FAILED]) { totalCount } }
       }`,
      { w: workspaceId, p: productId },
      token,
    );
    expect(products.totalCount).toBe(1);
    expect(product.devices.totalCount).toBe(10);
    expect(product.calls.totalCount).toBe(0);
    const { webhookId } = (
      await server.gql('query ($p: ID!) { product(id: $p) { webhookId } }', { p: productId }, token)
    ).product;
    for (let call = 0; call < 3; call += 1)
      await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body: '{}' });
    const counted = await server.gql(
      `query ($p: ID!) { product(id: $p) { calls(first: 1) { totalCount edges { node { receivedAt } } }
         none: calls(status: [STORED]) { totalCount } kept: calls(status: [NO_DECODER]) { totalCount } } }`,
      { p: productId },
      token,
    );
    expect(counted.product.calls.totalCount).toBe(3);
    expect(counted.product.none.totalCount).toBe(0);
    expect(counted.product.kept.totalCount).toBe(3);
    await server.record(
      ids.get('eta')!,
      [1, 2, 3, 4].map((at) => ({ field: 'temperature', value: 1, timestamp: 1_700_000_000 + at })),
      {
        token,
      },
    );
    const { device } = await server.gql(
      `query ($d: ID!) { device(id: $d) { all: measurements(field: "temperature", first: 1) { totalCount }
         some: measurements(field: "temperature", from: "2023-11-14T22:13:22Z", to: "2023-11-14T22:13:24Z") { totalCount } } }`,
      { d: ids.get('eta') },
      token,
    );
    expect(device.all.totalCount).toBe(4);
    expect(device.some.totalCount).toBe(2);
  });

  test('ids, tags of which all, tags of which any', async () => {
    expect(namesOf(await list({ ids: [ids.get('9'), ids.get('beta')!.toUpperCase(), 'no id'] }))).toEqual([
      'beta',
      '9',
    ]);
    expect(namesOf(await list({ ids: [] }))).toEqual([]);
    expect(namesOf(await list({ tags: ['even', 'third'] }))).toEqual(['beta', '10']);
    expect(namesOf(await list({ anyTags: ['third', 'nowhere'] }))).toEqual(['beta', 'alpha', '10', 'eta']);
    const empty = await server.query(LIST, { p: productId, anyTags: [] }, token);
    expect(empty.errors?.[0]?.extensions.code).toBe('BAD_USER_INPUT');
  });

  test('last heard before and after; never heard is before every time', async () => {
    const time = new Date(heardAt.get('Alpha')!).toISOString();
    const before = namesOf(await list({ before: time }));
    expect(before).toContain('zeta');
    expect(before).toContain('beta');
    expect(before).not.toContain('Alpha');
    const after = namesOf(await list({ afterTime: time })).filter((name) => name !== 'eta');
    expect(after).toEqual(['Alpha', '9']);
  });

  test('a device may have an offline limit of its own', async () => {
    const [quick, product] = [ids.get('zeta')!, ids.get('Alpha')!];
    const update =
      'mutation ($id: ID!, $s: Int) { updateDevice(id: $id, input: { offlineAfterSeconds: $s }) { offlineAfterSeconds online } }';
    await new Promise((resolve) => setTimeout(resolve, 1_050));
    expect((await server.gql(update, { id: quick, s: 1 }, token)).updateDevice).toEqual({
      offlineAfterSeconds: 1,
      online: false,
    });
    expect(namesOf(await list({ online: true, ids: [quick, product] }))).toEqual(['Alpha']);
    expect((await server.gql(update, { id: quick, s: null }, token)).updateDevice).toEqual({
      offlineAfterSeconds: null,
      online: true,
    });
    const wrong = await server.query(update, { id: quick, s: 0 }, token);
    expect(wrong.errors?.[0]).toMatchObject({ message: expect.stringContaining('input.offlineAfterSeconds') });
  });

  test('a device by its serial number: exact, EUIs in any case, several are a conflict', async () => {
    const BY = 'query ($s: String!, $p: ID) { deviceBySerialNumber(serialNumber: $s, productId: $p) { id } }';
    const eui = '70b3D57ED0001234';
    const lorawan = await createProduct(server, {
      token,
      serialNumbers: [eui, 's0'],
      input: { deviceType: 'LORAWAN' },
    });
    const find = (s: string, p?: string) => server.query(BY, { s, p }, token);
    expect((await find(eui.toLowerCase())).data?.deviceBySerialNumber.id).toBe(lorawan.deviceIds[0]);
    expect((await find('S1')).data?.deviceBySerialNumber).toBeNull();
    expect((await find('s1')).data?.deviceBySerialNumber.id).toBe(ids.get('Alpha'));
    expect((await find('s0')).errors?.[0]?.extensions.code).toBe('CONFLICT');
    expect((await find('s0', productId)).data?.deviceBySerialNumber.id).toBe(ids.get('beta'));
    const limited = await createToken(server, token, workspaceId, ['READ'], { deviceIds: [ids.get('9')] });
    const answer = await server.query(BY, { s: 's1' }, limited.secret);
    expect(answer.data?.deviceBySerialNumber).toBeNull();
  });
});
