import { isUtf8 } from 'node:buffer';
import { must } from '../../must.ts';
import { type CharsetDecoder, charsetOf, decoderOf, REFUSED_BYTES, utf8Text } from './charsets.ts';

/** Bytes of charsets that are not UTF-8 but may look like it: UTF-16 and ISO-2022. */
const OF_OTHERS = [0x00, 0x1b];

/**
 * Body bytes as text: valid UTF-8 as such, whatever is declared, as many senders declare another charset than they
 * send; else in the charset that the content type declares. A byte order mark of UTF-8 or UTF-16 is obeyed and dropped.
 * A sequence that is no character becomes half of a surrogate pair, so that no value with it is stored.
 */
export function bodyText(body: Buffer, contentType: string | undefined): string {
  const [a, b, c] = body;
  if (a === 0xef && b === 0xbb && c === 0xbf) return utf8Text(body.subarray(3), REFUSED_BYTES);
  if (a === 0xff && b === 0xfe) return must(decoderOf('utf-16le')).decode(body);
  if (a === 0xfe && b === 0xff) return must(decoderOf('utf-16be')).decode(body);
  const isUtf8Text = isUtf8(body) && !OF_OTHERS.some((byte) => body.includes(byte));
  if (isUtf8Text) return body.toString('utf8');
  return declaredDecoder(contentType)?.decode(body) ?? utf8Text(body, REFUSED_BYTES);
}

/** A reader of text in the declared charset; null: none declared, UTF-8, or unknown. */
export function declaredDecoder(contentType: string | undefined): CharsetDecoder | null {
  const charset = charsetOf(contentType);
  const decoder = charset === null || charset === 'utf-8' || charset === 'utf8' ? null : decoderOf(charset);
  return decoder?.encoding === 'utf-8' ? null : decoder;
}
