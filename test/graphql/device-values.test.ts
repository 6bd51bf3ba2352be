import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const LIST = `query ($w: ID, $p: ID, $values: [ValueConditionInput!], $low: Boolean, $field: String, $role: FieldRole,
    $order: DeviceOrder, $desc: Boolean, $first: Int, $after: String, $search: String, $serials: [String!]) {
  devices(workspaceId: $w, productId: $p, values: $values, lowBattery: $low, orderByField: $field, orderByRole: $role,
      orderBy: $order, descending: $desc, first: $first, after: $after, search: $search, serialNumbers: $serials) {
    edges { node { name } } pageInfo { hasNextPage endCursor } totalCount
  }
}`;
const ROOM = {
  name: 'Room',
  fields: [
    { identifier: 'temperature', type: 'FLOAT', role: 'PRIMARY' },
    { identifier: 'battery', type: 'FLOAT', unit: '%', role: 'BATTERY' },
    { identifier: 'open', type: 'BOOLEAN' },
    { identifier: 'state', type: 'STRING' },
  ],
};
const METER = {
  name: 'Meter',
  fields: [
    { identifier: 'energy', type: 'FLOAT', role: 'PRIMARY' },
    { identifier: 'battery', type: 'FLOAT', unit: 'V', role: 'BATTERY', display: { low: 3.2 } },
  ],
};
const VALUES: Record<string, Record<string, number | boolean | string>> = {
  'Meter 1': { energy: 5, battery: 3.6 },
  'Meter 2': { energy: 70, battery: 3.1 },
  'Meter 10': { battery: 3.25 },
  'Room 1': { temperature: 21.5, battery: 90, open: true, state: 'open since noon' },
  'Room 2': { temperature: -3, battery: 15, open: false, state: 'closed' },
  'Room 10': {},
};
const NAMES = Object.keys(VALUES);

