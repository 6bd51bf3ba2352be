import { isUtf8 } from 'node:buffer';
import { declaredDecoder } from '../text/body-text.ts';
import { BYTES_AS_CHARACTERS, charsetOf, decoderOf, utf8Text } from '../text/charsets.ts';
import { must } from '../../must.ts';

const TEXT = /^(?:\s*text\/|[^;]*(?:json|xml|javascript|x-www-form-urlencoded|csv|yaml))/i;

/**
 * A body as the text that decoders see (CONTRACT 5): in the charset that its content type declares, else UTF-8. A byte
 * order mark is obeyed and dropped. A byte that is not UTF-8 becomes the character with its number (128 to 255) where the
 * content type says that it is text; in any other body that is not UTF-8 each byte does, so that `charCodeAt` reads
 * binary payloads.
 */
export function requestBodyText(body: Buffer, contentType: string | undefined): string {
  if (body.length === 0) return '';
  if (body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf) return utf8Text(body.subarray(3), BYTES_AS_CHARACTERS);
  const charset = charsetOf(contentType);
  const isText = charset !== null || (contentType !== undefined && TEXT.test(contentType));
  if (isText && body[0] === 0xff && body[1] === 0xfe) return must(decoderOf('utf-16le')).decode(body);
  if (isText && body[0] === 0xfe && body[1] === 0xff) return must(decoderOf('utf-16be')).decode(body);
  const declared = declaredDecoder(contentType);
  if (declared !== null) return declared.decode(body);
  return isText || isUtf8(body) ? utf8Text(body, BYTES_AS_CHARACTERS) : body.toString('latin1');
}
