import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { createProduct, DATABASES, startServer, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

describe.each(DATABASES)('events on %s', (database) => {
  let server: TestServer;
  let receiver: Receiver;
  let workspaceId: string;
  let token: string;

  beforeAll(async () => {
    server = await startServer({ database, env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
    receiver = await Receiver.start();
    workspaceId = await createWorkspace(server, 'events');
    token = (await createToken(server, server.adminToken, workspaceId, ['READ', 'RECORD', 'CONFIGURE'])).secret;
  });
  afterAll(async () => {
    await server?.stop();
    receiver?.stop();
  });

  const create = (events: string[]): Promise<unknown> =>
    server.gql(
      `mutation ($w: ID, $url: String, $events: [String!]!) {
         createEndpoint(workspaceId: $w, input: { name: "hook", kind: WEBHOOK, url: $url, events: $events }) { secret }
       }`,
      { w: workspaceId, url: receiver.url, events },
    );
  const told = (type: string): Record<string, unknown>[] =>
    receiver.bodies.flatMap((body) => (body.type === type ? [body.data] : []));

  test('an identifier that no device has is told once', async () => {
    await create(['device.unknown']);
    for (let times = 0; times < 3; times += 1)
      await fetch(`${server.url}/integrations/lorawan/tti/`, {
        method: 'POST',
        headers: { Authorization: `Token ${token}` },
        body: JSON.stringify({
          end_device_ids: { dev_eui: '70B3D57ED0000001' },
          uplink_message: { f_port: 1, frm_payload: 'AQ==' },
        }),
      });
    await expect
      .poll(() => told('device.unknown'))
      .toMatchObject([
        { identifier: '70B3D57ED0000001', network: 'tti', product: null, call: { receivedAt: expect.any(String) } },
      ]);
    const { webhookId } = await createProduct(server, {
      workspaceId,
      input: {
        key: 'named',
        decoder: 'function Decoder() { return [{ device: "nobody", field: "temperature", value: 1 }] }',
      },
    });
    await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST' });
    await expect
      .poll(() => told('device.unknown').slice(1))
      .toMatchObject([{ identifier: 'nobody', network: 'webhook', product: { key: 'named' } }]);
  });

  test('a call that could not be decoded is told, with the error', async () => {
    await create(['call.failed']);
    const decoder = 'function Decoder(request) { if (request.body === "bad") throw new Error("so bad"); }';
    const { webhookId } = await createProduct(server, { workspaceId, input: { key: 'failing', decoder } });
    for (const body of ['good', 'bad', 'good'])
      await fetch(`${server.url}/integrations/api/${webhookId}/`, { method: 'POST', body });
    await expect
      .poll(() => told('call.failed'))
      .toMatchObject([
        { product: { key: 'failing' }, call: { error: 'THREW', message: expect.stringContaining('so bad') } },
      ]);
  });

  test('a device that goes silent is told, and that it is heard again; not one that was silent before', async () => {
    const { deviceIds } = await createProduct(server, {
      workspaceId,
      serialNumbers: ['before', 'later'],
      input: { key: 'silent', offlineAfterSeconds: 1 },
    });
    const [before, later] = deviceIds as [string, string];
    await server.record(before, { field: 'temperature', value: 1 });
    const isOnline = async (): Promise<boolean> =>
      (await server.gql('query ($id: ID!) { device(id: $id) { online } }', { id: before }))['device'].online;
    await expect.poll(isOnline).toBe(false);
    await create(['device.offline', 'device.online']);
    // Until what is silent is known, nothing is told.
    for (let value = 0; told('device.offline').length === 0; value += 1) {
      await server.record(later, { field: 'temperature', value });
      await new Promise((resolve) => setTimeout(resolve, 2_500));
    }
    expect(told('device.offline')[0]).toMatchObject({
      device: { serialNumber: 'later' },
      product: { key: 'silent' },
      lastHeardAt: expect.any(String),
    });
    // One that is read later than its limit is not told to be online.
    await expect
      .poll(() => server.record(before, { field: 'temperature', value: 2 }).then(() => told('device.online')))
      .toContainEqual(expect.objectContaining({ device: expect.objectContaining({ serialNumber: 'before' }) }));
  });
});
