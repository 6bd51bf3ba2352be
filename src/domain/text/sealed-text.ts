import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { LruMap } from '../../scheduling/lru-map.ts';

const MAC_BYTES = 16;
/** Of a sealed text, in characters: a place in the order of commits names the transactions in progress, twice. */
const MAX_TEXT = 16_384;
const CIPHER = 'aes-256-ctr';

/** As key objects: with plain bytes a seal takes 38 µs instead of 6. */
interface Keys {
  mac: KeyObject;
  text: KeyObject;
}

/** What was sealed lately: of each of 500 items the same may be asked 190 times, which took 0.8 s in one piece. In characters. */
const MOST_SEALED = 1_048_576;
const sealed = new LruMap<string, string>({
  most: MOST_SEALED,
  sizeOf: (text, content) => text.length + content.length,
});

/** Until the installation's own is read: a process alone needs no other. */
let keys = derive(randomBytes(32).toString('hex'));

function derive(secret: string): Keys {
  const both = Buffer.from(hkdfSync('sha256', secret, '', 'inlet sealed text', 64));
  return { mac: createSecretKey(both.subarray(0, 32)), text: createSecretKey(both.subarray(32)) };
}

/** Call at the start: the nodes of one installation share the secret, so that each reads what another sealed. */
export function sealWith(secret: string): void {
  keys = derive(secret);
  sealed.clear();
}

/**
 * Opaque text: it tells its reader nothing (cursors and ids hold keys that count what the whole installation has), the
 * same for the same content, and nobody else can make one. The MAC is the initial vector, as in RFC 5297.
 */
export function seal(content: string): string {
  let text = sealed.get(content);
  if (text === undefined) sealed.set(content, (text = sealedAnew(content)));
  return text;
}

function sealedAnew(content: string): string {
  const mac = createHmac('sha256', keys.mac).update(content).digest().subarray(0, MAC_BYTES);
  const cipher = createCipheriv(CIPHER, keys.text, mac);
  return Buffer.concat([mac, cipher.update(content, 'utf8'), cipher.final()]).toString('base64url');
}

/** What was sealed; null for anything else. */
export function unseal(text: string): string | null {
  if (text.length > MAX_TEXT || !/^[\w-]{22,}$/.test(text)) return null;
  const bytes = Buffer.from(text, 'base64url');
  const mac = bytes.subarray(0, MAC_BYTES);
  if (mac.length < MAC_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, keys.text, mac);
  const content = Buffer.concat([decipher.update(bytes.subarray(MAC_BYTES)), decipher.final()]);
  const expected = createHmac('sha256', keys.mac).update(content).digest().subarray(0, MAC_BYTES);
  return timingSafeEqual(mac, expected) ? content.toString('utf8') : null;
}
