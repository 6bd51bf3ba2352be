import { hash } from 'node:crypto';
import type { NetworkEvent } from './network-event.ts';

/** Hexadecimal digits kept of a SHA-256: 16 bytes never collide in practice. */
const DIGEST_LENGTH = 32;

/**
 * Digest that copies of one LoRaWAN frame share, and no other frames within minutes: of device (as that network writes
 * it), session, counter, port and payload, or the network's decoding of it. null: no uplink, or no counter.
 */
export function frameDigest({ deviceIdentifier, uplink }: NetworkEvent): string | null {
  if (uplink === null || uplink.frame === null || deviceIdentifier === null || uplink.content.kind !== 'lorawan')
    return null;
  const { frame, decoded, normalized, content } = uplink;
  const { counter, session } = frame;
  const parts = [deviceIdentifier, session, counter, normalized.port, content.bytes.toString('base64')];
  return hash('sha256', JSON.stringify([...parts, decoded])).slice(0, DIGEST_LENGTH);
}
