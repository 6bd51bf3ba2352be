import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createDatabase,
  createProduct,
  DATABASES,
  startServer,
  type TestDatabase,
  type TestServer,
} from '../support/server.ts';
import { createMember, createToken, createWorkspace } from '../support/tenant.ts';

const FLEET = `query ($w: ID!) {
  workspace(id: $w) { fleet {
    devices online lowBattery firing unknownDevices failingDecoders { product { id name } lastFailedAt } valuesADay { day values }
  } }
}`;
const PLACES = `query ($w: ID!, $first: Int) {
  workspace(id: $w) { places(first: $first) { deviceId name online place at } }
}`;
const FAILS = 'function Decoder(request) { if (request.body === "bad") throw new Error("no"); return []; }';

describe.each(DATABASES)('the fleet of a workspace on %s', (name) => {
  let database: TestDatabase;
  let server: TestServer;
  let workspaceId: string;
  let token: string;
  let product: Awaited<ReturnType<typeof createProduct>>;
  beforeAll(async () => {
    database = await createDatabase(name);
    server = await startServer({ database });
    workspaceId = await createWorkspace(server, 'fleet');
    ({ token } = await createMember(server, workspaceId, 'ADMIN'));
    product = await createProduct(server, {
      token,
      workspaceId,
      serialNumbers: ['a', 'b', 'c'],
      input: {
        name: 'tracker',
        decoder: FAILS,
        fields: [
          { identifier: 'start', type: 'GEOLOCATION' },
          { identifier: 'now', type: 'GEOLOCATION', role: 'LOCATION' },
          { identifier: 'speed', type: 'FLOAT' },
          { identifier: 'battery', type: 'FLOAT', unit: '%', role: 'BATTERY' },
        ],
      },
    });
  });
  afterAll(async () => {
    await server?.stop();
    await database?.drop();
  });

  const fleet = async (w = workspaceId, by = token) => (await server.gql(FLEET, { w }, by))['workspace'].fleet;
  /** Sends until it is taken: a busy machine may refuse it. */
  const call = async (body: string): Promise<void> => {
    const url = `${server.url}/integrations/api/${product.webhookId}/`;
    await expect.poll(async () => (await fetch(url, { method: 'POST', body })).ok).toBe(true);
  };

  test('counts devices, those that are online, and the values of today, also after a restart', async () => {
    const before = await fleet();
    expect(before).toMatchObject({
      devices: 3,
      online: 0,
      lowBattery: 0,
      firing: 0,
      unknownDevices: 0,
      failingDecoders: [],
    });
    expect(before.valuesADay).toHaveLength(14);
    expect(before.valuesADay.every(({ values }: { values: number }) => values === 0)).toBe(true);
    const sent = { field: 'speed', value: 1 };
    await server.record(product.deviceIds[0]!, [sent, { ...sent, timestamp: 1_700_000_000 }], { token });
    await server.record(product.deviceIds[1]!, [sent, { field: 'no_such', value: 1 }], { token });
    const after = await fleet();
    expect(after).toMatchObject({ devices: 3, online: 2 });
    expect(after.valuesADay.at(-1)).toEqual({ day: new Date().toISOString().slice(0, 10), values: 3 });
    await server.stop();
    server = await startServer({ database });
    expect((await fleet()).valuesADay).toEqual(after.valuesADay);
    await server.record(product.deviceIds[1]!, sent, { token });
    expect((await fleet()).valuesADay.at(-1).values).toBe(4);
    await server.record(product.deviceIds[0]!, { field: 'battery', value: 80 }, { token });
    await server.record(product.deviceIds[1]!, { field: 'battery', value: 12 }, { token });
    expect(await fleet()).toMatchObject({ lowBattery: 1 });
  });

  test('names products whose newest call failed, until one does not', async () => {
    await call('good');
    await call('bad');
    await expect.poll(async () => (await fleet()).failingDecoders).toHaveLength(1);
    const [failing] = (await fleet()).failingDecoders;
    expect(failing.product).toEqual({ id: product.id, name: 'tracker' });
    expect(Date.now() - Date.parse(failing.lastFailedAt)).toBeLessThan(60_000);
    await call('good');
    await expect.poll(async () => (await fleet()).failingDecoders).toHaveLength(0);
  });

  test('counts devices that sent and are not known, and lists as many as asked for', async () => {
    for (const eui of ['70b3d57ed0000001', '70b3d57ed0000002'])
      await fetch(`${server.url}/integrations/lorawan/tti/`, {
        method: 'POST',
        headers: { authorization: `Token ${token}` },
        body: JSON.stringify({
          end_device_ids: { dev_eui: eui },
          uplink_message: { f_port: 1, frm_payload: 'AQ==', received_at: '2026-01-01T00:00:00Z' },
        }),
      });
    expect(await fleet()).toMatchObject({ unknownDevices: 2 });
    const list = (first: number) =>
      server.query(
        'query ($w: ID!, $first: Int) { unknownDevices(workspaceId: $w, first: $first) { identifier } }',
        {
          w: workspaceId,
          first,
        },
        token,
      );
    expect((await list(1)).data).toEqual({ unknownDevices: [{ identifier: '70b3d57ed0000002' }] });
    expect((await list(2_000)).data!['unknownDevices']).toHaveLength(2);
    expect((await list(2_001)).errors![0]!.extensions.code).toBe('BAD_USER_INPUT');
  });

  test('says where devices were last, by the field with the role', async () => {
    const places = async (first?: number) =>
      (await server.gql(PLACES, { w: workspaceId, first }, token))['workspace'].places;
    expect(await places()).toEqual([]);
    await server.record(
      product.deviceIds[0]!,
      [
        { field: 'start', value: '(1,2)' },
        { field: 'now', value: '(52.5,13.4)', timestamp: 1_700_000_000 },
        { field: 'now', value: '(52.6,13.5)', timestamp: 1_700_000_060 },
      ],
      { token },
    );
    await server.record(product.deviceIds[2]!, { field: 'now', value: '(-33,151)' }, { token });
    const found = await places();
    expect(found).toEqual([
      {
        deviceId: product.deviceIds[0],
        name: 'device a',
        online: true,
        place: '(52.6,13.5)',
        at: '2023-11-14T22:14:20.000Z',
      },
      expect.objectContaining({ name: 'device c', place: '(-33,151)' }),
    ]);
    expect(await places(1)).toEqual([found[0]]);
    const refused = await server.query(PLACES, { w: workspaceId, first: 10_001 }, token);
    expect(refused.errors![0]!.extensions.code).toBe('BAD_USER_INPUT');
  });

  test('is for those who see all of the workspace, and nothing of another', async () => {
    const other = await createWorkspace(server, 'elsewhere');
    const stranger = (await createMember(server, other, 'ADMIN')).token;
    expect((await server.query(FLEET, { w: workspaceId }, stranger)).errors![0]!.extensions.code).toBe('NOT_FOUND');
    expect(await fleet(other, stranger)).toMatchObject({ devices: 0, online: 0, unknownDevices: 0 });
    const limited = await createToken(server, token, workspaceId, ['READ'], { productIds: [product.id] });
    const some = await server.query(FLEET, { w: workspaceId }, limited.secret);
    expect(some.errors!.every(({ extensions }) => extensions.code === 'FORBIDDEN')).toBe(true);
    const narrow = await createToken(server, token, workspaceId, ['READ'], { fields: ['speed'] });
    expect((await server.query(PLACES, { w: workspaceId }, narrow.secret)).errors![0]!.extensions.code).toBe(
      'FORBIDDEN',
    );
  });

  test('a device and a product name their workspace', async () => {
    const { device } = await server.gql(
      'query ($id: ID!) { device(id: $id) { workspaceId product { workspaceId } } }',
      { id: product.deviceIds[0] },
      token,
    );
    expect(device).toEqual({ workspaceId, product: { workspaceId } });
  });
});
