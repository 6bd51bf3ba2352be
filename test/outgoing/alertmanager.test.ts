import { afterAll, beforeAll, expect, test } from 'vitest';
import { FiringAlerts } from '../../src/domain/outgoing/firing-alerts.ts';
import { repeatAlerts } from '../../src/domain/outgoing/repeater.ts';
import { NetTransmitter } from '../../src/transmission/net-transmitter.ts';
import { Alertmanager, describeWithAlertmanager } from '../support/alertmanager.ts';
import { createWorkspaceWithRule } from '../support/alerting.ts';
import { openDomain, type OpenDomain } from '../support/open-domain.ts';
import { Receiver } from '../support/receiver.ts';
import { DATABASES, startServer, type TestServer } from '../support/server.ts';

const SETTINGS = { allowPrivateNetworks: false, allowedHosts: new Set(['127.0.0.1']), mail: null };

describeWithAlertmanager('Alertmanager', () => {
  let manager: Alertmanager;

  beforeAll(async () => {
    manager = await Alertmanager.start();
  });
  afterAll(() => manager?.stop());

  test('has an alert from its first value on until it ends', async () => {
    const server: TestServer = await startServer({ database: 'sqlite', env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
    const { workspaceId, deviceId } = await createWorkspaceWithRule(server);
    const { createEndpoint } = await server.gql(
      `mutation ($w: ID, $url: String) {
         createEndpoint(workspaceId: $w, input: { name: "am", kind: ALERTMANAGER, url: $url, events: ["alert.fired", "alert.resolved"] }) {
           secret endpoint { id }
         }
       }`,
      { w: workspaceId, url: manager.url },
    );
    expect(createEndpoint.secret).toBeNull();
    const startsAt = new Date(Date.now() - 5_000).toISOString();
    const timestamp = Date.parse(startsAt) / 1_000;
    await server.record(deviceId, { field: 'temperature', value: 31, timestamp });
    await expect
      .poll(() => manager.alerts())
      .toMatchObject([
        {
          labels: {
            alertname: 'Too warm',
            rule: 'too-warm',
            product: 'freezers',
            device: 'freezer-1',
            device_id: deviceId,
          },
          annotations: { severity: 'warning', summary: 'Freezer: Too warm', values: '{"temperature":31}' },
          startsAt,
          status: { state: 'active' },
        },
      ]);
    await server.record(deviceId, { field: 'temperature', value: 20 });
    await expect.poll(() => manager.alerts()).toEqual([]);
    const { testEndpoint } = await server.gql(
      'mutation ($id: ID!) { testEndpoint(id: $id) { status attempts { httpStatus } } }',
      {
        id: createEndpoint.endpoint.id,
      },
    );
    expect(testEndpoint).toEqual({ status: 'DELIVERED', attempts: [{ httpStatus: 200 }] });
    await server.stop();
  });

  test.each(DATABASES)('is told again of what fires, and of what is gone without a word, on %s', async (name) => {
    const transmitter = new NetTransmitter(SETTINGS);
    const domain: OpenDomain = await openDomain(name, undefined, transmitter);
    domain.sender.start();
    const workspaceId = domain.access.workspaceIds()[0]!;
    await domain.endpoints.create(domain.access, workspaceId, {
      name: 'am',
      kind: 'ALERTMANAGER',
      url: `${manager.url}api/v2/alerts`,
      events: ['alert.fired'],
    });
    const alert = { id: 'gone', state: 'FIRING', severity: 'CRITICAL', startedAt: new Date().toISOString() };
    const data = {
      alert,
      rule: { id: '1', key: null, name: `On ${name}` },
      device: { id: '1', name: 'x', serialNumber: 'x' },
    };
    await domain.database.write((em) =>
      domain.outbox.write(em, [
        {
          key: '1',
          type: 'alert.fired',
          workspaceId,
          productId: null,
          deviceId: '1',
          tags: [],
          endpointIds: null,
          at: new Date(),
          data,
        },
      ]),
    );
    domain.outbox.wake();
    const shown = async () => (await manager.alerts()).filter(({ labels }) => labels['alertname'] === `On ${name}`);
    await expect.poll(shown).toHaveLength(1);
    const kept = () => domain.database.read().execute('select 1 from firing_alert');
    // Kept after it was told.
    await expect.poll(kept).toHaveLength(1);
    const now = (): number => domain.clock.now;
    const repeat = (): Promise<void> =>
      repeatAlerts(
        { database: domain.database, firing: new FiringAlerts(domain.database), transmitter, now },
        () => false,
      );
    const [first] = (await shown()) as [Awaited<ReturnType<typeof shown>>[number]];
    await repeat();
    expect(await shown()).toEqual([first]);
    // Its device is gone: no alert of that id is there.
    await domain.database.write((em) => em.execute('update firing_alert set repeat_at = ?', [now()], 'run'));
    await repeat();
    await expect.poll(shown).toEqual([]);
    expect(await kept()).toEqual([]);
    await domain.close();
    transmitter.stop();
  });
});

test.each(DATABASES)('one that takes nothing is sent one page of what fires for each look, on %s', async (name) => {
  const receiver = await Receiver.start();
  receiver.answer = (response) => response.writeHead(503).end();
  const transmitter = new NetTransmitter(SETTINGS);
  const domain: OpenDomain = await openDomain(name, undefined, transmitter);
  const workspaceId = domain.access.workspaceIds()[0]!;
  const input = { name: 'am', kind: 'ALERTMANAGER', url: receiver.url, events: ['alert.fired'] } as const;
  await domain.endpoints.create(domain.access, workspaceId, input);
  const firing = new FiringAlerts(domain.database);
  const due = new Map(
    Array.from({ length: 1_200 }, (_, at) => [
      `alert-${at}`,
      { labels: {}, annotations: {}, startsAt: new Date(0).toISOString() },
    ]),
  );
  await domain.database.write((em) => firing.note(em, 1, due as never, 0));
  const now = (): number => domain.clock.now;
  await repeatAlerts({ database: domain.database, firing, transmitter, now }, () => false);
  expect(receiver.received).toHaveLength(1);
  receiver.answer = (response) => response.writeHead(200).end();
  await repeatAlerts({ database: domain.database, firing, transmitter, now }, () => false);
  expect(receiver.received).toHaveLength(3);
  await domain.close();
  transmitter.stop();
  receiver.stop();
});
