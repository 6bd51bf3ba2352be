import { randomBytes } from 'node:crypto';

let lastMs = -1;
let counter = 0;

/**
 * A UUIDv7 (RFC 9562): 48 bits of the time in milliseconds, a 32-bit counter that starts at random in each
 * millisecond, 42 random bits. Ids made by this process for the same or a later time sort after the earlier ones.
 */
export function uuidV7(ms: number = Date.now()): string {
  const random = randomBytes(10);
  if (ms === lastMs) counter += 1;
  // Half of the range is left for counting up.
  else counter = random.readUInt32BE(0) >>> 1;
  lastMs = ms;
  const hex =
    ms.toString(16).padStart(12, '0') +
    (0x7000 | (counter >>> 20)).toString(16) +
    (0x8000 | ((counter >>> 6) & 0x3fff)).toString(16) +
    (((counter & 0x3f) << 2) | (random[4]! & 3)).toString(16).padStart(2, '0') +
    random.toString('hex', 5);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
