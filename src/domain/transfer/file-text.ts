import { type CharsetDecoder, charsetOf, decoderOf, Utf8Pieces } from '../text/charsets.ts';
import { AppError } from '../../errors.ts';
import { must } from '../../must.ts';

/** Length of the longest byte order mark. */
const MARK_BYTES = 3;

/**
 * Reads the bytes of a file as text, in pieces: by its byte order mark, else in the declared charset, else UTF-8 (or
 * UTF-16, when its first character is ASCII). Invalid bytes become half of a surrogate pair: no value with it is
 * stored.
 */
export class FileText {
  readonly #declared: CharsetDecoder | null;
  readonly #utf8 = new Utf8Pieces();
  /** First bytes, until the charset is known. */
  #begin: Buffer | null = Buffer.alloc(0);
  #decoder: CharsetDecoder | null = null;

  /** Throws INVALID_BODY for an unknown charset in the content type. */
  constructor(contentType: string | undefined) {
    const charset = charsetOf(contentType);
    this.#declared = charset === null ? null : decoderOf(charset);
    if (charset !== null && this.#declared === null)
      throw new AppError(
        'INVALID_BODY',
        `The charset "${charset.slice(0, 40)}" of the Content-Type is unknown; known are utf-8, utf-16, iso-8859-1 to iso-8859-16, windows-1250 to windows-1258, and what else browsers read.`,
      );
  }

  read(piece: Buffer): string {
    if (this.#begin === null) return this.#text(piece);
    this.#begin = this.#begin.length === 0 ? piece : Buffer.concat([this.#begin, piece]);
    return this.#begin.length < MARK_BYTES ? '' : this.#start();
  }

  /** The rest of the text, at the end of the bytes. */
  end(): string {
    const begin = this.#begin === null ? '' : this.#start();
    return begin + (this.#decoder === null ? this.#utf8.end() : this.#decoder.decode());
  }

  #start(): string {
    const bytes = must(this.#begin);
    this.#begin = null;
    checkPacked(bytes);
    const [a, b, c] = bytes;
    if (a === 0xef && b === 0xbb && c === 0xbf) return this.#text(bytes.subarray(MARK_BYTES));
    const utf16 = utf16In(a, b);
    this.#decoder = utf16 !== null ? decoderOf(utf16) : this.#declared?.encoding === 'utf-8' ? null : this.#declared;
    return this.#text(bytes);
  }

  #text(bytes: Buffer): string {
    return this.#decoder === null ? this.#utf8.read(bytes) : this.#decoder.decode(bytes, { stream: true });
  }
}

/** Rejects compressed files, whose headings would be rubbish. */
function checkPacked([a, b, c]: Buffer): void {
  if (a === 0x1f && b === 0x8b)
    throw new AppError('INVALID_BODY', 'The file is packed by gzip: send it with "Content-Encoding: gzip".');
  if (a === 0x50 && b === 0x4b && c === 0x03)
    throw new AppError(
      'INVALID_BODY',
      'The file is a ZIP archive, as .xlsx and .ods are: save it as CSV, or unpack it.',
    );
}

/** UTF-16 by a byte order mark, or by the NUL in the first character. */
function utf16In(a: number | undefined, b: number | undefined): string | null {
  if ((a === 0xff && b === 0xfe) || (a !== undefined && a !== 0 && b === 0)) return 'utf-16le';
  return (a === 0xfe && b === 0xff) || (a === 0 && b !== undefined && b !== 0) ? 'utf-16be' : null;
}