describe.each(DATABASES)('devices by their newest values on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  const products = new Map<string, string>();
  const ids = new Map<string, string>();

  beforeAll(async () => {
    server = await startServer({ database, env: { WRITE_RATE_PER_FIELD: '0' } });
    workspaceId = await createWorkspace(server, 'values');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
    for (const input of [METER, ROOM]) {
      const { id } = await createProduct(server, { token, serialNumbers: [], input });
      products.set(input.name, id);
      const names = NAMES.filter((name) => name.startsWith(input.name));
      const devices = names.map((name) => ({
        name,
        serialNumber: `SN-${name}`,
        location: `Hall of ${name}\nBerlin`,
        tags: [`tag of ${name}`],
        metadata: { customer: { number: `K ${name}` }, floors: [1, 2] },
      }));
      const { createDevices } = await server.gql(
        'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices, plan: "unlimited") { id name } }',
        { id, devices },
        token,
      );
      for (const device of createDevices) ids.set(device.name, device.id);
    }
    for (const [name, values] of Object.entries(VALUES)) {
      const entries = Object.entries(values).map(([field, value]) => ({ field, value }));
      if (entries.length > 0) await server.record(ids.get(name)!, entries, { token });
    }
  });
  afterAll(() => server?.stop());

  const namesOf = (devices: any): string[] => devices.edges.map(({ node }: any) => node.name);
  async function list(variables: Record<string, unknown>) {
    const { devices } = await server.gql(LIST, { w: workspaceId, ...variables }, token);
    return devices;
  }
  async function allPages(variables: Record<string, unknown>, first: number): Promise<string[]> {
    const names: string[] = [];
    for (let after: string | null = null; ;) {
      const devices: any = await list({ ...variables, first, after });
      expect(devices.totalCount).toBe(NAMES.length);
      names.push(...namesOf(devices));
      if (!devices.pageInfo.hasNextPage) return names;
      after = devices.pageInfo.endCursor;
    }
  }
  async function refusal(variables: Record<string, unknown>, by = token): Promise<string> {
    const { data, errors } = await server.query(LIST, { w: workspaceId, ...variables }, by);
    expect(data).toBeNull();
    expect(errors![0]!.extensions['code']).toBe('BAD_USER_INPUT');
    return errors![0]!.message;
  }

  test('numbers in names sort by their size', async () => {
    expect(namesOf(await list({ order: 'NAME' }))).toEqual(NAMES);
    expect(await allPages({ order: 'NAME', desc: true }, 2)).toEqual(NAMES.toReversed());
  });

  test('a search looks through location, tags and metadata, also after a change of either', async () => {
    const found = async (search: string): Promise<string[]> => namesOf(await list({ search, order: 'NAME' }));
    expect(await found('hall of room 1 berlin')).toEqual(['Room 1']);
    expect(await found('TAG OF METER 2')).toEqual(['Meter 2']);
    expect(await found('number: k room')).toEqual(['Room 1', 'Room 2', 'Room 10']);
    // Padding of the sort key is not searched.
    expect(await found('meter 210')).toEqual([]);
    const change = 'mutation ($id: ID!, $input: UpdateDeviceInput!) { updateDevice(id: $id, input: $input) { id } }';
    const id = ids.get('Room 10')!;
    await server.gql(change, { id, input: { location: 'Cellar' } }, token);
    expect([await found('cellar'), await found('k room 10')]).toEqual([['Room 10'], ['Room 10']]);
    await server.gql(change, { id, input: { metadata: { note: 'spare' } } }, token);
    expect([await found('note: spare'), await found('k room 10')]).toEqual([['Room 10'], []]);
    const many = `mutation { updateDevices(ids: ["${id}"], input: { addTags: ["blue"], location: "Attic" }) { changed } }`;
    await server.gql(many, {}, token);
    expect([await found('blue'), await found('attic'), await found('spare'), await found('cellar')]).toEqual([
      ['Room 10'],
      ['Room 10'],
      ['Room 10'],
      [],
    ]);
  });

  test('by serial numbers, those of EUIs however they are written', async () => {
    expect(namesOf(await list({ serials: ['SN-Room 2', 'SN-Meter 10', 'none'] }))).toEqual(['Meter 10', 'Room 2']);
    expect(namesOf(await list({ serials: [] }))).toEqual([]);
    const { id } = await createProduct(server, { token, serialNumbers: ['70B3D57ED0001234'] });
    expect(namesOf(await list({ serials: ['70-b3-d5-7e-d0-00-12-34'] }))).toEqual(['device 70B3D57ED0001234']);
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id }, token);
  });

  test('conditions on values hold together, by field or role, for the list, its count and a change of many', async () => {
    const battery = { field: 'battery', operator: 'LT', value: 3.3 };
    const low = await list({ values: [battery], first: 1 });
    expect([namesOf(low), low.totalCount]).toEqual([['Meter 2'], 2]);
    expect(namesOf(await list({ values: [battery], first: 1, after: low.pageInfo.endCursor }))).toEqual(['Meter 10']);
    const primary = { role: 'PRIMARY', operator: 'GTE', value: 5 };
    expect(namesOf(await list({ values: [primary], order: 'NAME' }))).toEqual(['Meter 1', 'Meter 2', 'Room 1']);
    expect(namesOf(await list({ values: [primary, battery] }))).toEqual(['Meter 2']);
    expect(namesOf(await list({ values: [{ field: 'open', operator: 'EQ', value: false }] }))).toEqual(['Room 2']);
    expect(namesOf(await list({ values: [{ field: 'state', operator: 'CONTAINS', value: 'noon' }] }))).toEqual([
      'Room 1',
    ]);
    expect(namesOf(await list({ low: true }))).toEqual(['Meter 2', 'Room 2']);
    expect(namesOf(await list({ low: false }))).toEqual(NAMES.filter((name) => !['Meter 2', 'Room 2'].includes(name)));
    const update = `mutation ($w: ID!, $values: [ValueConditionInput!], $dry: Boolean) {
      updateDevices(workspaceId: $w, values: $values, dryRun: $dry, input: { addTags: ["low"] }) { matched changed } }`;
    const variables = { w: workspaceId, values: [battery] };
    const counted = { updateDevices: { matched: 2, changed: 2 } };
    expect(await server.gql(update, { ...variables, dry: true }, token)).toEqual(counted);
    expect(await server.gql(update, variables, token)).toEqual(counted);
    expect((await list({ search: 'low' })).totalCount).toBe(2);
  });

  test('sorted by a value, both ways, those without one are last, and pages meet without a gap', async () => {
    const up = ['Meter 2', 'Meter 10', 'Meter 1', 'Room 2', 'Room 1', 'Room 10'];
    expect(await allPages({ field: 'battery' }, 2)).toEqual(up);
    expect(await allPages({ role: 'BATTERY', desc: true }, 4)).toEqual([...up.slice(0, 5).toReversed(), 'Room 10']);
    expect(await allPages({ field: 'state' }, 5)).toEqual([
      'Room 2',
      'Room 1',
      'Meter 1',
      'Meter 2',
      'Meter 10',
      'Room 10',
    ]);
    const { pageInfo } = await list({ field: 'battery', first: 1 });
    for (const other of [{ field: 'energy' }, { field: 'battery', desc: true }, { order: 'NAME' }])
      expect(await refusal({ ...other, after: pageInfo.endCursor })).toContain('cursor');
  });

  test('what cannot be meant is an error in words', async () => {
    const of = (condition: object): Promise<string> => refusal({ values: [condition] });
    expect(await of({ field: 'batery', operator: 'LT', value: 1 })).toContain('no field "batery"');
    expect(await of({ operator: 'LT', value: 1 })).toContain('values[0]: give either "field" or "role"');
    expect(await of({ field: 'battery', operator: 'LT', value: 'low' })).toContain(
      'values[0].value: expected a finite',
    );
    expect(await of({ field: 'state', operator: 'LT', value: 'x' })).toContain('use EQ, NEQ, CONTAINS');
    expect(await of({ field: 'state', operator: 'INSIDE', value: 'x' })).toContain('conditions of rules');
    expect(await refusal({ field: 'batery' })).toContain('no field "batery"');
    expect(await refusal({ field: 'battery', order: 'NAME' })).toContain('at most one of');
    // A field of another product fits no device of this one.
    expect(
      namesOf(await list({ p: products.get('Meter'), values: [{ field: 'open', operator: 'EQ', value: true }] })),
    ).toEqual([]);
  });

  test('a token limited to fields learns of no other, and others’ devices are not looked at', async () => {
    const limited = await createToken(server, token, workspaceId, ['READ'], { fields: ['temperature'] });
    expect(await refusal({ field: 'battery' }, limited.secret)).toContain('limited to some fields');
    for (const [search, count] of [
      ['sn-room 1', 2],
      ['tag of room 2', 1],
      ['hall of', 0],
      ['number: k', 0],
    ])
      expect((await server.gql(LIST, { search }, limited.secret)).devices.totalCount).toBe(count);
    const { devices } = await server.gql(LIST, { role: 'BATTERY', low: true }, limited.secret);
    expect(namesOf(devices)).toEqual([]);
    const stranger = await createMember(server, await createWorkspace(server, 'strange'), 'ADMIN');
    const other = await server.query(LIST, { field: 'battery' }, stranger.token);
    expect(other.errors![0]!.message).toContain('no field "battery"');
  });

  test('latest of roles, and of fields that only some products have', async () => {
    const { devices } = await server.gql(
      `query ($w: ID!) { devices(workspaceId: $w, orderBy: NAME) { edges { node {
         name latest(roles: [BATTERY], anyFields: ["state", "none"]) { field { identifier } value } } } } }`,
      { w: workspaceId },
      token,
    );
    const shown = devices.edges.map(({ node }: any) =>
      node.latest.map(({ field, value }: any) => [field.identifier, value]),
    );
    expect(shown.slice(2, 5)).toEqual([
      [['battery', 3.25]],
      [
        ['state', 'open since noon'],
        ['battery', 90],
      ],
      [
        ['state', 'closed'],
        ['battery', 15],
      ],
    ]);
  });

  test('saved views: shared ones for everybody, one’s own for oneself, bounded and named once', async () => {
    const save = `mutation ($w: ID!, $name: String!, $query: String!, $shared: Boolean!) {
      saveDeviceView(workspaceId: $w, name: $name, query: $query, shared: $shared) { deviceViews { name query shared } } }`;
    const by = async (name: string, query: string, shared: boolean, who = token) =>
      (await server.query(save, { w: workspaceId, name, query, shared }, who)) as any;
    await by('Low', '?value=battery<3.3', true);
    await by('Mine', '?online=no', false);
    const { data } = await by('Low', '?value=battery<3', true);
    expect(data.saveDeviceView.deviceViews).toEqual([
      { name: 'Low', query: '?value=battery<3', shared: true },
      { name: 'Mine', query: '?online=no', shared: false },
    ]);
    const viewer = await createMember(server, workspaceId, 'VIEWER');
    expect((await by('x', '', true, viewer.token)).errors[0].extensions.code).toBe('FORBIDDEN');
    const seen = (await by('Own', '', false, viewer.token)).data.saveDeviceView.deviceViews;
    expect(seen.map(({ name }: any) => name)).toEqual(['Low', 'Own']);
    const individual = await createToken(server, token, workspaceId, ['READ']);
    expect((await by('x', '', false, individual.secret)).errors[0].extensions.code).toBe('FORBIDDEN');
    const gone = await server.gql(
      `mutation ($w: ID!) { deleteDeviceView(workspaceId: $w, name: "Low", shared: true) { deviceViews { name } } }`,
      { w: workspaceId },
      token,
    );
    expect(gone.deleteDeviceView.deviceViews).toEqual([{ name: 'Mine' }]);
  });
});
