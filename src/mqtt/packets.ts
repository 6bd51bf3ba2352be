import { generate, type Packet, parser } from 'mqtt-packet';
import { BrokenPacket, type Frame, REASONS, TYPES } from './frames.ts';
import type { TopicOutcome } from './topic-message.ts';

/** What an acknowledgement tells of an outcome. */
export type Told = Pick<TopicOutcome, 'code' | 'rejected'> & { reason: number };

/** 3.1 has level 3, 3.1.1 level 4. */
export type Version = 3 | 4 | 5;

/** Maximum characters of a reason that is told. */
const MAX_REASON = 1_000;

/** Reads a packet that is no PUBLISH, acknowledgement or ping. Throws BrokenPacket. */
export function readPacket({ bytes }: Frame, protocolVersion: Version): Packet {
  let [packet, failure]: [Packet | null, unknown] = [null, null];
  // A new one each time: it keeps what a packet before has left over, and the version of the last CONNECT.
  const reader = parser({ protocolVersion });
  reader.on('packet', (read) => (packet ??= read));
  reader.on('error', (error: unknown) => (failure ??= error));
  try {
    reader.parse(bytes);
  } catch (error) {
    failure = error;
  }
  if (failure !== null || packet === null)
    throw new BrokenPacket(REASONS.malformed, failure instanceof Error ? failure.message : 'A packet is broken.');
  return packet;
}

/** Bytes of a packet. */
export function writePacket(packet: Packet, protocolVersion: Version): Buffer {
  return generate(packet, { protocolVersion });
}

/** Bytes of a PUBACK, PUBREC or PUBCOMP (`type`, as in `frames.ts`) with what MQTT 5 tells of an outcome. */
export function acknowledgement(type: number, id: number, told: Told | null): Buffer {
  if (told === null || (told.reason === 0 && told.rejected === 0)) return short(type, id);
  const { reason, code, rejected } = told;
  const properties = {
    ...(code === null ? {} : { reasonString: code.slice(0, MAX_REASON) }),
    ...(rejected === 0 ? {} : { userProperties: { rejected: String(rejected) } }),
  };
  const cmd = type === TYPES.puback ? 'puback' : type === TYPES.pubrec ? 'pubrec' : 'pubcomp';
  return writePacket({ cmd, messageId: id, reasonCode: reason, properties }, 5);
}

/** An acknowledgement that tells of no properties, which MQTT 5 knows without a refusal (0x00). */
export function shortAcknowledgement(type: number, id: number, reason: number): Buffer {
  return reason === 0 ? short(type, id) : Buffer.from([type << 4, 3, id >> 8, id & 255, reason]);
}

function short(type: number, id: number): Buffer {
  const bytes = Buffer.allocUnsafe(4);
  bytes[0] = type << 4;
  bytes[1] = 2;
  bytes[2] = id >> 8;
  bytes[3] = id & 255;
  return bytes;
}
