import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { describeWithMosquitto, Mosquitto } from '../support/mosquitto.ts';
import { ADMIN_TOKEN, type ServerProcess } from '../support/server-process.ts';
import { SmallBroker } from '../support/small-broker.ts';
import { createDatabase, type DatabaseName, startServer, type TestServer } from '../support/server.ts';
import { createToken } from '../support/tenant.ts';

const FROM = Date.UTC(2026, 0, 1) / 1_000;
const DECODER = `function Decoder({ method, path, body }) {
  const [, , , device] = path.split('/');
  return method === 'MQTT' ? [{ device, field: 'N', value: JSON.parse(body).n }] : [];
}`;

interface Device {
  id: string;
  serialNumber: string;
  webhookId: string;
}

let [broker, devices]: [Mosquitto | undefined, number] = [undefined, 0];
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/**
 * A server on a fresh database that hears of the broker, with a device of one field `N`, and the way to start others on
 * it. `env` null: the first one hears of no broker.
 */
async function prepare(
  env: Record<string, string> | null = {},
  {
    name = 'sqlite',
    alone = false,
    decoder = null,
  }: { name?: DatabaseName; alone?: boolean; decoder?: string | null } = {},
) {
  devices += 1;
  const clientId = `test-${devices}`;
  const database = await createDatabase(name);
  ends.push(() => database.drop());
  const start = async (own: Record<string, string> | null = {}, isAlone = false): Promise<TestServer> => {
    const source = {
      MQTT_SOURCE_URL: broker?.url ?? '',
      MQTT_SOURCE_TOKEN: ADMIN_TOKEN,
      MQTT_SOURCE_CLIENT_ID: clientId,
    };
    const started = await startServer({ database, env: own === null ? {} : { ...source, ...own }, alone: isAlone });
    ends.push(() => started.stop());
    return started;
  };
  const server = await start(env, alone);
  const { createProduct: product } = await server.gql(
    'mutation ($input: CreateProductInput!) { createProduct(input: $input) { id webhookUrl } }',
    { input: { name: 'p', fields: [{ identifier: 'N', type: 'INTEGER' }], ...(decoder === null ? {} : { decoder }) } },
  );
  const serialNumber = `source-${devices}`;
  const { createDevices } = await server.gql(
    'mutation ($id: ID!, $devices: [DeviceInput!]!) { createDevices(productId: $id, devices: $devices) { id } }',
    { id: product.id, devices: [{ name: 'd', serialNumber }] },
  );
  const device: Device = { id: createDevices[0].id, serialNumber, webhookId: product.webhookUrl.split('/').at(-2) };
  return { device, server, start };
}

async function publisher(): Promise<MqttClient> {
  const client = await mqtt.connectAsync(broker!.url, { reconnectPeriod: 50 });
  ends.push(() => client.endAsync());
  return client;
}

/** The stored values of `N`, in order of time. */
async function storedIn(server: TestServer, { id }: Device): Promise<number[]> {
  const { device } = await server.gql(
    `query ($id: ID!, $from: DateTime!) { device(id: $id) { history(fields: ["N"], from: $from, to: "2100-01-01T00:00:00Z") { values } } }`,
    { id, from: new Date(FROM * 1_000 - 1).toISOString() },
  );
  return device.history[0]?.values ?? [];
}

/** Messages by code. */
async function countedBy({ url, adminToken }: TestServer): Promise<Record<string, number>> {
  const metrics = await fetch(`${url}/metrics`, { headers: { Authorization: `Token ${adminToken}` } });
  const lines = (await metrics.text()).matchAll(/^inlet_mqtt_messages_total\{from="broker",code="(\w+)"\} (\d+)$/gm);
  return Object.fromEntries([...lines].map(([, code, count]) => [code, Number(count)]));
}

const subscribed = (server: TestServer): Promise<void> =>
  eventually(async () => expect(server.process.lines.some(({ msg }) => msg === 'MQTT source: subscribed')).toBe(true));

const entry = (n: number): string => JSON.stringify({ field: 'N', value: n, timestamp: FROM + n });
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

