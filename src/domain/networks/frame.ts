import { hash } from 'node:crypto';
import type { NetworkEvent } from './network-event.ts';

/** Of SHA-256 in hexadecimal: 16 bytes are enough that no two frames are taken for one. */
const DIGEST_LENGTH = 32;

/**
 * What is the same of two copies of one LoRaWAN frame, and of no others within minutes: device (as that network writes it),
 * session, counter, port and payload, also as the network has decoded it. null: it is no uplink, or says no counter.
 */
export function frameDigest({ deviceIdentifier, uplink }: NetworkEvent): string | null {
  if (uplink === null || uplink.frame === null || deviceIdentifier === null || uplink.content.kind !== 'lorawan')
    return null;
  const { frame, decoded, normalized, content } = uplink;
  const { counter, session } = frame;
  const parts = [deviceIdentifier, session, counter, normalized.port, content.bytes.toString('base64')];
  return hash('sha256', JSON.stringify([...parts, decoded])).slice(0, DIGEST_LENGTH);
}
