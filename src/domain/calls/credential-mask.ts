import type { HeaderList } from '../decoders/header-names.ts';
import { isCredential, MASK } from './masked-headers.ts';

/** Shorter ones stand in too many other words. */
const SHORTEST = 8;
/** The longest of them: each is looked for in everything that a run left. */
const MOST = 16;
const BEHIND_SCHEME = /^\s*[\w-]{1,32}\s+(.*\S)\s*$/;
const CUT = '…';

/** A credential, and by what it is looked for: its beginning, since what was printed may have been cut behind that. */
interface Secret {
  text: string;
  beginning: string;
}

/**
 * For what the call log keeps of a run: the decoder saw the credentials that the log masks among the headers, and what
 * it printed, threw or returned of them is masked as well (CONTRACT 4). What it has changed first is not recognised.
 * null: there are none.
 */
export function credentialMask(headers: HeaderList): ((text: string) => string) | null {
  const secrets = secretsOf(headers);
  return secrets.length === 0 ? null : (text) => maskedText(text, secrets);
}

function secretsOf(headers: HeaderList): Secret[] {
  const found = new Set<string>();
  for (const [name, value] of headers) {
    if (!isCredential(name)) continue;
    found.add(value.trim());
    const behind = BEHIND_SCHEME.exec(value)?.[1];
    if (behind !== undefined) found.add(behind);
    if (name.endsWith('Cookie'))
      for (const cookie of value.split(';')) found.add(cookie.slice(cookie.indexOf('=') + 1).trim());
  }
  // And as they stand in printed JSON.
  return [...new Set([...found].flatMap((text) => [text, escaped(text)]))]
    .filter((text) => text.length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .slice(0, MOST)
    .map((text) => ({ text, beginning: text.slice(0, SHORTEST) }));
}

function maskedText(text: string, secrets: readonly Secret[]): string {
  let masked = text;
  for (const secret of secrets)
    if (masked.includes(secret.beginning)) masked = withoutCutEnd(masked.replaceAll(secret.text, MASK), secret);
  return masked;
}

/** The text may end within the secret. */
function withoutCutEnd(text: string, { text: secret, beginning }: Secret): string {
  const end = text.endsWith(CUT) ? text.length - CUT.length : text.length;
  const at = text.indexOf(beginning, Math.max(0, end - secret.length));
  if (at < 0 || !secret.startsWith(text.slice(at, end))) return text;
  return text.slice(0, at) + MASK + text.slice(end);
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
