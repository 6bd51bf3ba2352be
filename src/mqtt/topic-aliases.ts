import { BrokenPacket, REASONS } from './frames.ts';
import type { PublishPacket } from './publish-packet.ts';
import { MAX_TOPIC } from './topic-meaning.ts';

/** Maximum topic aliases per connection. */
export const MAX_ALIASES = 16;
/** Stands for every topic that is too long, and refused: nobody's memory holds those. */
const TOO_LONG = '-'.repeat(MAX_TOPIC + 1);

/** Numbers that stand for topics on a connection of MQTT 5. */
export class TopicAliases {
  #topics: Map<number, string> | null = null;

  /** Fills in the topic that an alias stands for, or keeps it from now on. Throws BrokenPacket. */
  resolve(packet: PublishPacket): void {
    const { alias } = packet;
    if (alias === 0) return;
    if (alias > MAX_ALIASES) throw new BrokenPacket(REASONS.aliasInvalid, `A topic alias is ${MAX_ALIASES} at most.`);
    if (packet.topic !== '') {
      this.#topics ??= new Map();
      this.#topics.set(alias, packet.topic.length > MAX_TOPIC ? TOO_LONG : packet.topic);
      return;
    }
    const topic = this.#topics?.get(alias);
    if (topic === undefined) throw new BrokenPacket(REASONS.protocolError, 'This topic alias has no topic.');
    packet.topic = topic;
  }
}