describeWithMosquitto('messages of a broker (CONTRACT 14)', () => {
  beforeAll(async () => {
    broker = await Mosquitto.start();
  });
  afterAll(() => broker!.stop());

  test('are recorded with the rights of the token, on all qualities of service', async () => {
    const { device, server } = await prepare();
    await subscribed(server);
    const client = await publisher();
    for (const qos of [0, 1, 2] as const)
      await client.publishAsync(`v1/${device.serialNumber}/record`, entry(qos), { qos });
    await client.publishAsync(`v1/${device.id}/N`, JSON.stringify({ value: 3, timestamp: FROM + 3 }), { qos: 1 });
    await eventually(async () => expect(await storedIn(server, device)).toEqual([0, 1, 2, 3]));
    const { device: shown } = await server.gql(
      '{ device(id: "' + device.id + '") { mqttClients { clientId connected lastTopic } } }',
    );
    expect(shown.mqttClients).toEqual([
      { clientId: broker!.url.replace('mqtt://', 'broker '), connected: true, lastTopic: `v1/${device.id}/N` },
    ]);
  });

  test('a whole run comes over its restart, and over that of the server', async () => {
    const { device, server: first, start } = await prepare({}, { alone: true });
    await subscribed(first);
    const client = await publisher();
    const publish = (from: number): Promise<unknown>[] =>
      upTo(200).map((n) => client.publishAsync(`v1/${device.id}/record`, entry(from + n), { qos: 1 }));
    const sent = publish(0);
    await eventually(async () => expect((await storedIn(first, device)).length).toBeGreaterThan(0));
    sent.push(...publish(200));
    await broker!.end();
    await broker!.begin();
    await (first.process as ServerProcess).stop('SIGKILL');
    sent.push(...publish(400));
    const second = await start();
    await Promise.all(sent);
    await eventually(async () => expect(await storedIn(second, device)).toEqual(upTo(600)));
  });

  test('are not acknowledged while the token is unknown, and come when it is known', async () => {
    const { device, server: strange, start } = await prepare({ MQTT_SOURCE_TOKEN: 'x'.repeat(40) });
    await subscribed(strange);
    const client = await publisher();
    for (const n of upTo(100)) await client.publishAsync(`v1/${device.id}/record`, entry(n), { qos: 1 });
    await eventually(async () =>
      expect(strange.process.lines).toContainEqual(expect.objectContaining({ code: 'UNAUTHENTICATED' })),
    );
    await strange.stop();
    const server = await start();
    await eventually(async () => expect(await storedIn(server, device)).toEqual(upTo(100)));
  });

  test('what is refused is acknowledged, logged, and holds nothing up', async () => {
    const { device, server, start } = await prepare();
    await subscribed(server);
    const client = await publisher();
    for (const payload of ['no JSON', entry(0).replace('"N"', '"M"')])
      await client.publishAsync(`v1/${device.id}/record`, payload, { qos: 1 });
    await client.publishAsync('v1/nobody/N', '1', { qos: 1 });
    await client.publishAsync(`v1/${device.id}/record`, entry(1), { qos: 1 });
    await eventually(async () => expect(await storedIn(server, device)).toEqual([1]));
    expect(server.process.lines).toContainEqual(
      // One of them a minute.
      expect.objectContaining({ msg: 'MQTT source: something was refused', code: expect.stringMatching(/^[A-Z_]+$/) }),
    );
    expect(await countedBy(server)).toEqual({ INVALID_JSON: 1, UNKNOWN_FIELD: 1, NOT_FOUND: 1, none: 1 });
    // Nothing comes again to a server that takes the session over.
    await server.stop();
    const next = await start();
    await subscribed(next);
    await client.publishAsync(`v1/${device.id}/record`, entry(2), { qos: 1 });
    await eventually(async () => expect(await storedIn(next, device)).toEqual([1, 2]));
    expect(next.process.lines.filter(({ msg }) => msg === 'MQTT source: something was refused')).toEqual([]);
  });

  test.each([
    ['off', [1]],
    ['on', [0, 1]],
  ])('copies that it has retained, with MQTT_SOURCE_RETAINED=%s', async (retained, expected) => {
    const { device, server: before, start } = await prepare(null);
    await before.stop();
    const client = await publisher();
    const topic = `v1/${device.id}/record`;
    await client.publishAsync(topic, entry(0), { qos: 1, retain: true });
    const server = await start({ MQTT_SOURCE_RETAINED: retained });
    await subscribed(server);
    await client.publishAsync(topic, entry(1), { qos: 1 });
    await eventually(async () => expect(await storedIn(server, device)).toEqual(expected));
    await client.publishAsync(topic, '', { qos: 1, retain: true });
  });

  test('topics without a meaning go to the webhook, with the topic behind its id', async () => {
    const { device, server: before, start } = await prepare(null, { decoder: DECODER });
    await before.stop();
    const server = await start({ MQTT_SOURCE_TOPICS: 'v1/+/+, tele/+/SENSOR', MQTT_SOURCE_WEBHOOK: device.webhookId });
    await subscribed(server);
    const client = await publisher();
    await client.publishAsync(`tele/${device.serialNumber}/SENSOR`, '{"n":7}', { qos: 1 });
    await client.publishAsync(`v1/${device.id}/N`, '8', { qos: 1 });
    await eventually(async () => expect((await storedIn(server, device)).toSorted()).toEqual([7, 8]));
    const { device: found } = await server.gql('query ($id: ID!) { device(id: $id) { product { id } } }', {
      id: device.id,
    });
    const { viewer } = await server.gql('{ viewer { workspaces { workspace: id } } }');
    const pathsFor = async (token: string): Promise<object[]> => {
      const query = 'query ($id: ID!) { product(id: $id) { calls { edges { node { method path body } } } } }';
      const { product } = await server.gql(query, found.product, token);
      return product.calls.edges.map(({ node }: { node: object }) => node);
    };
    const call = { method: 'MQTT', body: '{"n":7}' };
    const path = `webhook/${device.webhookId}/tele/${device.serialNumber}/SENSOR`;
    expect(await pathsFor(server.adminToken)).toEqual([{ ...call, path }]);
    // The id of a webhook, also one that was rotated since, is not for who may only READ.
    await server.gql('mutation ($id: ID!) { rotateWebhook(productId: $id) { id } }', found.product);
    const reader = await createToken(server, server.adminToken, viewer.workspaces[0].workspace, ['READ']);
    expect(await pathsFor(reader.secret)).toEqual([{ ...call, path: path.replace(device.webhookId, '***') }]);
  });

  test('servers that share a subscription get each message once', async () => {
    const env = { MQTT_SOURCE_TOPICS: `$share/both/v1/source-${devices + 1}/+` };
    const { device, server } = await prepare(env);
    const { server: second } = await prepare(env);
    await Promise.all([subscribed(server), subscribed(second)]);
    const client = await publisher();
    for (const n of upTo(40)) await client.publishAsync(`v1/${device.serialNumber}/record`, entry(n), { qos: 1 });
    // The second has no such device: it refuses its part.
    const part = async (): Promise<number[]> => storedIn(server, device);
    await eventually(async () => expect((await part()).length).toBeGreaterThan(10));
    await second.stop();
    await client.publishAsync(`v1/${device.serialNumber}/record`, entry(40), { qos: 1 });
    await eventually(async () => expect(await part()).toContain(40));
    expect((await part()).length).toBeLessThan(40);
  });
});

