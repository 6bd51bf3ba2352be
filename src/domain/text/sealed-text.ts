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
import { lruCache } from '../../scheduling/lru-cache.ts';

const MAC_BYTES = 16;
/** Maximum characters of a sealed text: a commit position names the transactions in progress, twice. */
const MAX_TEXT = 16_384;
const CIPHER = 'aes-256-ctr';

/** Key objects: sealing with plain bytes is six times slower. */
interface Keys {
  mac: KeyObject;
  text: KeyObject;
}

/** Cache of sealed texts, bounded in characters: one answer may ask for the same text of an item many times. */
const MOST_SEALED = 1_048_576;
const sealed = lruCache<string, string>(MOST_SEALED, (text, content) => text.length + content.length);

/** Keys of this process, until those of the installation are read: a process alone needs no others. */
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
 * Opaque text: reveals nothing (cursors and ids hold keys that count rows of the whole installation), is equal for
 * equal content, and cannot be forged. The MAC is the initial vector, as in RFC 5297.
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

/** The sealed content; null for anything else. */
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
