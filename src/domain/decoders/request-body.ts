import { isUtf8 } from 'node:buffer';

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;
const TEXT = /^(?:\s*text\/|[^;]*(?:json|xml|javascript|x-www-form-urlencoded|csv|yaml))/i;
const UTF8 = new TextDecoder('utf-8');

/**
 * A body as the text that decoders see (CONTRACT 5): in the charset that its content type declares, else UTF-8. A byte
 * order mark is obeyed and dropped. Bytes that are no UTF-8 become U+FFFD where the content type says that it is text;
 * in any other body each byte becomes the character with its number (0 to 255), so that `charCodeAt` reads binary
 * payloads.
 */
export function requestBodyText(body: Buffer, contentType: string | undefined): string {
  if (body.length === 0) return '';
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return body.toString('utf8', 3);
  const charset = charsetOf(contentType);
  const isText = charset !== undefined || (contentType !== undefined && TEXT.test(contentType));
  if (isText && body[0] === 0xff && body[1] === 0xfe) return new TextDecoder('utf-16le').decode(body);
  if (isText && body[0] === 0xfe && body[1] === 0xff) return new TextDecoder('utf-16be').decode(body);
  if (charset !== undefined) return decoderFor(charset).decode(body);
  return isText || isUtf8(body) ? body.toString('utf8') : body.toString('latin1');
}

/** Reads text in the charset that a content type declares; null: it declares none, UTF-8, or one that nobody knows. */
export function declaredDecoder(contentType: string | undefined): typeof UTF8 | null {
  const charset = charsetOf(contentType);
  const decoder = charset === undefined ? UTF8 : decoderFor(charset);
  return decoder === UTF8 ? null : decoder;
}

function charsetOf(contentType: string | undefined): string | undefined {
  return contentType === undefined ? undefined : CHARSET.exec(contentType)?.[1]?.toLowerCase();
}

function decoderFor(charset: string): typeof UTF8 {
  if (charset === 'utf-8' || charset === 'utf8') return UTF8;
  try {
    return new TextDecoder(charset);
  } catch {
    return UTF8; // a charset that nobody knows
  }
}