const redisUrl = inject('redisUrl');

describeWithMosquitto('messages of a broker and several nodes', () => {
  test.skipIf(redisUrl === null)('each message reaches one of the nodes around a Redis', async () => {
    broker = await Mosquitto.start();
    ends.push(() => broker!.stop());
    const env = { REDIS_URL: redisUrl! };
    const { device, server, start } = await prepare(env, { name: 'postgres' });
    const nodes = [server, await start({ ...env, MQTT_SOURCE_CLIENT_ID: `other-${devices}` })];
    await Promise.all(nodes.map(subscribed));
    const client = await publisher();
    for (const n of upTo(40)) await client.publishAsync(`v1/${device.id}/record`, entry(n), { qos: 1 });
    await eventually(async () => expect(await storedIn(nodes[0]!, device)).toEqual(upTo(40)));
    const taken = await Promise.all(nodes.map(async (node) => (await countedBy(node))['none'] ?? 0));
    expect(taken.reduce((sum, part) => sum + part)).toBe(40);
    expect(Math.min(...taken)).toBeGreaterThan(0);
  });
});

test('a broker that knows MQTT 3.1.1 alone is asked in that', async () => {
  const small = await SmallBroker.start([4]);
  ends.push(async () => small.stop());
  const server = await startServer({
    database: 'sqlite',
    env: { MQTT_SOURCE_URL: small.url, MQTT_SOURCE_TOKEN: 'x'.repeat(40) },
  });
  ends.push(() => server.stop());
  await eventually(async () => expect(small.subscribers).toBe(1));
  expect(small.versions).toEqual([5, 4]);
});

test('a message that the broker sends again is acknowledged again and stored once', async () => {
  const small = await SmallBroker.start();
  ends.push(async () => small.stop());
  const { device, server } = await prepare({ MQTT_SOURCE_URL: small.url });
  await eventually(async () => expect(small.subscribers).toBe(1));
  for (const isAgain of [false, true, true]) small.publish(`v1/${device.id}/N`, '7', isAgain);
  await eventually(async () => expect(small.acknowledged).toEqual([1, 1, 1]));
  small.publish(`v1/${device.id}/N`, '7', true);
  small.publish(`v1/${device.id}/N`, '7');
  await eventually(async () => expect(small.acknowledged).toEqual([1, 1, 1, 1, 2]));
  expect(await storedIn(server, device)).toEqual([7, 7]);
});
