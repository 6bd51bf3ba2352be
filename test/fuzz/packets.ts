import { connect } from 'node:net';
import { generate, type Packet } from 'mqtt-packet';
import type { Chance } from './chance.ts';

interface Aim {
  port: number;
  token: string;
  device: string;
  webhookId: string;
}

/** How long a connection stays that the server does not end. */
const OPEN_MS = 150;
const PING = Buffer.from([0xc0, 0]);
const FIELDS = ['temperature', 'count', 'open', 'note', 'place'];
/** Properties of MQTT 5 by the names of the codec. */
const PROPERTIES: readonly ((chance: Chance) => Record<string, unknown>)[] = [
  (chance) => ({ topicAlias: chance.int(20) }),
  (chance) => ({ messageExpiryInterval: chance.int(2 ** 31) }),
  (chance) => ({ responseTopic: chance.text(), correlationData: Buffer.from(chance.text()) }),
  (chance) => ({ userProperties: { [chance.text()]: chance.text() } }),
  () => ({}),
];

/** A connection of MQTT that sends packets by chance, most of them whole, and then waits for the answer of a ping. */
export function packets(
  chance: Chance,
  aim: Aim,
): { text: string; count: number; send: (limit: AbortSignal) => Promise<string> } {
  const version = chance.pick([3, 4, 4, 5, 5, 5] as const);
  const all = Array.from({ length: 1 + chance.int(30) }, () =>
    bytesOf(chance, anyPacket(chance, aim, version), version),
  );
  const whole = Buffer.concat([bytesOf(chance, connectPacket(chance, aim, version), version), ...all]);
  const sent = chance.of(0.3) ? Buffer.from(chance.mutated(whole.toString('latin1')), 'latin1') : whole;
  // It comes in pieces of any size.
  const cut = chance.int(sent.length + 1);
  const isCut = chance.of(0.1);
  const send = (limit: AbortSignal): Promise<string> =>
    sendPieces(aim.port, [sent.subarray(0, cut), sent.subarray(cut)], isCut, limit);
  return { text: `MQTT ${version} ${sent.toString('base64')}`, count: 1 + all.length, send };
}

function connectPacket(chance: Chance, { token }: Aim, protocolVersion: 3 | 4 | 5): Packet {
  const isNamed = chance.of(0.7);
  return {
    cmd: 'connect',
    protocolId: protocolVersion === 3 ? 'MQIsdp' : 'MQTT',
    protocolVersion,
    clean: isNamed ? chance.of(0.5) : true,
    clientId: isNamed ? `fuzz-${chance.int(40)}` : '',
    keepalive: chance.int(3),
    username: chance.of(0.5) ? token : 'x',
    password: Buffer.from(chance.of(0.9) ? token : chance.text()),
    ...(chance.of(0.1)
      ? { will: { topic: 'v1/x/record', payload: Buffer.from(chance.text()), qos: 1, retain: chance.of(0.5) } }
      : {}),
  };
}

function anyPacket(chance: Chance, aim: Aim, version: number): Packet {
  const messageId = 1 + chance.int(chance.of(0.7) ? 5 : 65_535);
  const qos = chance.pick([0, 1, 1, 2] as const);
  const properties = version === 5 && chance.of(0.3) ? { properties: chance.pick(PROPERTIES)(chance) } : {};
  const topic = topicOf(chance, aim);
  switch (chance.int(14)) {
    case 0:
      return {
        cmd: 'subscribe',
        messageId,
        subscriptions: [
          { topic, qos },
          { topic: `v1/${aim.device}/outcome`, qos },
        ],
      };
    case 1:
      return { cmd: 'unsubscribe', messageId, unsubscriptions: [topic] };
    case 2:
      return { cmd: 'pingreq' };
    case 3:
      return chance.pick<Packet>([{ cmd: 'disconnect' }, { cmd: 'pingresp' }, { cmd: 'suback', messageId, granted: [0] }, connectPacket(chance, aim, 5)]); // oxfmt-ignore
    case 4:
    case 5:
      return { cmd: 'pubrel', messageId };
    case 6:
      return { cmd: chance.pick(['puback', 'pubrec', 'pubcomp']), messageId };
    default:
      return { cmd: 'publish', topic, messageId, qos, dup: qos > 0 && chance.of(0.2), retain: chance.of(0.1), payload: payloadOf(chance), ...properties }; // oxfmt-ignore
  }
}

function topicOf(chance: Chance, { device, webhookId }: Aim): string {
  const name = chance.of(0.8) ? device : chance.text();
  return chance.pick([
    `v1/${name}/record`, `v1/${name}/record`, `v1/${name}/${chance.pick(FIELDS)}`, `webhook/${webhookId}/${chance.text()}`, chance.text(),
    'v1/devices/me/telemetry', 'v1/gateway/telemetry', `dtck-pub/x/${name}/temperature`, 'v1/+/#', `v1/${'a/'.repeat(chance.int(60))}record`,
  ]); // oxfmt-ignore
}

function payloadOf(chance: Chance): Buffer {
  const entry = { field: chance.pick(FIELDS), value: chance.json(1), timestamp: chance.number() };
  return Buffer.from(chance.of(0.6) ? chance.jsonText([entry]) : chance.of(0.5) ? chance.text() : chance.jsonText());
}

/** What the codec refuses to write is written as bytes by chance. */
function bytesOf(chance: Chance, packet: Packet, protocolVersion: 3 | 4 | 5): Buffer {
  try {
    return generate(packet, { protocolVersion });
  } catch {
    return Buffer.from(Array.from({ length: 2 + chance.int(30) }, () => chance.int(256)));
  }
}

function sendPieces(port: number, pieces: readonly Buffer[], isCut: boolean, limit: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.setNoDelay(true);
      for (const piece of pieces) socket.write(piece);
      if (isCut) socket.destroy();
      else socket.write(PING);
    });
    const end = (): void => void socket.destroy();
    const timer = setTimeout(end, OPEN_MS);
    limit.addEventListener('abort', end, { once: true });
    socket.on('data', (bytes) => {
      // It has read all of them.
      if (bytes.at(-2) === 0xd0 && bytes.at(-1) === 0) end();
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      limit.removeEventListener('abort', end);
      resolve('');
    });
  });
}
