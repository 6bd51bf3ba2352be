import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { IConnectPacket } from 'mqtt-packet';
import { type MqttTestServer, startMqttServer } from '../support/mqtt-door.ts';
import { RawMqtt } from '../support/raw-mqtt.ts';

let door: MqttTestServer;
let device: { id: string; serialNumber: string };
let topic: string;
let count = 0;

beforeAll(async () => {
  door = await startMqttServer('sqlite', { env: { MAX_BODY_BYTES: '100000' } });
});
afterAll(() => door.stop());
beforeEach(async () => {
  device = await door.addDevice();
  topic = `v1/${device.serialNumber}/N`;
  count += 1;
});

const signIn = (more: Partial<IConnectPacket> = {}) =>
  RawMqtt.signIn(door.port, { clientId: `client-${count}`, password: Buffer.from(door.server.adminToken), ...more });
const stored = (): Promise<number[]> => door.stored(device.id);
/** Breaks it, and waits until the server knows. */
async function broken(client: RawMqtt): Promise<void> {
  client.break();
  await once(client.socket, 'close');
}

describe.each([4, 5] as const)('a message that comes again, MQTT %s', (protocolVersion) => {
  const connected = async (more: Partial<IConnectPacket> = {}): Promise<RawMqtt> =>
    (await signIn({ protocolVersion, ...more })).client;

  test.each([1, 2] as const)(
    'is stored once when the connection broke, without DUP and clean (QoS %s)',
    async (qos) => {
      const ack = qos === 1 ? 'puback' : 'pubrec';
      const first = await connected();
      first.publish(topic, '1', { qos, id: 7 });
      await first.next(ack);
      await broken(first);
      const again = await connected();
      again.publish(topic, '1', { qos, id: 7 });
      expect(await again.next(ack)).toMatchObject({ messageId: 7 });
      // A clean session of QoS 2 begins anew; what was acknowledged may not have arrived with QoS 1.
      expect(await stored()).toEqual(qos === 1 ? [1] : [1, 1]);
      await broken(again);
    },
  );

  test('is stored once when nobody has waited for the acknowledgement', async () => {
    const first = await connected();
    for (let id = 1; id <= 20; id += 1) first.publish(topic, String(id), { qos: 1, id });
    first.socket.end();
    await once(first.socket, 'close');
    const again = await connected();
    for (let id = 1; id <= 20; id += 1) again.publish(topic, String(id), { qos: 1, id });
    for (let id = 1; id <= 20; id += 1) expect(await again.next('puback')).toMatchObject({ messageId: id });
    expect((await stored()).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    await broken(again);
  });

  test('is another one after its acknowledgement on the same connection, or a goodbye, or with another payload', async () => {
    const first = await connected();
    for (const payload of ['1', '1', '2']) {
      first.publish(topic, payload, { qos: 1, id: 7 });
      await first.next('puback');
    }
    first.send({ cmd: 'disconnect' });
    await first.closed();
    const again = await connected();
    again.publish(topic, '2', { qos: 1, id: 7 });
    await again.next('puback');
    expect(await stored()).toEqual([1, 1, 2, 2]);
    await broken(again);
  });

  test('is stored once in a session that goes on until it is released (QoS 2)', async () => {
    const kept = { clean: false, properties: { sessionExpiryInterval: 100 } };
    const first = await connected(kept);
    first.publish(topic, '1', { qos: 2, id: 9 });
    await first.next('pubrec');
    await broken(first);
    const { client: again, connack } = await signIn({ protocolVersion, ...kept });
    expect(connack.sessionPresent).toBe(true);
    for (let times = 0; times < 2; times += 1) {
      again.publish(topic, '1', { qos: 2, id: 9, dup: true });
      expect(await again.next('pubrec')).toMatchObject({ messageId: 9 });
    }
    expect(await stored()).toEqual([1]);
    again.send({ cmd: 'pubrel', messageId: 9 });
    expect(await again.next('pubcomp')).toMatchObject({ messageId: 9 });
    again.publish(topic, '1', { qos: 2, id: 9 });
    await again.next('pubrec');
    expect(await stored()).toEqual([1, 1]);
    again.send({ cmd: 'disconnect' });
    await again.closed();
    const { connack: clean } = await signIn({ protocolVersion });
    expect(clean.sessionPresent).toBe(false);
  });
});

describe('a client of the same name', () => {
  test('takes the place of the one before, within its token', async () => {
    const { createToken } = await door.server.gql(
      'mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }',
      { input: { name: 't', kind: 'INDIVIDUAL', scopes: ['RECORD'] } },
    );
    const { client: first } = await signIn();
    const { client: other } = await signIn({ password: Buffer.from(createToken.secret) });
    const { client: second } = await signIn();
    expect(await first.next('disconnect')).toMatchObject({ reasonCode: 0x8e });
    await first.closed();
    for (const client of [other, second]) {
      client.send({ cmd: 'pingreq' });
      await client.next('pingresp');
    }
    second.break();
    other.break();
  });

  test('waits for what the one before has sent, and gets its acknowledgement', async () => {
    const { client: first } = await signIn();
    first.publish(topic, '1', { qos: 1, id: 1 });
    const { client: second } = await signIn();
    second.publish(topic, '1', { qos: 1, id: 1 });
    await second.next('puback');
    expect(await stored()).toEqual([1]);
    second.break();
  });
});

describe('packets', () => {
  const ends = async (bytes: Buffer, reasonCode: number): Promise<void> => {
    const { client } = await signIn();
    client.socket.write(bytes);
    expect(await client.next('disconnect')).toMatchObject({ reasonCode });
    await client.closed();
  };
  const publish = (flags: number, ...content: number[]): Buffer =>
    Buffer.from([0x30 | flags, content.length, ...content]);

  test.each([
    ['QoS 3', publish(6, 0, 1, 97, 0, 1, 0), 0x81],
    ['a packet id of 0', publish(2, 0, 1, 97, 0, 0, 0), 0x82],
    ['a wildcard', publish(0, 0, 1, 0x23, 0), 0x81],
    ['a topic that is no UTF-8', publish(0, 0, 1, 0xff, 0), 0x81],
    ['a topic that is longer than the packet', publish(0, 0, 9, 97), 0x81],
    ['no topic', publish(0, 0, 0, 0), 0x82],
    ['an alias that stands for nothing', publish(0, 0, 0, 3, 0x23, 0, 1), 0x82],
    ['an alias that is too high', publish(0, 0, 1, 97, 3, 0x23, 0, 17), 0x94],
    ['an unknown property', publish(0, 0, 1, 97, 2, 0x7f, 0), 0x81],
    ['a length of five bytes', Buffer.from([0x30, 255, 255, 255, 255, 1]), 0x81],
    ['a second CONNECT', Buffer.from([0x10, 0]), 0x82],
    ['a packet of a broker', Buffer.from([0xd0, 0]), 0x82],
    ['a SUBSCRIBE without its flags', Buffer.from([0x80, 5, 0, 1, 0, 0, 0]), 0x81],
    ['a SUBSCRIBE over the limit', Buffer.from([0x82, 255, 255, 127]), 0x95],
  ])('%s ends the connection with a reason', async (_, bytes, reasonCode) => ends(bytes, reasonCode));

  test('no CONNECT ends it, too', async () => {
    const client = await RawMqtt.open(door.port);
    client.send({ cmd: 'pingreq' });
    await client.closed();
  });

  test('come in any pieces, and an alias stands for its topic', async () => {
    const { client } = await signIn();
    const bytes = Buffer.concat([
      Buffer.from([0x32, topic.length + 9, 0, topic.length]),
      Buffer.from(topic),
      Buffer.from([0, 1, 3, 0x23, 0, 5, 0x31]),
      Buffer.from([0x32, 9, 0, 0, 0, 2, 3, 0x23, 0, 5, 0x32]),
    ]);
    for (const byte of bytes) {
      client.socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await client.next('puback');
    await client.next('puback');
    expect(await stored()).toEqual([1, 2]);
    client.break();
  });

  test.each([100_001, 170_000, 5_000_000])('a message of %s bytes is acknowledged and not stored', async (bytes) => {
    for (const protocolVersion of [4, 5] as const) {
      const { client } = await signIn({ protocolVersion });
      client.publish(topic, '1'.repeat(bytes), { qos: 1, id: 1 });
      client.publish(topic, String(protocolVersion), { qos: 1, id: 2 });
      const told = { reasonCode: 0x99, properties: { reasonString: 'BODY_TOO_LARGE' } };
      expect(await client.next('puback')).toMatchObject({ messageId: 1, ...(protocolVersion === 5 ? told : {}) });
      expect(await client.next('puback')).toMatchObject({ messageId: 2 });
      client.break();
    }
    expect(await stored()).toEqual([4, 5]);
  });

  test('without keep-alive in time the connection ends', async () => {
    const { client } = await signIn({ keepalive: 1 });
    expect(await client.next('disconnect')).toMatchObject({ reasonCode: 0x8d });
  });

  test('of QoS 0 are stored although the sender says goodbye at once', async () => {
    const { client } = await signIn();
    for (let n = 0; n < 100; n += 1)
      client.publish(
        `v1/${device.serialNumber}/record`,
        JSON.stringify({ field: 'N', value: n, timestamp: 1_700_000_000 + n }),
        { qos: 0 },
      );
    client.send({ cmd: 'disconnect' });
    client.socket.end();
    await eventually(async () => expect(await stored()).toHaveLength(100));
  });
});
