import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const ALL = `$w: ID, $p: ID, $ids: [ID!], $tags: [String!], $search: String, $dryRun: Boolean, $confirm: Boolean`;
const UPDATE = `mutation ($input: UpdateDevicesInput!, ${ALL}) {
  updateDevices(input: $input, workspaceId: $w, productId: $p, ids: $ids, tags: $tags, search: $search, dryRun: $dryRun, confirm: $confirm) { matched changed }
}`;
const READ = `query ($p: ID!) { devices(productId: $p, first: 500) { edges { node {
  id name serialNumber tags location offlineAfterSeconds plan { slug } metadata
} } } }`;

type Row = Record<string, any>;

describe.each(DATABASES)('changes of many devices on %s', (database) => {
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  beforeAll(async () => {
    server = await startServer({ database, env: { PLAN_RETENTION_DAYS: 'free=30' } });
    workspaceId = await createWorkspace(server, 'bulk');
    ({ token } = await createMember(server, workspaceId, 'EDITOR'));
  });
  afterAll(async () => {
    await server?.stop();
  });

  async function make(count: number): Promise<{ id: string; deviceIds: string[] }> {
    const { id } = await createProduct(server, { token, serialNumbers: [] });
    const devices = Array.from({ length: count }, (_, at) => ({
      name: `n${at}`,
      serialNumber: `s${at}`,
      tags: ['all', at % 2 === 0 ? 'even' : 'odd'],
      location: 'here',
      metadata: { at },
    }));
    const { createDevices } = await server.gql(
      'mutation ($id: ID!, $d: [DeviceInput!]!) { createDevices(productId: $id, devices: $d, plan: "unlimited") { id } }',
      { id, d: devices },
      token,
    );
    return { id, deviceIds: createDevices.map((one: Row) => one['id']) };
  }

  async function update(input: Row, filter: Row): Promise<Row> {
    return (await server.gql(UPDATE, { input, ...filter }, token))['updateDevices'];
  }

  const notesOf = (ids: readonly string[]): Promise<unknown[]> =>
    Promise.all(
      ids.map(
        async (id) =>
          (await server.gql('query ($id: ID!) { device(id: $id) { notes { kind text author } } }', { id }))['device']
            .notes,
      ),
    );

  async function refusal(input: Row, filter: Row, by = token): Promise<Row> {
    const answer = await server.query(UPDATE, { input, ...filter }, by);
    expect(answer.data).toBeNull();
    return { message: answer.errors![0]!.message, ...answer.errors![0]!.extensions };
  }

  const devicesOf = async (p: string): Promise<Row[]> =>
    (await server.gql(READ, { p }, token))['devices'].edges.map(({ node }: Row) => node);

  test('those that fit are changed, the others and what is left out stay', async () => {
    const { id } = await make(5);
    const before = await devicesOf(id);
    const input = { addTags: ['new', 'all'], removeTags: ['even'], location: null, offlineAfterSeconds: 60 };
    const filter = { p: id, tags: ['even'] };
    expect(await update(input, { ...filter, dryRun: true })).toEqual({ matched: 3, changed: 3 });
    expect(await devicesOf(id)).toEqual(before);
    expect(await update(input, filter)).toEqual({ matched: 3, changed: 3 });
    const after = await devicesOf(id);
    expect(after).toEqual(
      before.map((device, at) =>
        at % 2 === 1 ? device : { ...device, tags: ['all', 'new'], location: null, offlineAfterSeconds: 60 },
      ),
    );
    expect(await update({ tags: ['x'], addTags: ['y'] }, { p: id, search: 'n1' })).toEqual({ matched: 1, changed: 1 });
    expect((await devicesOf(id))[1]!['tags']).toEqual(['x', 'y']);
    expect(await update({ offlineAfterSeconds: null, location: 'there' }, { p: id })).toEqual({
      matched: 5,
      changed: 5,
    });
    expect(await update({ offlineAfterSeconds: null, location: 'there' }, { p: id })).toEqual({
      matched: 5,
      changed: 0,
    });
    expect(await update({ location: 'x' }, { p: id, search: 'nothing' })).toEqual({ matched: 0, changed: 0 });
  });

  test('mistakes change nothing, and say where', async () => {
    const { id, deviceIds } = await make(3);
    const before = await devicesOf(id);
    const tags = Array.from({ length: 49 }, (_, at) => `t${at}`);
    for (const [input, filter, message] of [
      [{ location: 'x' }, {}, /say which devices/],
      [{ plan: 'mega' }, { p: id }, /^input\.plan: unknown plan/],
      [{ plan: null }, { p: id }, /^input\.plan: cannot be cleared/],
      [{ addTags: tags }, { p: id }, /the tags of "n0": at most 50 tags/],
      [{ addTags: [''] }, { p: id }, /^input\.addTags\[0\]/],
      [{ offlineAfterSeconds: 0 }, { p: id }, /^input\.offlineAfterSeconds/],
    ] as const)
      expect(await refusal(input, filter)).toMatchObject({
        code: 'BAD_USER_INPUT',
        message: expect.stringMatching(message),
      });
    const less = await refusal({ plan: 'free' }, { p: id });
    expect(less).toMatchObject({ code: 'CONFLICT', existingId: deviceIds[0] });
    expect((await refusal({ plan: 'free' }, { p: id, confirm: true })).code).toBe('PLAN_LIMIT');
    expect(await devicesOf(id)).toEqual(before);
    expect(await update({ plan: 'free' }, { ids: deviceIds.slice(1), confirm: true })).toEqual({
      matched: 2,
      changed: 2,
    });
    expect((await devicesOf(id)).map((device) => device['plan'].slug)).toEqual(['unlimited', 'free', 'free']);
    // As a change of one device does.
    const changed = [{ kind: 'CHANGED', text: 'Plan unlimited → free.', author: expect.any(String) }];
    expect(await notesOf(deviceIds)).toEqual([[], changed, changed]);
    await update({ location: 'elsewhere', plan: 'free' }, { ids: deviceIds.slice(1), confirm: true });
    expect(await notesOf(deviceIds)).toEqual([[], changed, changed]);
  });

  test('a limited token changes what it covers, and nobody what they may only read', async () => {
    const [one, two] = [await make(2), await make(2)];
    const { token: admin } = await createMember(server, workspaceId, 'ADMIN');
    const limited = await createToken(server, admin, workspaceId, ['READ', 'CONFIGURE'], { productIds: [one.id] });
    const { updateDevices } = await server.gql(UPDATE, { input: { location: 'x' }, w: workspaceId }, limited.secret);
    expect(updateDevices).toEqual({ matched: 2, changed: 2 });
    expect((await devicesOf(two.id)).map(({ location }) => location)).toEqual(['here', 'here']);
    const { token: viewer } = await createMember(server, workspaceId, 'VIEWER');
    expect((await refusal({ location: 'y' }, { p: one.id }, viewer)).code).toBe('FORBIDDEN');
    const elsewhere = await createWorkspace(server, 'elsewhere');
    const foreign = await createProduct(server, { workspaceId: elsewhere });
    expect((await refusal({ location: 'y' }, { p: foreign.id })).code).toBe('NOT_FOUND');
    expect(await update({ location: 'y' }, { ids: foreign.deviceIds })).toEqual({ matched: 0, changed: 0 });
  });

  test('thousands are changed at once, and each is told to the next request', async () => {
    const { id } = await make(3_000);
    expect(await update({ addTags: ['many'] }, { p: id })).toEqual({ matched: 3_000, changed: 3_000 });
    expect(await update({ addTags: ['many'] }, { p: id })).toEqual({ matched: 3_000, changed: 0 });
    const query = 'query ($p: ID!) { devices(productId: $p, tags: ["many", "odd"]) { totalCount } }';
    expect((await server.gql(query, { p: id }, token))['devices'].totalCount).toBe(1_500);
  });
});
