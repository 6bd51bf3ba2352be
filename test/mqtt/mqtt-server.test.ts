import mqtt, { type IClientOptions, type MqttClient, type Packet } from 'mqtt';
import type { ISubackPacket } from 'mqtt-packet';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type MqttTestServer, startMqttServer } from '../support/mqtt-door.ts';
import { RawMqtt } from '../support/raw-mqtt.ts';
import { EITHER_DATABASE } from '../support/server.ts';

const FROM = Date.UTC(2026, 0, 1) / 1_000;
const entry = (n: number): string => JSON.stringify({ field: 'N', value: n, timestamp: FROM + n });
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
/** What a refused client is told. */
const refusal = (port: number, options: IClientOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, { reconnectPeriod: 0, ...options });
    client.on('error', (error) => {
      client.end(true);
      resolve(Number((error as { code?: number }).code));
    });
    client.on('connect', () => reject(new Error('it was let in')));
  });

describe.each(EITHER_DATABASE)('the door for MQTT (CONTRACT 14), %s', (database) => {
  let door: MqttTestServer;
  let device: { id: string; serialNumber: string };

  beforeAll(async () => {
    door = await startMqttServer(database);
  });
  afterAll(() => door.stop());
  beforeEach(async () => {
    device = await door.addDevice();
  });

  test.each([4, 5] as const)(
    'acknowledges what is stored, with each quality of service (version %s)',
    async (protocolVersion) => {
      const client = await door.connect({ protocolVersion });
      const topic = `v1/${device.serialNumber}/record`;
      await client.publishAsync(topic, entry(0), { qos: 1 });
      expect(await door.stored(device.id)).toEqual([0]);
      await client.publishAsync(topic, entry(1), { qos: 2 });
      expect(await door.stored(device.id)).toEqual([0, 1]);
      await client.publishAsync(topic, entry(2), { qos: 0 });
      await eventually(async () => expect(await door.stored(device.id)).toEqual([0, 1, 2]));
    },
  );

  test('keeps many messages at once in their order, and acknowledges them in it', async () => {
    const client = await door.connect();
    const acknowledged: number[] = [];
    client.on('packetreceive', (packet: Packet) => {
      if (packet.cmd === 'puback') acknowledged.push(packet.messageId ?? 0);
    });
    const sent: number[] = [];
    client.on('packetsend', (packet: Packet) => {
      if (packet.cmd === 'publish') sent.push(packet.messageId ?? 0);
    });
    await Promise.all(
      upTo(200).map((n) => client.publishAsync(`v1/${device.serialNumber}/N`, entry(n), { qos: n % 3 === 0 ? 2 : 1 })),
    );
    expect(await door.stored(device.id)).toEqual(upTo(200));
    const ofQos1 = new Set(acknowledged);
    expect(acknowledged).toEqual(sent.filter((id) => ofQos1.has(id)));
    expect(acknowledged).toHaveLength(133);
  });

  test('says in MQTT 5 what was refused, and acknowledges it', async () => {
    const client = await door.connect();
    const acks: Packet[] = [];
    client.on('packetreceive', (packet: Packet) => {
      if (packet.cmd === 'puback') acks.push(packet);
    });
    const publish = (topic: string, payload: string): Promise<unknown> =>
      client.publishAsync(topic, payload, { qos: 1 }).catch((error: unknown) => error);
    await publish(`v1/${device.serialNumber}/record`, '[{"field":"N","value":"x"}]');
    await publish('somewhere/else', '1');
    await publish(`v1/${device.serialNumber}/record`, `[${entry(1)},{"field":"N","value":"x"}]`);
    await publish(`v1/${'x/'.repeat(40)}record`, '1');
    expect(acks).toMatchObject([
      { reasonCode: 0x99, properties: { reasonString: 'INVALID_VALUE', userProperties: { rejected: '1' } } },
      { reasonCode: 0x87, properties: { reasonString: 'FORBIDDEN' } },
      { reasonCode: 0, properties: { reasonString: 'INVALID_VALUE', userProperties: { rejected: '1' } } },
      { reasonCode: 0x90 },
    ]);
    expect(client.connected).toBe(true);
  });

  test('takes the token as user name as well, and tells others why not', async () => {
    const { port, server } = door;
    const client = await door.connect({ username: server.adminToken, password: undefined });
    expect(client.connected).toBe(true);
    const token = { username: 'x', password: 'y'.repeat(40) };
    expect(await refusal(port, { ...token, protocolVersion: 5 })).toBe(0x86);
    expect(await refusal(port, { ...token, protocolVersion: 4 })).toBe(4);
    expect(await refusal(port, { protocolVersion: 5 })).toBe(0x86);
    const { createToken } = await server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
      { input: { name: 't', kind: 'INDIVIDUAL', scopes: ['READ'], productIds: [door.productId] } },
    );
    expect(await refusal(port, { username: 'x', password: createToken.secret, protocolVersion: 5 })).toBe(0x87);
    expect(
      await refusal(port, { username: 'x', password: server.adminToken, protocolId: 'MQIsdp', protocolVersion: 3 }),
    ).toBe(1);
  });

  test('loses the connections of a token that is revoked, at once', async () => {
    const { createToken } = await door.server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }',
      { input: { name: 't', kind: 'INDIVIDUAL', scopes: ['RECORD'], productIds: [door.productId] } },
    );
    const client = await door.connect({ password: createToken.secret, reconnectPeriod: 0 });
    const ended = new Promise<Packet>((resolve) => client.once('disconnect', resolve));
    await client.publishAsync(`v1/${device.serialNumber}/N`, '1', { qos: 1 });
    await door.server.gql('mutation ($id: ID!) { revokeToken(id: $id) }', { id: createToken.token.id });
    expect(await ended).toMatchObject({ reasonCode: 0x87 });
  });

  test('tells outcomes to their own sender alone, and lets nobody subscribe to anything else', async () => {
    const [client, other] = [await door.connect(), await door.connect()];
    const topic = `v1/${device.serialNumber}/outcome`;
    const heard: [MqttClient, string, string][] = [];
    for (const each of [client, other]) each.on('message', (on, payload) => heard.push([each, on, payload.toString()]));
    expect(await client.subscribeAsync(topic)).toMatchObject([{ qos: 0 }]);
    expect(await other.subscribeAsync(topic)).toMatchObject([{ qos: 0 }]);
    for (const filter of ['#', 'v1/+/outcome', `v1/${device.serialNumber}/record`])
      await expect(client.subscribeAsync(filter)).rejects.toThrow();
    await client.publishAsync(`v1/${device.serialNumber}/record`, entry(1), { qos: 1 });
    await other.publishAsync(`v1/${device.serialNumber}/N`, '2', { qos: 1 });
    await eventually(async () => expect(heard).toHaveLength(2));
    expect(heard).toEqual([
      [client, topic, '{"stored":1,"rejected":[]}'],
      [other, topic, '{"stored":1,"rejected":[]}'],
    ]);
    await client.unsubscribeAsync(topic);
    await client.publishAsync(`v1/${device.serialNumber}/record`, entry(2), { qos: 1 });
    expect(heard).toHaveLength(2);
  });

  test('looks for no more devices of a packet than a session may subscribe to', async () => {
    const { client } = await RawMqtt.signIn(door.port, { password: Buffer.from(door.server.adminToken) });
    const own = `v1/${device.serialNumber}/outcome`;
    const subscribe = async (topics: string[]): Promise<unknown> => {
      client.send({ cmd: 'subscribe', messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 0 })) });
      return ((await client.next('suback')) as ISubackPacket).granted;
    };
    const many = [...Array.from({ length: 20_000 }, (_, at) => `v1/nobody-${at}/outcome`), own];
    expect(await subscribe(many)).toEqual(many.map(() => 0x87));
    expect(await subscribe([own])).toEqual([0]);
  });

  test('says in MQTT 5 what it does not do', async () => {
    const client = await door.connect({ clientId: '' });
    await client.endAsync();
    const connack = await new Promise<Packet>((resolve) => {
      const again = mqtt.connect(`mqtt://127.0.0.1:${door.port}`, {
        protocolVersion: 5,
        username: 'x',
        password: door.server.adminToken,
        will: { topic: 'v1/x/record', payload: 'gone', qos: 1, retain: true },
      });
      again.on('connect', (packet) => {
        again.end();
        resolve(packet);
      });
    });
    expect(connack).toMatchObject({
      reasonCode: 0,
      sessionPresent: false,
      properties: {
        receiveMaximum: 32,
        retainAvailable: false,
        wildcardSubscriptionAvailable: false,
        sharedSubscriptionAvailable: false,
        subscriptionIdentifiersAvailable: false,
        topicAliasMaximum: 16,
      },
    });
  });

  test('counts messages, and shows its connections', async () => {
    const read = async (): Promise<string> => {
      const headers = { Authorization: `Token ${door.server.adminToken}` };
      return (await fetch(`${door.server.url}/metrics`, { headers })).text();
    };
    const client = await door.connect();
    await client.publishAsync(`v1/${device.serialNumber}/N`, '1', { qos: 1 });
    const metrics = await read();
    expect(metrics).toMatch(/^inlet_mqtt_messages_total\{from="client",code="none"\} [1-9]/m);
    expect(metrics).toMatch(/^inlet_mqtt_connections [1-9]/m);
    expect(metrics).toMatch(/^inlet_mqtt_messages_under_way 0/m);
  });
});
