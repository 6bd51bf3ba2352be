import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const CREATE = `mutation ($id: ID!, $devices: [DeviceInput!]!, $plan: String, $onExisting: OnExisting) {
  createDevices(productId: $id, devices: $devices, plan: $plan, onExisting: $onExisting) {
    id name serialNumber tags metadata location plan { slug }
  }
}`;
const EUI = '70b3d57ed0001234';
const OTHER = '70b3d57ed0004321';
const SPELLED = '70-B3-D5-7E-D0-00-12-34';

type Row = Record<string, any>;

describe.each(DATABASES)('devices that are there already, on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  beforeAll(async () => {
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'existing');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
  });
  afterAll(async () => {
    await server?.stop();
  });

  const productOf = async (input: Row = {}): Promise<string> =>
    (await createProduct(server, { token, serialNumbers: [], input })).id;

  async function create(id: string, devices: Row[], onExisting?: string, plan: string | null = 'unlimited') {
    return (await server.gql(CREATE, { id, devices, plan, onExisting }, token))['createDevices'] as Row[];
  }

  async function refusal(id: string, devices: Row[], onExisting?: string, plan = 'unlimited', by = token) {
    const answer = await server.query(CREATE, { id, devices, plan, onExisting }, by);
    expect(answer.data).toBeNull();
    const { message, extensions } = answer.errors![0]!;
    return { message, ...extensions } as Row;
  }

  async function count(productId: string): Promise<number> {
    const query = 'query ($id: ID!) { devices(productId: $id) { totalCount } }';
    return (await server.gql(query, { id: productId }, token))['devices'].totalCount;
  }

  test('FAIL, also when left out, names the device that is there and makes none', async () => {
    const id = await productOf();
    const [old] = await create(id, [{ name: 'old', serialNumber: 'a' }]);
    for (const onExisting of [undefined, 'FAIL'])
      expect(await refusal(id, [{ name: 'x' }, { name: 'new', serialNumber: 'a' }], onExisting)).toMatchObject({
        code: 'CONFLICT',
        existingId: old!['id'],
        message: expect.stringContaining('devices[1].serialNumber: the device "old"'),
      });
    expect(await count(id)).toBe(1);
  });

  test('KEEP answers what is there as it is and makes the rest, in the order of the input', async () => {
    const id = await productOf({ deviceType: 'LORAWAN' });
    const given = { tags: ['t'], metadata: { m: 1 }, location: 'here' };
    const [eui, b] = await create(id, [
      { name: 'eui', serialNumber: EUI, ...given },
      { name: 'b', serialNumber: 'b' },
    ]);
    const input = [
      { name: 'first' },
      { name: 'b2', serialNumber: 'b', tags: ['other'] },
      { name: 'new', serialNumber: 'B', metadata: [1] },
      { name: 'eui2', serialNumber: SPELLED },
    ];
    const kept = await create(id, input, 'KEEP');
    expect(kept).toMatchObject([{ name: 'first' }, b, { name: 'new', serialNumber: 'B', metadata: [1] }, eui]);
    expect(kept[3]).toEqual({ ...eui, plan: { slug: 'unlimited' } });
    expect(await create(id, input.slice(1), 'KEEP')).toEqual(kept.slice(1));
    expect(await count(id)).toBe(4);
  });

  test('UPDATE changes what is given and nothing else, at once at every door', async () => {
    const id = await productOf({ deviceType: 'LORAWAN' });
    const given = { tags: ['t', 'u'], metadata: { m: 1 }, location: 'here' };
    const [eui] = await create(id, [{ name: 'old', serialNumber: OTHER, ...given }], 'UPDATE');
    const update = async (input: Row, plan: string | null = null) =>
      (await create(id, [{ name: 'old', serialNumber: OTHER.toUpperCase(), ...input }], 'UPDATE', plan))[0]!;
    expect(await update({ name: 'renamed' })).toEqual({ ...eui, name: 'renamed' });
    expect(await update({ tags: ['v'] })).toEqual({ ...eui, tags: ['v'] });
    expect(await update({ metadata: { n: [null, 'ü'] } })).toMatchObject({ tags: ['v'], metadata: { n: [null, 'ü'] } });
    const cleared = { ...eui, tags: [], metadata: null, location: null };
    expect(await update({ tags: null, metadata: null, location: null })).toEqual(cleared);
    expect(await update({}, 'standard')).toEqual({ ...cleared, plan: { slug: 'standard' } });
    expect(await update({})).toEqual({ ...cleared, plan: { slug: 'standard' } });
    const found = 'query ($search: String) { devices(search: $search) { edges { node { name serialNumber } } } }';
    await update({ name: 'Found Later' });
    expect((await server.gql(found, { search: 'found later' }, token))['devices'].edges).toEqual([
      { node: { name: 'Found Later', serialNumber: OTHER } },
    ]);
    await server.record(eui!['id'], [{ field: 'temperature', value: 1 }], { token });
    expect(await update({ name: 'old' })).toMatchObject({ id: eui!['id'] });
  });

  test('UPDATE of many is all or none: one wrong or too many for the plan changes nothing', async () => {
    const id = await productOf();
    await create(id, [
      { name: 'a', serialNumber: 'a' },
      { name: 'b', serialNumber: 'b' },
    ]);
    const names = ['a', 'b'].map((serialNumber) => ({ name: 'changed', serialNumber }));
    const other = await productOf();
    const [taken] = await create(other, [{ name: 'elsewhere', serialNumber: '70b3d57ed0005678' }]);
    const wanted = { name: 'x', serialNumber: '70B3D57ED0005678' };
    expect(await refusal(id, [...names, wanted], 'UPDATE')).toMatchObject({
      code: 'CONFLICT',
      existingId: taken!['id'],
      message: expect.stringMatching(/^devices\[2\]\.serialNumber: the device "elsewhere" of the product/),
    });
    expect((await refusal(id, [...names, wanted], 'KEEP')).code).toBe('CONFLICT');
    const more = { name: 'c', serialNumber: 'c' };
    expect(await refusal(id, [...names, more], 'UPDATE', 'free')).toMatchObject({ code: 'PLAN_LIMIT', wanted: 3 });
    const read = await create(id, names, 'KEEP');
    expect(read.map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await count(id)).toBe(2);
    // Those that are on the plan take no more room.
    await create(id, names, 'UPDATE', 'free');
    await create(id, names, 'UPDATE', 'free');
  });

  test('a serial number of another product is another device, unless it is an EUI', async () => {
    const [one, two] = [await productOf(), await productOf()];
    const [first] = await create(one, [{ name: 'same', serialNumber: 'same' }]);
    const [second] = await create(two, [{ name: 'same', serialNumber: 'same' }], 'UPDATE');
    expect(second!['id']).not.toBe(first!['id']);
  });

  test.each(['KEEP', 'UPDATE'])('a serial number that comes twice in the input is refused with %s too', async (how) => {
    const id = await productOf();
    const twice = [EUI, 'x', SPELLED].map((serialNumber) => ({ name: 'n', serialNumber }));
    const found = await refusal(id, twice, how);
    expect(found.code).toBe('CONFLICT');
    expect(found['message']).toContain('devices[2].serialNumber');
    expect(found['message']).toContain('devices[0].serialNumber');
  });

  test('who may not see the device that is in the way does not learn its id', async () => {
    const [own, hidden] = [await productOf(), await productOf()];
    await create(hidden, [{ name: 'hidden', serialNumber: '70b3d57ed000aaaa' }]);
    const { token: admin } = await createMember(server, workspaceId, 'ADMIN');
    const limited = await createToken(server, admin, workspaceId, ['CONFIGURE', 'READ'], { productIds: [own] });
    const wanted = [{ name: 'n', serialNumber: '70b3d57ed000aaaa' }];
    for (const how of ['FAIL', 'KEEP', 'UPDATE']) {
      const found = await refusal(own, wanted, how, 'unlimited', limited.secret);
      expect(found).toEqual({ code: 'CONFLICT', message: found['message'] });
      expect(found['message']).toContain('another device of the workspace');
    }
  });

  test('of many at once that want the same devices, none fails and none is made twice', async () => {
    const id = await productOf();
    const devices = Array.from({ length: 50 }, (_, at) => ({ name: `n${at}`, serialNumber: `s${at}` }));
    const many = await Promise.all(['KEEP', 'UPDATE', 'KEEP', 'UPDATE'].map((how) => create(id, devices, how)));
    expect(new Set(many.map((rows) => rows.map((row) => row['id']).join())).size).toBe(1);
    expect(await count(id)).toBe(50);
  });

  test('thousands of devices are made, kept and changed, in their order', async () => {
    const id = await productOf();
    const devices = Array.from({ length: 3_000 }, (_, at) => ({ name: `n${at}`, serialNumber: `s${at}` }));
    const bare = CREATE.replace(/{\s*id name.*?}\s*}/s, '{ id name }');
    const run = async (onExisting: string, of: Row[]) =>
      (await server.gql(bare, { id, devices: of, plan: 'unlimited', onExisting }, token))['createDevices'] as Row[];
    const made = await run('KEEP', devices);
    expect(await run('KEEP', devices)).toEqual(made);
    const changed = await run(
      'UPDATE',
      devices.map((device) => ({ ...device, name: `${device.name}!` })),
    );
    expect(changed).toEqual(made.map((row) => ({ ...row, name: `${row['name']}!` })));
    expect(await count(id)).toBe(3_000);
  });
});
