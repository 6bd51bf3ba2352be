import mqtt, { type Packet } from 'mqtt';
import { afterEach, expect, test, vi } from 'vitest';
import type { Access } from '../../src/domain/access/access.ts';
import { AppError } from '../../src/errors.ts';
import { createLog } from '../../src/log.ts';
import { MqttServer } from '../../src/mqtt/mqtt-server.ts';
import type { TopicMessage, TopicOutcome } from '../../src/mqtt/topic-message.ts';

const STORED: TopicOutcome = { reason: 0, code: null, stored: 1, rejected: 0, answer: '{"stored":1,"rejected":[]}' };
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** A door whose receiver is the test, and a client of it. */
async function open(receive: (message: TopicMessage) => Promise<TopicOutcome>) {
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
    bodies: { hold: () => {}, release: () => {} },
    topics: { receive: (_, message) => receive(message), outcomeTopicOf: () => null, maySubscribe: async () => false },
    cluster: { onChanged: () => {} },
    onConnection: () => {},
    onReceived: () => {},
    now: Date.now,
    log: createLog('silent'),
  });
  const { port } = await server.start();
  ends.push(() => server.stop());
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
  await vi.waitFor(() => expect(waiting).toHaveLength(32));
  // The last ones first: their acknowledgements wait for those before.
  for (const done of waiting.splice(1).toReversed()) done();
  expect(acknowledged).toEqual([]);
  let isDone = false;
  void Promise.all(all).then(() => (isDone = true));
  await vi.waitFor(() => {
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
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
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
