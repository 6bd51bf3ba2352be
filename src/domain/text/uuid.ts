import { randomFillSync } from 'node:crypto';
import { must } from '../../must.ts';

const ID_BYTES = 10;
/** Pool of random bytes: asking the system for each id would cost more than the rest. No byte is used twice. */
const pool = Buffer.allocUnsafeSlow(ID_BYTES * 400);
let used = pool.length;
let lastMs = -1;
let counter = 0;

/**
 * A UUIDv7 (RFC 9562): 48 bits of the time in milliseconds, a 32-bit counter that starts at random in each
 * millisecond, 42 random bits. Ids made by this process for the same or a later time sort after the earlier ones.
 */
export function uuidV7(ms: number = Date.now()): string {
  const random = randomId();
  if (ms === lastMs) counter += 1;
  // Leave half of the range for counting up.
  else counter = random.readUInt32BE(0) >>> 1;
  lastMs = ms;
  const hex =
    ms.toString(16).padStart(12, '0') +
    (0x7000 | (counter >>> 20)).toString(16) +
    (0x8000 | ((counter >>> 6) & 0x3fff)).toString(16) +
    (((counter & 0x3f) << 2) | (must(random[4]) & 3)).toString(16).padStart(2, '0') +
    random.toString('hex', 5);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The same id, but of that time in ms. */
export function uuidAt(ms: number, id: string): string {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}${id.slice(13)}`;
}

function randomId(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += ID_BYTES;
  return pool.subarray(used - ID_BYTES, used);
}

/** Also true in upper case: ids are compared without regard to case. */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}
