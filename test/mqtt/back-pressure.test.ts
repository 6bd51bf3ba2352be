import mqtt, { type Packet } from 'mqtt';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { Access } from '../../src/domain/access/access.ts';
import { AppError } from '../../src/errors.ts';
import { BodyMemory } from '../../src/http/body-memory.ts';
import { createLog } from '../../src/log.ts';
import { Frames } from '../../src/mqtt/frames.ts';
import { MqttServer } from '../../src/mqtt/mqtt-server.ts';
import type { TopicMessage, TopicOutcome } from '../../src/mqtt/topic-message.ts';
import { RawMqtt } from '../support/raw-mqtt.ts';

const STORED: TopicOutcome = { reason: 0, code: null, stored: 1, rejected: 0, answer: '{"stored":1,"rejected":[]}' };
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A door whose receiver is the test. */
async function openDoor(receive: (message: TopicMessage) => Promise<TopicOutcome>) {
  const bodies = new BodyMemory(() => 'here');
  const access = { tokenId: 't', userId: null, expiresAt: null, workspaceIdsWith: () => [] } as unknown as Access;
  const server = new MqttServer({
    host: '127.0.0.1',
    port: 0,
    tls: null,
    connectionsPerAddress: 0,
    maxMessageBytes: 100_000,
    authenticator: {
      revision: 0,
      cached: () => access,
      present: () => access,
      authenticate: () => Promise.resolve(access),
    },
    anonymous: { during: (_, lookUp) => lookUp(), addressOf: () => 'here' },
    bodies,
    topics: { receive: (_, message) => receive(message), outcomeTopicOf: () => null, maySubscribe: async () => false },
    cluster: { onChanged: () => {} },
    onConnection: () => {},
    onReceived: () => {},
    now: Date.now,
    log: createLog('silent'),
  });
  const { port } = await server.start();
  ends.push(() => server.stop());
  return { server, bodies, port: port! };
}

