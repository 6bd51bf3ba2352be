import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callWebhook, saveDecoder } from '../decoders/webhook-client.ts';
import {
  createDatabase,
  createProduct,
  EITHER_DATABASE,
  startServer,
  type TestDatabase,
  type TestProduct,
  type TestServer,
} from '../support/server.ts';

const DAY = 86_400;
const ENV = { PLAN_RETENTION_DAYS: 'free=90,standard=365' };
const CHANGE = `mutation ($id: ID!, $plan: String!, $confirm: Boolean) {
  updateDevice(id: $id, input: { plan: $plan }, confirm: $confirm) { plan { slug retentionDays } } }`;
const ago = (days: number): number => Math.floor(Date.now() / 1000) - days * DAY;
/** A webhook's entries are in its body, of a call that came a while ago. */
const DECODER = 'function Decoder(r) { return JSON.parse(r.body) }';

describe.each(EITHER_DATABASE)('history that plans keep, on %s (CONTRACT 1)', (name) => {
  let database: TestDatabase;
  let server: TestServer;
  let product: TestProduct;
  let device: string;

  const give = (id: string, plan: string, confirm?: boolean): Promise<any> =>
    server.query(CHANGE, { id, plan, confirm: confirm ?? null });
  const count = async (id: string): Promise<number> => {
    const { device: found } = await server.gql(
      `query ($id: ID!, $to: DateTime!) { device(id: $id) { statistics(fields: ["t"], from: "1970-01-01T00:00:00Z", to: $to) { count } } }`,
      { id, to: new Date(Date.now() + DAY * 1000).toISOString() },
    );
    return found.statistics[0].count;
  };

  beforeAll(async () => {
    database = await createDatabase(name);
    server = await startServer({ database });
    product = await createProduct(server, {
      fields: { t: 'FLOAT' },
      serialNumbers: ['old-0', 'old-1'],
      input: { decoder: DECODER },
    });
    device = product.deviceIds[0]!;
  });
  afterAll(async () => {
    await server.stop();
    await database.drop();
  });

  test('by default every plan keeps everything, for ever', async () => {
    const { plans } = await server.gql('{ plans { retentionDays } }');
    expect(plans.map(({ retentionDays }: any) => retentionDays)).toEqual([null, null, null]);
    const entries = [3_000, 400, 200, 100, 10].map((days) => ({ field: 't', value: days, timestamp: ago(days) }));
    for (const id of product.deviceIds) expect(await server.record(id, entries)).toMatchObject({ status: 200 });
    expect((await give(device, 'free')).data.updateDevice.plan).toEqual({ slug: 'free', retentionDays: null });
    expect((await give(device, 'unlimited')).errors).toBeUndefined();
    // A restart sweeps.
    await server.stop();
    server = await startServer({ database });
    expect(await count(device)).toBe(5);
  });

  test('where the operator sets it, a change of plan says what it would take, and waits seven days', async () => {
    await server.stop();
    server = await startServer({ database, env: ENV });
    const { planChange } = await server.gql(
      'query ($id: ID!) { planChange(deviceId: $id, plan: "free") { plan retentionDays measurements goesAt } }',
      { id: device },
    );
    expect(planChange).toMatchObject({ plan: 'free', retentionDays: 90, measurements: 4 });
    const refused = await give(device, 'free');
    expect(refused.errors[0]).toMatchObject({
      message: expect.stringMatching(/90 days: 4 values .*confirm: true/),
      extensions: { code: 'CONFLICT', measurements: 4, retentionDays: 90 },
    });
    const before = Date.now();
    expect((await give(device, 'free', true)).data.updateDevice.plan).toEqual({ slug: 'free', retentionDays: 90 });
    expect(Date.parse(planChange.goesAt) - before).toBeGreaterThan(6.9 * DAY * 1000);
    // Nothing is taken yet; back to a plan that keeps more it is as it was, and nothing needs to be confirmed.
    await server.stop();
    server = await startServer({ database, env: ENV });
    expect(await count(device)).toBe(5);
    expect((await give(device, 'standard')).errors).toBeUndefined();
    expect((await give(device, 'free', true)).errors).toBeUndefined();
  });

  test('what is older than the plan keeps is refused at every door', async () => {
    const [old, young] = [ago(100), ago(80)];
    const entries = [
      { field: 't', value: 1, timestamp: old },
      { field: 't', value: 2, timestamp: young },
    ];
    const answer = await server.record(device, entries);
    expect(answer).toMatchObject({
      status: 207,
      body: { stored: 1, rejected: [{ index: 0, code: 'BEYOND_RETENTION' }] },
    });
    expect(answer.body.rejected[0].message).toMatch(/plan "free" keeps history \(90 days\)/);
    expect(await server.record(device, entries[0])).toMatchObject({ status: 400, body: { code: 'NOTHING_STORED' } });

    const { recordMeasurements } = await server.gql(
      `mutation ($id: ID!, $at: DateTime!) { recordMeasurements(deviceId: $id, entries: [{ field: "t", value: 1, timestamp: $at }]) {
         stored rejected { code } } }`,
      { id: device, at: new Date(old * 1000).toISOString() },
    );
    expect(recordMeasurements).toEqual({ stored: 0, rejected: [{ code: 'BEYOND_RETENTION' }] });

    const body = JSON.stringify(['old-0', 'old-1'].map((serial) => ({ ...entries[0], device: serial })));
    expect((await callWebhook(server, product, { body })).body).toEqual({ stored: 1, rejected: 1 });
    const { testDecoder, replayCalls } = await server.gql(
      `mutation ($id: ID!, $body: String!) {
         testDecoder(productId: $id, request: { body: $body }) { entries { code } }
         replayCalls(productId: $id, dryRun: true) { stored rejected results { run { entries { code } } } } }`,
      { id: product.id, body },
    );
    const codes = [{ code: 'BEYOND_RETENTION' }, { code: null }];
    expect(testDecoder.entries).toEqual(codes);
    expect(replayCalls).toMatchObject({ stored: 1, rejected: 1, results: [{ run: { entries: codes } }] });

    const response = await fetch(`${server.url}/v1/import`, {
      method: 'POST',
      headers: { Authorization: `Token ${server.adminToken}`, 'Content-Type': 'text/csv' },
      body: `device,timestamp,t\nold-0,${old},1\nold-0,${young},1\n`,
    });
    expect(await response.json()).toMatchObject({
      stored: 1,
      refused: 1,
      values: 1,
      rejected: [{ line: 2, field: 't', code: 'BEYOND_RETENTION' }],
    });
  });

  test('a network message of long ago is refused as well', async () => {
    const lorawan = await createProduct(server, {
      fields: { t: 'FLOAT' },
      serialNumbers: [],
      input: { deviceType: 'LORAWAN' },
    });
    await server.gql(
      'mutation ($id: ID!) { createDevices(productId: $id, plan: "standard", devices: [{ name: "l", serialNumber: "70b3d57ed0001111" }]) { id } }',
      { id: lorawan.id },
    );
    const send = (days: number): Promise<Response> =>
      fetch(`${server.url}/integrations/lorawan/tti/`, {
        method: 'POST',
        headers: { Authorization: `Token ${server.adminToken}` },
        body: JSON.stringify({
          end_device_ids: { dev_eui: '70B3D57ED0001111' },
          received_at: new Date(ago(days) * 1000).toISOString(),
          uplink_message: { f_port: 1, frm_payload: 'AQ==', decoded_payload: { t: days } },
        }),
      });
    expect(await (await send(400)).json()).toEqual({ stored: 0, rejected: 1 });
    expect(await (await send(300)).json()).toEqual({ stored: 1, rejected: 0 });
  });

  test('a sweep that deletes is a line of the log, an entry of the audit log and a metric', async () => {
    // The other device was never on a plan that keeps less than it has; now the operator makes it one.
    const { createDevices } = await server.gql(
      `mutation ($id: ID!) { createDevices(productId: $id, plan: "standard", devices: [{ name: "s", serialNumber: "s" }]) { id } }`,
      { id: product.id },
    );
    const swept = createDevices[0].id;
    const entries = [300, 200, 100].map((days) => ({ field: 't', value: days, timestamp: ago(days) }));
    expect(await server.record(swept, entries)).toMatchObject({ status: 200 });
    await server.stop();
    server = await startServer({ database, env: { PLAN_RETENTION_DAYS: 'free=90, standard=150' } });
    await expect.poll(() => count(swept)).toBe(1);
    expect(await count(device)).toBeGreaterThanOrEqual(5);
    const line = (): any => server.process.lines.find(({ msg }) => /history older than its plan/.test(String(msg)));
    await expect.poll(line).toMatchObject({
      plan: 'standard',
      retentionDays: 150,
      devices: 1,
      measurements: 2,
      deviceIds: [swept],
    });
    const entry = async (): Promise<any> => {
      const { auditLog } = await server.gql(
        `query ($id: ID) { auditLog(workspaceId: $id, operation: "retention") {
           edges { node { operation tokenName userId subjects arguments } } } }`,
        { id: line().workspaceId },
      );
      return auditLog.edges[0]?.node;
    };
    await expect.poll(entry).toMatchObject({
      operation: 'retention',
      userId: null,
      subjects: [swept],
      arguments: { plan: 'standard', retentionDays: 150, devices: 1, measurements: 2 },
    });
    const metrics = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Token ${server.adminToken}` } });
    expect(await metrics.text()).toMatch(/^inlet_values_beyond_retention_total 2$/m);
  });

  test('history of a device that is absorbed by one of a smaller plan waits, too', async () => {
    const made = async (plan: string, serialNumber: string): Promise<string> => {
      const { createDevices } = await server.gql(
        `mutation ($id: ID!, $plan: String, $serial: String) {
           createDevices(productId: $id, plan: $plan, devices: [{ name: "x", serialNumber: $serial }]) { id } }`,
        { id: product.id, plan, serial: serialNumber },
      );
      return createDevices[0].id;
    };
    const [heir, gone] = [await made('standard', 'heir'), await made('unlimited', 'gone')];
    const entries = [900, 10].map((days) => ({ field: 't', value: days, timestamp: ago(days) }));
    expect(await server.record(gone, entries)).toMatchObject({ status: 200 });
    await server.gql(
      'mutation ($id: ID!, $absorb: ID) { replaceDevice(id: $id, serialNumber: "gone", absorb: $absorb) { id } }',
      { id: heir, absorb: gone },
    );
    await saveDecoder(server, product.id, DECODER);
    await server.stop();
    server = await startServer({ database, env: { PLAN_RETENTION_DAYS: 'free=90, standard=150' } });
    await expect.poll(() => count(heir)).toBe(2);
  });
});
