import { isUtf8 } from 'node:buffer';
import { BrokenPacket, type Frame, REASONS } from './frames.ts';

/** A PUBLISH as it came: `topic` is empty where `alias` (0: none) stands for it. */
export interface PublishPacket {
  topic: string;
  alias: number;
  qos: 0 | 1 | 2;
  /** Whether its client says that it has sent it before (DUP). */
  isAgain: boolean;
  /** 0: none, with QoS 0. */
  id: number;
  payload: Buffer;
  /** Whether it is too large, and its payload is not here. */
  isCut: boolean;
}

/** Lengths of properties by identifier (MQTT 5, 2.2.2.2): a number of bytes, or as their own length says. */
const PROPERTIES: ReadonlyMap<number, number | 'text' | 'pair' | 'number'> = new Map<
  number,
  number | 'text' | 'pair' | 'number'
>([
  [0x01, 1],
  [0x02, 4],
  [0x03, 'text'],
  [0x08, 'text'],
  [0x09, 'text'],
  [0x0b, 'number'],
  [0x23, 2],
  [0x26, 'pair'],
]);
const TOPIC_ALIAS = 0x23;
const NO_TOPIC = 'A topic is a text without wildcards and NUL.';
const NOTHING = Buffer.alloc(0);
const CUT = 'A PUBLISH is shorter than it says.';

/** Reads a PUBLISH: nearly every packet is one, so that it takes no way round. Throws BrokenPacket. */
export function readPublish({ flags, bytes, at, isCut }: Frame, isVersion5: boolean): PublishPacket {
  const qos = (flags >> 1) & 3;
  const isAgain = (flags & 8) !== 0;
  if (qos === 3) throw new BrokenPacket(REASONS.malformed, 'QoS is 0, 1 or 2.');
  const topicAt = at + 2;
  const topicEnd = topicAt + uint16(bytes, at);
  let next = qos === 0 ? topicEnd : topicEnd + 2;
  if (next > bytes.length) throw new BrokenPacket(REASONS.malformed, CUT);
  const topic = bytes.toString('utf8', topicAt, topicEnd);
  if (/[+#\0\ufffd]/.test(topic) && (/[+#\0]/.test(topic) || !isUtf8(bytes.subarray(topicAt, topicEnd))))
    throw new BrokenPacket(REASONS.malformed, NO_TOPIC);
  const id = qos === 0 ? 0 : uint16(bytes, topicEnd);
  if (qos > 0 && id === 0) throw new BrokenPacket(REASONS.protocolError, 'A packet id is not 0.');
  if (isCut) return { topic, alias: 0, qos: qos as 0 | 1 | 2, isAgain, id, payload: NOTHING, isCut };
  let alias = 0;
  if (isVersion5) [alias, next] = readProperties(bytes, next);
  if (topic === '' && alias === 0) throw new BrokenPacket(REASONS.protocolError, NO_TOPIC);
  return { topic, alias, qos: qos as 0 | 1 | 2, isAgain, id, payload: bytes.subarray(next), isCut };
}

/** The topic alias among properties (0: none), and where they end. */
function readProperties(bytes: Buffer, from: number): [number, number] {
  const [length, begin] = varint(bytes, from);
  const end = begin + length;
  if (end > bytes.length) throw new BrokenPacket(REASONS.malformed, CUT);
  let alias = 0;
  for (let at = begin; at < end;) {
    const id = bytes[at] ?? 0;
    const size = PROPERTIES.get(id);
    at += 1;
    if (id === TOPIC_ALIAS) {
      alias = uint16(bytes, at);
      if (alias === 0) throw new BrokenPacket(REASONS.aliasInvalid, 'A topic alias is not 0.');
    }
    if (size === undefined) throw new BrokenPacket(REASONS.malformed, 'A PUBLISH has no such property.');
    if (typeof size === 'number') at += size;
    else if (size === 'number') [, at] = varint(bytes, at);
    else for (let texts = size === 'pair' ? 2 : 1; texts > 0; texts -= 1) at += 2 + uint16(bytes, at);
    if (at > end) throw new BrokenPacket(REASONS.malformed, CUT);
  }
  return [alias, end];
}

function uint16(bytes: Buffer, at: number): number {
  if (at + 2 > bytes.length) throw new BrokenPacket(REASONS.malformed, CUT);
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

function varint(bytes: Buffer, from: number): [number, number] {
  let [value, factor] = [0, 1];
  for (let at = from; at < bytes.length && at < from + 4; at += 1) {
    const byte = bytes[at] ?? 0;
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at + 1];
    factor *= 128;
  }
  throw new BrokenPacket(REASONS.malformed, CUT);
}