/** The same, and a client of it. */
async function open(receive: (message: TopicMessage) => Promise<TopicOutcome>) {
  const { server, port } = await openDoor(receive);
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${port}`, {
    protocolVersion: 5,
    username: 'x',
    password: 'x',
    reconnectPeriod: 0,
    // More than the door allows: it reads no more by itself.
    properties: { receiveMaximum: 1_000 },
  });
  ends.push(() => client.endAsync(true));
  return { server, client };
}

const textOf = ({ payload }: TopicMessage): string => payload.toString();

test('a message that meets an overload is tried again, and nothing behind it is read meanwhile', async () => {
  const given: string[] = [];
  const refused = Promise.withResolvers<void>();
  const { client } = await open((message) => {
    given.push(textOf(message));
    if (given.length > 3) return Promise.resolve(STORED);
    refused.resolve();
    return Promise.reject(new AppError('OVERLOADED', 'Busy.'));
  });
  const first = client.publishAsync('v1/d/N', '0', { qos: 1 });
  await refused.promise;
  const others = ['1', '2', '3'].map((text) => client.publishAsync('v1/d/N', text, { qos: 1 }));
  await Promise.all([first, ...others]);
  expect(given).toEqual(['0', '0', '0', '0', '1', '2', '3']);
});

test('32 messages are under way at most, and acknowledged in their order', async () => {
  const waiting: (() => void)[] = [];
  let mostAtOnce = 0;
  const { client, server } = await open(
    () =>
      new Promise((resolve) => {
        waiting.push(() => resolve(STORED));
        mostAtOnce = Math.max(mostAtOnce, server.underWay);
      }),
  );
  const acknowledged: number[] = [];
  client.on('packetreceive', (packet: Packet) => {
    if (packet.cmd === 'puback') acknowledged.push(packet.messageId ?? 0);
  });
  const sent: number[] = [];
  client.on('packetsend', (packet: Packet) => {
    if (packet.cmd === 'publish') sent.push(packet.messageId ?? 0);
  });
  const all = Array.from({ length: 100 }, (_, n) => client.publishAsync('v1/d/N', String(n), { qos: 1 }));
  await eventually(() => expect(waiting).toHaveLength(32));
  // The last ones first: their acknowledgements wait for those before.
  for (const done of waiting.splice(1).toReversed()) done();
  expect(acknowledged).toEqual([]);
  let isDone = false;
  void Promise.all(all).then(() => (isDone = true));
  await eventually(() => {
    for (const done of waiting.splice(0)) done();
    expect(isDone).toBe(true);
  });
  expect(mostAtOnce).toBeLessThanOrEqual(32);
  expect(acknowledged).toEqual(sent);
});

test('a stop acknowledges what is under way, reads no more, and says goodbye', async () => {
  const waiting: (() => void)[] = [];
  const { client, server } = await open(() => new Promise((resolve) => waiting.push(() => resolve(STORED))));
  const goodbye = new Promise<Packet>((resolve) => client.once('disconnect', resolve));
  const sent = client.publishAsync('v1/d/N', '0', { qos: 1 });
  await eventually(() => expect(waiting).toHaveLength(1));
  const stopped = server.stop();
  const late = client.publishAsync('v1/d/N', '1', { qos: 1 }).catch(() => 'not acknowledged');
  waiting[0]?.();
  await sent;
  expect(await goodbye).toMatchObject({ reasonCode: 0x8b });
  await stopped;
  expect(waiting).toHaveLength(1);
  await client.endAsync(true);
  expect(await late).toBe('not acknowledged');
});

const busy = (): Promise<TopicOutcome> => Promise.reject(new AppError('OVERLOADED', 'Busy.'));
const signIn = async (port: number): Promise<RawMqtt> =>
  (await RawMqtt.signIn(port, { clientId: 'c', password: Buffer.from('x') })).client;

test('a message that was given up with its connection takes no memory, and is the same one when it comes again', async () => {
  const given: { message: TopicMessage; text: string }[] = [];
  let isBusy = true;
  const { port, bodies } = await openDoor((message) => {
    given.push({ message, text: textOf(message) });
    return isBusy ? busy() : Promise.resolve(STORED);
  });
  const first = await signIn(port);
  const text = '1'.repeat(50_000);
  first.publish('v1/d/N', text, { qos: 1, id: 7 });
  await eventually(() => expect(given).not.toHaveLength(0));
  first.break();
  await eventually(() => expect(given[0]!.message.payload).toHaveLength(0));
  expect(bodies.bytes).toBe(0);
  isBusy = false;
  const again = await signIn(port);
  again.publish('v1/d/N', text, { qos: 1, id: 7, dup: true });
  await again.next('puback');
  expect(given.at(-1)).toEqual({ message: given[0]!.message, text });
  again.break();
});

test('what an ended connection still holds is counted, and given up when there is too much', async () => {
  const given: TopicMessage[] = [];
  const { port, bodies, server } = await openDoor((message) => {
    given.push(message);
    return busy();
  });
  const client = await signIn(port);
  client.publish('v1/d/N', '1'.repeat(50_000), { qos: 0 });
  await eventually(() => expect(given).not.toHaveLength(0));
  client.break();
  await eventually(() => expect(server.connections).toBe(0));
  expect([bodies.bytes, given[0]!.isAbandoned()]).toEqual([50_000, false]);
  const other = { socket: client.socket, headers: {} };
  bodies.keep(other, 128 << 20);
  expect([bodies.bytes, given[0]!.isAbandoned()]).toEqual([128 << 20, true]);
});

test('a message that comes byte by byte is counted with what its pieces take', () => {
  const frames = new Frames(1_000_000);
  frames.add(Buffer.from([0x30, 0xa0, 0x8d, 0x06]));
  expect(frames.next()).toBeNull();
  for (let count = 0; count < 1_000; count += 1) frames.add(Buffer.alloc(1));
  expect([frames.waiting, frames.held > 100_000]).toEqual([1_004, true]);
});
