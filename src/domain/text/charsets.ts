import { isUtf8 } from 'node:buffer';

const CHARSET = /;\s*charset\s*=\s*["']?([^\s"';,]+)/i;

/**
 * Replaces bytes that are no character of their charset with half of a surrogate pair: text that holds it is not
 * stored.
 */
const NO_CHARACTER = '\udc00';

/** Added to a byte that is not UTF-8: gives half of a surrogate pair, which stored text may not hold. */
export const REFUSED_BYTES = 0xdc00;

/** Added to a byte that is not UTF-8: gives the character with its number. */
export const BYTES_AS_CHARACTERS = 0;

/** The charset that a content type declares, in lower case; null: none. ASCII is UTF-8. */
export function charsetOf(contentType: string | undefined): string | null {
  const charset = contentType === undefined ? undefined : CHARSET.exec(contentType)?.[1]?.toLowerCase();
  if (charset === undefined) return null;
  return charset === 'us-ascii' || charset === 'ascii' ? 'utf-8' : charset;
}

/** Reads text in a charset of the Encoding Standard. */
export interface CharsetDecoder {
  /** The canonical name. */
  encoding: string;
  decode(bytes?: Uint8Array, options?: { stream: boolean }): string;
}

/** Reads text in that charset, in pieces if wanted; null: unknown charset. Bytes it cannot read become NO_CHARACTER. */
export function decoderOf(charset: string): CharsetDecoder | null {
  const decoder = textDecoder(charset) ?? textDecoder(labelOf(charset));
  if (decoder === null) return null;
  const { encoding } = decoder;
  return {
    encoding,
    decode: (bytes, options) => decoder.decode(bytes, options).replaceAll('\ufffd', NO_CHARACTER),
  };
}

function textDecoder(label: string): InstanceType<typeof TextDecoder> | null {
  try {
    return new TextDecoder(label);
  } catch {
    return null;
  }
}

/** The spelling of the Encoding Standard, for common others: `latin-1`, `utf16`, `iso8859_1`, `windows1252`. */
function labelOf(charset: string): string {
  const plain = charset.replace(/[^a-z0-9]/g, '');
  return plain.replace(/^(utf|windows)(?=\d)/, '$1-').replace(/^iso8859/, 'iso-8859-');
}

/** Bytes as UTF-8; each byte that is not UTF-8 becomes the UTF-16 unit `odd` + its number. */
export function utf8Text(bytes: Buffer, odd: number): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  const units = new Uint16Array(bytes.length);
  let count = 0;
  for (let at = 0; at < bytes.length; count += 1) {
    const code = characterAt(bytes, at);
    if (code < 0) units[count] = odd + bytes[at]!;
    else if (code < 0x10000) units[count] = code;
    else {
      units[count] = 0xd7c0 + (code >> 10);
      count += 1;
      units[count] = 0xdc00 + (code & 0x3ff);
    }
    at += code < 0 ? 1 : bytesOf(code);
  }
  return Buffer.from(units.buffer, 0, count * 2).toString('utf16le');
}

/** UTF-8 in pieces that may end within a character; bytes that are not UTF-8 become half of a surrogate pair. */
export class Utf8Pieces {
  #rest: Buffer = Buffer.alloc(0);

  read(piece: Buffer): string {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = bytes.length - unfinishedIn(bytes);
    this.#rest = Buffer.from(bytes.subarray(end));
    return utf8Text(bytes.subarray(0, end), REFUSED_BYTES);
  }

  /** Text of an incomplete last character. */
  end(): string {
    return utf8Text(this.#rest, REFUSED_BYTES);
  }
}

/** Number of bytes at the end that begin an incomplete UTF-8 character. */
function unfinishedIn(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < 1 + followersOf(byte) ? back : 0;
  }
  return 0;
}

/** Number of bytes that follow the first of a character; 0 when that byte begins none. */
function followersOf(first: number): number {
  if (first < 0xc2 || first > 0xf4) return 0;
  return first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

/** Number of bytes of a code point in UTF-8. */
export function bytesOf(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/** The code point whose UTF-8 begins there; -1: none does. */
export function characterAt(bytes: ArrayLike<number>, at: number): number {
  const first = bytes[at]!;
  if (first < 0x80) return first;
  const followers = followersOf(first);
  if (followers === 0 || at + followers >= bytes.length) return -1;
  let code = first & (0x3f >> followers);
  for (let next = at + 1; next <= at + followers; next += 1) {
    const byte = bytes[next]!;
    if ((byte & 0xc0) !== 0x80) return -1;
    code = (code << 6) | (byte & 0x3f);
  }
  const least = followers === 1 ? 0x80 : followers === 2 ? 0x800 : 0x10000;
  return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? -1 : code;
}
