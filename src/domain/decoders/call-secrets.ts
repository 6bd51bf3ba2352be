import type { HeaderList } from './header-names.ts';
import { isCredential, MASK } from './masked-headers.ts';
import { must } from '../../must.ts';

/** Minimum characters of a secret to mask: shorter ones occur within other words. */
const SHORTEST = 8;
/** Maximum secrets, the longest ones: each is searched in everything a run produced. */
const MOST = 16;
/** An authentication scheme with the blank behind it. */
const SCHEME = /^[\w-]{1,32}\s/;
/** Characters that follow a text where it was cut, also within a message or JSON. */
const BEHIND_CUT = new Set(['', '…', '"', '\\', ';', ',', '.']);

/** The webhook id in a path behind `WEBHOOK_ROOT`, or in a topic behind `WEBHOOK_TOPIC`. */
const CALLED = /\/integrations\/api\/([\w-]+)|\bwebhook\/([\w-]{16,64})/g;

/** Masks the secrets in a text. */
export type TextMask = (text: string) => string;

/**
 * The credentials among the headers in the forms in which a decoder may print, throw or return them (CONTRACT 4): with
 * and without a scheme, each cookie by itself; the 16 longest.
 */
export function credentialsIn(headers: HeaderList): string[] {
  const found = new Set<string>();
  for (const [name, value] of headers) {
    if (!isCredential(name)) continue;
    const credential = value.trim();
    found.add(credential);
    const scheme = SCHEME.exec(credential)?.[0];
    if (scheme !== undefined) found.add(credential.slice(scheme.length).trim());
    if (name.endsWith('Cookie'))
      for (const cookie of value.split(';')) found.add(cookie.slice(cookie.indexOf('=') + 1).trim());
  }
  // Add the escaped forms within printed JSON.
  return longest([...found].flatMap((text) => [text, escaped(text), escaped(escaped(text))])).slice(0, MOST);
}

/** The webhook ids in a text's paths of calls, of any product; the 16 longest. */
export function webhookIdsIn(text: string): string[] {
  return longest([...text.matchAll(CALLED)].map(([, called, topic]) => must(called ?? topic))).slice(0, MOST);
}

/**
 * Masks the secrets anywhere in a text, also a beginning of 8 or more characters where the text, or a message made of
 * it, was cut. Does not recognise what a decoder changed first. null: there are no secrets.
 */
export function secretMask(secrets: readonly string[]): TextMask | null {
  const groups = [...Map.groupBy(longest(secrets), (secret) => secret.slice(0, SHORTEST))];
  if (groups.length === 0) return null;
  return (text) => {
    let masked = text;
    let isFound = false;
    // Mask all whole secrets first: the beginning of one may be followed by another.
    for (const [beginning, alike] of groups) {
      if (!text.includes(beginning)) continue;
      isFound = true;
      for (const secret of alike) masked = masked.replaceAll(secret, MASK);
    }
    if (isFound) for (const [beginning, alike] of groups) masked = withoutCut(masked, beginning, alike);
    return masked;
  };
}

function longest(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text.length >= SHORTEST).sort((a, b) => b.length - a.length);
}

/** Masks the beginnings of secrets at which the text was cut; these secrets begin alike. */
function withoutCut(text: string, beginning: string, secrets: readonly string[]): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(beginning); at !== -1;) {
    let end = at + SHORTEST;
    // Take the longest match: the escaped form continues where the plain one seems to be cut.
    for (const secret of secrets) end = Math.max(end, endOfPart(text, at, secret));
    const isCut = BEHIND_CUT.has(text.charAt(end));
    if (isCut) {
      kept += text.slice(from, at) + MASK;
      from = end;
    }
    // Skip ahead: advancing one by one takes quadratic time in a text of one repeated character.
    at = text.indexOf(beginning, isCut ? end : end - SHORTEST + 1);
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** Index at which the text stops matching the secret. */
function endOfPart(text: string, at: number, secret: string): number {
  let length = SHORTEST;
  while (length < secret.length && text[at + length] === secret[length]) length += 1;
  return at + length;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
