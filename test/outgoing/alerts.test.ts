import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { createProduct, DATABASES, startServer, type TestProduct, type TestServer } from '../support/server.ts';
import { createToken, createWorkspace } from '../support/tenant.ts';

const ENDPOINT =
  'mutation ($w: ID, $i: EndpointInput!) { createEndpoint(workspaceId: $w, input: $i) { endpoint { id key } } }';
const RULE = `mutation ($p: ID!, $i: RuleInput!) { createRule(productId: $p, input: $i) {
  id notify { endpoints { key } groupBy remindEverySeconds maxReminders } } }`;
const ALERTS = 'query ($p: ID) { alerts(productId: $p) { edges { node { id state } } } }';
const HOT = {
  name: 'hot',
  levels: [{ severity: 'WARNING', all: [{ field: 'temperature', operator: 'GT', value: 30 }] }],
};

describe.each(DATABASES)('endpoints are told of alerts, on %s', (database) => {
  let server: TestServer;
  let receiver: Receiver;
  let workspaceId: string;
  let product: TestProduct;
  let base: number;

  beforeAll(async () => {
    server = await startServer({ database, env: { WEBHOOK_ALLOWED_HOSTS: '127.0.0.1' } });
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    receiver = await Receiver.start();
    workspaceId = await createWorkspace(server, 'told');
    product = await createProduct(server, { workspaceId, serialNumbers: ['s1', 's2', 's3'] });
    base = Math.floor(Date.now() / 1_000) - 600;
  });
  afterEach(() => receiver.stop());

  async function endpoint(key: string, events = ['alert.fired', 'alert.updated', 'alert.resolved']): Promise<string> {
    const input = { name: key, key, kind: 'WEBHOOK', url: `${receiver.url}${key}`, events };
    return (await server.gql(ENDPOINT, { w: workspaceId, i: input })).createEndpoint.endpoint.id;
  }
  const rule = async (input: Record<string, unknown> = {}): Promise<any> =>
    (await server.gql(RULE, { p: product.id, i: { ...HOT, ...input } })).createRule;
  async function record(...values: [seconds: number, value: number][]): Promise<void> {
    const entries = values.map(([seconds, value]) => ({ field: 'temperature', value, timestamp: base + seconds }));
    expect((await server.record(product.deviceIds[0]!, entries)).status).toBe(200);
  }
  /** What came, oldest first, as soon as it is so many. */
  async function come(count: number): Promise<Record<string, any>[]> {
    await expect.poll(() => receiver.bodies.length, { interval: 20 }).toBeGreaterThanOrEqual(count);
    expect(receiver.bodies).toHaveLength(count);
    return receiver.bodies;
  }
  const alert = async (): Promise<{ id: string; state: string }> =>
    (await server.gql(ALERTS, { p: product.id })).alerts.edges[0]?.node;

  test('each change once, with what it is about; an episode within one batch is one message', async () => {
    await endpoint('all');
    await rule({
      levels: [HOT.levels[0], { severity: 'CRITICAL', all: [{ field: 'temperature', operator: 'GT', value: 50 }] }],
    });
    await record([0, 31]);
    const [fired] = await come(1);
    expect(fired).toMatchObject({
      type: 'alert.fired',
      data: {
        alert: { state: 'FIRING', severity: 'WARNING', startedAt: new Date(base * 1_000).toISOString(), late: false },
        rule: { name: 'hot', key: null },
        device: { id: product.deviceIds[0], serialNumber: 's1', tags: [] },
        product: { id: product.id },
        values: { temperature: 31 },
        reason: 'VALUE',
      },
    });
    await record([1, 60]);
    await come(2);
    await record([2, 20]);
    const told = await come(3);
    expect(told.map(({ type, data }) => [type, data['alert'].severity])).toEqual([
      ['alert.fired', 'WARNING'],
      ['alert.updated', 'CRITICAL'],
      ['alert.resolved', 'CRITICAL'],
    ]);
    await record([10, 31], [20, 20]);
    const late = (await come(4)).at(-1)!;
    expect([late['type'], late['data'].alert.late]).toEqual(['alert.resolved', true]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
  });

  test('the endpoints that a rule names, alone; one that is named stays', async () => {
    await endpoint('others');
    const id = await endpoint('mine', []);
    const made = await rule({ notify: { endpointKeys: ['mine'], remindEverySeconds: 1, maxReminders: 1 } });
    expect(made.notify).toEqual({
      endpoints: [{ key: 'mine' }],
      groupBy: null,
      remindEverySeconds: 1,
      maxReminders: 1,
    });
    await record([0, 31]);
    const [first, reminder] = await come(2);
    expect([first!['type'], reminder!['type'], reminder!['data'].reason]).toEqual(['alert.fired', 'alert.updated', 'REMINDER']); // oxfmt-ignore
    const gone = await server.query('mutation ($id: ID!) { deleteEndpoint(id: $id) }', { id });
    expect(gone.errors![0]!.message).toContain('The rule "hot" tells this endpoint');
    const unknown = await server.query(RULE, { p: product.id, i: { ...HOT, notify: { endpointKeys: ['mine', 'x'] } } });
    expect(unknown.errors![0]!.message).toContain('input.notify.endpointKeys[1]: the workspace has no endpoint');
    const limited = await createToken(server, server.adminToken, workspaceId, ['READ', 'CONFIGURE'], {
      productIds: [product.id],
    });
    const refused = await server.query(
      RULE,
      { p: product.id, i: { ...HOT, notify: { endpointKeys: ['mine'] } } },
      limited.secret,
    );
    expect(refused.errors![0]!.extensions.code).toBe('FORBIDDEN');
    // What was told of is over with the rule.
    await server.gql('mutation ($id: ID!) { deleteRule(id: $id) }', { id: made.id });
    expect((await come(3)).at(-1)).toMatchObject({ type: 'alert.resolved', data: { reason: 'SAVED' } });
  });

  test('nothing while it is snoozed; what still fires then is told', async () => {
    await endpoint('all');
    await rule();
    await record([0, 31]);
    await come(1);
    const until = new Date(Date.now() + 10_000).toISOString();
    const snooze = 'mutation ($id: ID!, $u: DateTime!) { snoozeAlert(id: $id, until: $u) { id } }';
    await server.gql(snooze, { id: (await alert()).id, u: until });
    const told = await come(2);
    expect(Date.parse(told[1]!['timestamp'])).toBeGreaterThanOrEqual(Date.parse(until));
    expect(told[1]).toMatchObject({ type: 'alert.updated', data: { reason: 'SNOOZE_ENDED' } });
  });

  test('nothing outside of the schedule; at its opening what has passed is told as passed', async () => {
    await endpoint('all');
    // Hours of a zone by which it is night now.
    const hour = (new Date().getUTCHours() + 12) % 24;
    const two = (number: number): string => String(number % 24).padStart(2, '0');
    const closed = { hours: `${two(hour)}:00-${two(hour + 1)}:00`, timeZone: 'UTC' };
    const { id } = await rule({ schedule: closed });
    await record([0, 31]);
    await expect.poll(async () => (await alert())?.state, { interval: 20 }).toBe('FIRING');
    await record([1, 20]);
    await expect.poll(async () => (await alert()).state, { interval: 20 }).toBe('RESOLVED');
    expect(receiver.bodies).toEqual([]);
    const update = 'mutation ($id: ID!, $i: RuleInput!) { updateRule(id: $id, input: $i) { id } }';
    await server.gql(update, { id, i: { ...HOT, schedule: { timeZone: 'UTC' } } });
    expect((await come(1))[0]).toMatchObject({ type: 'alert.resolved', data: { alert: { state: 'RESOLVED' } } });
  });

  test('alerts of a product at one moment are one message', async () => {
    await endpoint('all');
    await rule({ notify: { groupBy: 'PRODUCT' } });
    // One call, so that no moment at which messages close lies between them.
    const entries = ['s1', 's2', 's3'].map((device) => ({ device, field: 'temperature', value: 31, timestamp: base }));
    const decoder = `function Decoder() { return ${JSON.stringify(entries)}; }`;
    const { saveDecoder } = await server.gql(
      'mutation ($id: ID!, $source: String!) { saveDecoder(productId: $id, source: $source) { version } }',
      { id: product.id, source: decoder },
    );
    expect(saveDecoder.version).toBe(1);
    const call = await fetch(`${server.url}/integrations/api/${product.webhookId}/`, { method: 'POST', body: 'x' });
    expect(await call.json()).toEqual({ stored: 3, rejected: 0 });
    const [told] = await come(1);
    expect(told).toMatchObject({ type: 'alert.fired', data: { count: 3, product: { id: product.id } } });
    expect(told!['data'].alerts.map((one: any) => one.device.serialNumber).toSorted()).toEqual(['s1', 's2', 's3']);
  });

  test('alerts of devices that are deleted, absorbed or go with their product are over', async () => {
    await endpoint('all');
    await rule();
    await rule({ name: 'together', notify: { groupBy: 'PRODUCT' } });
    const [first, second, third] = product.deviceIds;
    for (const id of product.deviceIds)
      expect((await server.record(id, { field: 'temperature', value: 31, timestamp: base })).status).toBe(200);
    const alertsIn = ({ data }: Record<string, any>): any[] => data['alerts'] ?? [data];
    /** What is over, of which devices and by which rule, as soon as it is so many. */
    const over = async (count: number): Promise<string[]> => {
      const found = (): string[] => {
        const ended: any[] = receiver.bodies.filter(({ type }) => type === 'alert.resolved');
        return ended.flatMap((body) =>
          alertsIn(body).map((one): string => `${one.device.serialNumber} ${body.data.rule.name}`),
        );
      };
      await expect.poll(() => found().length, { interval: 20 }).toBe(count);
      return found().toSorted();
    };
    const isTold = (): boolean => receiver.bodies.flatMap(alertsIn).length === 6;
    await expect.poll(isTold, { interval: 20 }).toBe(true);
    await server.gql('mutation ($ids: [ID!]!) { deleteDevices(ids: $ids) }', { ids: [first] });
    expect(await over(2)).toEqual(['s1 hot', 's1 together']);
    const replace = 'mutation ($id: ID!, $a: ID) { replaceDevice(id: $id, serialNumber: "s2", absorb: $a) { id } }';
    await server.gql(replace, { id: third, a: second });
    expect(await over(4)).toEqual(['s1 hot', 's1 together', 's2 hot', 's2 together']);
    await server.gql('mutation ($id: ID!) { deleteProduct(id: $id) }', { id: product.id });
    expect((await over(6)).slice(2)).toEqual(['s2 hot', 's2 hot', 's2 together', 's2 together']);
    expect(receiver.bodies.filter(({ type }) => type === 'alert.resolved').flatMap(alertsIn)[0]).toMatchObject({
      alert: { state: 'RESOLVED' },
      reason: 'SAVED',
    });
  });
});
