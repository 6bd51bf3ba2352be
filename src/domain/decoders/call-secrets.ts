import type { HeaderList } from './header-names.ts';
import { isCredential, MASK } from './masked-headers.ts';

/** Shorter ones stand in too many other words. */
const SHORTEST = 8;
/** The longest of them: each is looked for in everything that a run left. */
const MOST = 16;
/** With the blank behind it. */
const SCHEME = /^[\w-]{1,32}\s/;
/** What stands behind a text that was cut, also within a message or JSON. */
const BEHIND_CUT = new Set(['', '…', '"', '\\', ';', ',', '.']);

/** Behind `WEBHOOK_ROOT`. */
const CALLED = /\/integrations\/api\/([\w-]+)/g;

/** Masks the secrets that stand in a text. */
export type TextMask = (text: string) => string;

/**
 * The credentials among the headers, as a decoder that saw them may print, throw or return them (CONTRACT 4): with and
 * without a scheme, each cookie by itself; the 16 longest.
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
  // And as they stand in printed JSON.
  return longest([...found].flatMap((text) => [text, escaped(text), escaped(escaped(text))])).slice(0, MOST);
}

/** The webhook ids that stand in a text as in the path of a call, of whichever product; the 16 longest. */
export function webhookIdsIn(text: string): string[] {
  return longest([...text.matchAll(CALLED)].map(([, id]) => id!)).slice(0, MOST);
}

/**
 * Masks the secrets wherever they stand, and 8 or more characters of one's beginning where the text was cut: there, or in
 * a message made of it. What a decoder has changed first is not recognised. null: there is nothing to look for.
 */
export function secretMask(secrets: readonly string[]): TextMask | null {
  const groups = [...Map.groupBy(longest(secrets), (secret) => secret.slice(0, SHORTEST))];
  if (groups.length === 0) return null;
  return (text) => {
    let masked = text;
    let isFound = false;
    // All whole ones first: a beginning of one may be followed by what another one goes on with.
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

/** Without the beginnings of these secrets, which begin alike, at which the text was cut. */
function withoutCut(text: string, beginning: string, secrets: readonly string[]): string {
  let kept = '';
  let from = 0;
  for (let at = text.indexOf(beginning); at !== -1;) {
    let end = at + SHORTEST;
    // The longest: as it stands in JSON it goes on where the plain one seems to be cut.
    for (const secret of secrets) end = Math.max(end, endOfPart(text, at, secret));
    const isCut = BEHIND_CUT.has(text.charAt(end));
    if (isCut) {
      kept += text.slice(from, at) + MASK;
      from = end;
    }
    // Not one by one: a text of one character would take its square.
    at = text.indexOf(beginning, isCut ? end : end - SHORTEST + 1);
  }
  return from === 0 ? text : kept + text.slice(from);
}

/** Where what stands there is no more the secret's. */
function endOfPart(text: string, at: number, secret: string): number {
  let length = SHORTEST;
  while (length < secret.length && text[at + length] === secret[length]) length += 1;
  return at + length;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
