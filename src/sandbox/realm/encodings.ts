/* eslint-disable @typescript-eslint/no-explicit-any */

/** Defines `atob`, `btoa`, `TextEncoder`, `TextDecoder` (as on the web) and `__base64decode` (CONTRACT 5). */
export function installEncodings(define: (name: string, value: unknown) => void): void {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  /** Frozen, because a patched `String` can look up any key in it and so reach it. */
  const codesOf = (digits: string): readonly number[] => {
    const codes = Array.from({ length: 128 }, () => -1);
    for (let i = 0; i < digits.length; i += 1) codes[digits.charCodeAt(i)] = i % 64;
    return Object.freeze(codes);
  };
  const codeOf = codesOf(alphabet);
  const tolerantCodeOf = codesOf(`${alphabet}${alphabet.slice(0, 62)}-_`);
  const isBlank = (c: number): boolean => c === 32 || c === 10 || c === 13 || c === 9 || c === 12;

  const invalidCharacter = (message: string): Error => {
    const error: any = new Error(message);
    Object.defineProperty(error, 'name', { value: 'InvalidCharacterError', configurable: true, writable: true });
    Object.defineProperty(error, 'code', { value: 5, configurable: true, writable: true });
    return error;
  };

  const textOf = (bytes: ArrayLike<number>, length: number): string => {
    let text = '';
    for (let at = 0; at < length; at += 8192) {
      text += String.fromCharCode.apply(null, Array.prototype.slice.call(bytes, at, Math.min(at + 8192, length)));
    }
    return text;
  };

  /** Decodes base64; null if a character, the padding or the length is not what `codes` allows. */
  const decode = (
    text: string,
    codes: readonly number[],
    strict: boolean,
  ): { bytes: Uint8Array; length: number } | null => {
    const bytes = new Uint8Array(((text.length * 3) >> 2) + 3);
    let length = 0;
    let bits = 0;
    let held = 0;
    let digits = 0;
    let padding = 0;
    for (let i = 0; i < text.length; i += 1) {
      const c = text.charCodeAt(i);
      if (isBlank(c)) continue;
      if (c === 61) {
        padding += 1;
        continue;
      }
      const value = c < 128 ? codes[c]! : -1;
      if (value < 0 || padding > 0) return null;
      digits += 1;
      bits = ((bits << 6) | value) & 0xffff;
      held += 6;
      if (held >= 8) {
        held -= 8;
        bytes[length++] = (bits >> held) & 255;
      }
    }
    if (digits % 4 === 1) return null;
    if (strict && padding > 0 && (padding > 2 || (digits + padding) % 4 !== 0)) return null;
    return { bytes, length };
  };

  define('atob', function atob(data: unknown): string {
    if (arguments.length === 0) throw new TypeError('atob needs an argument');
    const decoded = decode(String(data), codeOf, true);
    if (decoded === null) throw invalidCharacter('The string to be decoded is not correctly encoded.');
    return textOf(decoded.bytes, decoded.length);
  });

  define('btoa', function btoa(data: unknown): string {
    if (arguments.length === 0) throw new TypeError('btoa needs an argument');
    const text = String(data);
    let out = '';
    for (let i = 0; i < text.length; i += 3) {
      const left = text.length - i;
      const a = text.charCodeAt(i);
      const b = left > 1 ? text.charCodeAt(i + 1) : 0;
      const c = left > 2 ? text.charCodeAt(i + 2) : 0;
      if (a > 255 || b > 255 || c > 255) {
        throw invalidCharacter('The string to be encoded contains characters outside of the Latin1 range.');
      }
      out += alphabet[a >> 2]! + alphabet[((a & 3) << 4) | (b >> 4)]!;
      out += left > 1 ? alphabet[((b & 15) << 2) | (c >> 6)]! : '=';
      out += left > 2 ? alphabet[c & 63]! : '=';
    }
    return out;
  });

  define('__base64decode', function __base64decode(data: unknown): number[] {
    // Reads what devices send: url-safe alphabets, line breaks and no padding.
    const decoded = decode(String(data), tolerantCodeOf, false);
    if (decoded === null) throw invalidCharacter('__base64decode: the text is not base64.');
    return Array.prototype.slice.call(decoded.bytes, 0, decoded.length) as number[];
  });

  const utf8Bytes = (text: string, put: (byte: number) => void): void => {
    for (let i = 0; i < text.length; i += 1) {
      let c = text.charCodeAt(i);
      if (c < 0x80) {
        put(c);
        continue;
      }
      if (c >= 0xd800 && c <= 0xdfff) {
        const next = i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
        if (c < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
          c = 0x10000 + ((c - 0xd800) << 10) + (next - 0xdc00);
          i += 1;
        } else {
          c = 0xfffd;
        }
      }
      if (c < 0x800) put(0xc0 | (c >> 6));
      else if (c < 0x10000) {
        put(0xe0 | (c >> 12));
        put(0x80 | ((c >> 6) & 63));
      } else {
        put(0xf0 | (c >> 18));
        put(0x80 | ((c >> 12) & 63));
        put(0x80 | ((c >> 6) & 63));
      }
      put(0x80 | (c & 63));
    }
  };

  class TextEncoder {
    get encoding(): string {
      return 'utf-8';
    }
    encode(input: unknown = ''): Uint8Array {
      const text = String(input);
      const bytes = new Uint8Array(text.length * 3);
      let length = 0;
      utf8Bytes(text, (byte) => {
        bytes[length++] = byte;
      });
      return bytes.slice(0, length);
    }
    encodeInto(input: unknown, target: Uint8Array): { read: number; written: number } {
      const text = String(input);
      let read = 0;
      let written = 0;
      while (read < text.length) {
        const character = String.fromCodePoint(text.codePointAt(read)!);
        const bytes: number[] = [];
        utf8Bytes(character, (byte) => bytes.push(byte));
        if (written + bytes.length > target.length) break;
        for (const byte of bytes) target[written++] = byte;
        read += character.length;
      }
      return { read, written };
    }
  }

  const labels: Record<string, string[]> = {
    'utf-8': ['utf-8', 'utf8', 'unicode-1-1-utf-8', 'unicode11utf8', 'unicode20utf8', 'x-unicode20utf8'],
    'windows-1252': (
      'windows-1252 latin1 ascii us-ascii iso-8859-1 iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 iso-ir-100 l1 ' +
      'cp1252 x-cp1252 cp819 ibm819 csisolatin1 ansi_x3.4-1968'
    ).split(' '),
    'utf-16le': ['utf-16le', 'utf-16', 'unicode', 'ucs-2', 'iso-10646-ucs-2', 'csunicode', 'unicodefeff'],
    'utf-16be': ['utf-16be', 'unicodefffe'],
  };
  // No Map: a patched `Map.prototype.get` would get one that outlives the call.
  const encodingOf: Record<string, string> = Object.create(null);
  for (const encoding of Object.keys(labels)) for (const label of labels[encoding]!) encodingOf[label] = encoding;
  const upperHalf1252 =
    '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f' +
    '\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178';

  const bytesOf = (input: any): Uint8Array => {
    if (input === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (input instanceof ArrayBuffer) return new Uint8Array(input);
    throw new TypeError('TextDecoder.decode needs an ArrayBuffer or a typed array');
  };

  class TextDecoder {
    #encoding: string;
    #fatal: boolean;
    #ignoreBOM: boolean;
    /** Bytes of an unfinished character, kept between calls with `{stream: true}`. */
    #rest: Uint8Array = new Uint8Array(0);
    #bomSeen = false;

    constructor(label: unknown = 'utf-8', options: any = {}) {
      const encoding = encodingOf[String(label).trim().toLowerCase()];
      if (encoding === undefined) throw new RangeError(`The encoding label '${String(label)}' is not supported.`);
      this.#encoding = encoding;
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }
    get encoding(): string {
      return this.#encoding;
    }
    get fatal(): boolean {
      return this.#fatal;
    }
    get ignoreBOM(): boolean {
      return this.#ignoreBOM;
    }
    decode(input?: unknown, options: any = {}): string {
      let bytes = bytesOf(input);
      const stream = Boolean(options?.stream);
      if (this.#rest.length > 0) {
        const joined = new Uint8Array(this.#rest.length + bytes.length);
        joined.set(this.#rest);
        joined.set(bytes, this.#rest.length);
        bytes = joined;
      }
      this.#rest = new Uint8Array(0);
      let text: string;
      if (this.#encoding === 'utf-8') text = this.#utf8(bytes, stream);
      else if (this.#encoding === 'windows-1252') text = this.#windows1252(bytes);
      else text = this.#utf16(bytes, this.#encoding === 'utf-16be', stream);
      if (!this.#bomSeen && text.length > 0) {
        this.#bomSeen = true;
        if (!this.#ignoreBOM && this.#encoding !== 'windows-1252' && text.charCodeAt(0) === 0xfeff) {
          text = text.slice(1);
        }
      }
      if (!stream) this.#bomSeen = false;
      return text;
    }
    #broken(): string {
      if (this.#fatal) throw new TypeError(`The encoded data was not valid for encoding ${this.#encoding}`);
      return '\ufffd';
    }
    #windows1252(bytes: Uint8Array): string {
      let text = '';
      for (let i = 0; i < bytes.length; i += 1) {
        const byte = bytes[i]!;
        text += byte >= 0x80 && byte < 0xa0 ? upperHalf1252[byte - 0x80]! : String.fromCharCode(byte);
      }
      return text;
    }
    #utf16(bytes: Uint8Array, bigEndian: boolean, stream: boolean): string {
      let text = '';
      let i = 0;
      const unit = (at: number): number =>
        bigEndian ? (bytes[at]! << 8) | bytes[at + 1]! : (bytes[at + 1]! << 8) | bytes[at]!;
      for (; i + 1 < bytes.length; i += 2) {
        const c = unit(i);
        if (c < 0xd800 || c > 0xdfff) text += String.fromCharCode(c);
        else if (c < 0xdc00 && i + 3 < bytes.length && unit(i + 2) >= 0xdc00 && unit(i + 2) <= 0xdfff) {
          text += String.fromCharCode(c, unit(i + 2));
          i += 2;
        } else if (c < 0xdc00 && i + 3 >= bytes.length && stream) break;
        else text += this.#broken();
      }
      if (i < bytes.length) {
        if (stream) this.#rest = bytes.slice(i);
        else text += this.#broken();
      }
      return text;
    }
    #utf8(bytes: Uint8Array, stream: boolean): string {
      let text = '';
      let i = 0;
      while (i < bytes.length) {
        const start = i;
        const first = bytes[i++]!;
        if (first < 0x80) {
          text += String.fromCharCode(first);
          continue;
        }
        let needed = 0;
        let point = 0;
        let low = 0x80;
        let high = 0xbf;
        if (first >= 0xc2 && first <= 0xdf) [needed, point] = [1, first & 31];
        else if (first >= 0xe0 && first <= 0xef) {
          if (first === 0xe0) low = 0xa0;
          if (first === 0xed) high = 0x9f;
          [needed, point] = [2, first & 15];
        } else if (first >= 0xf0 && first <= 0xf4) {
          if (first === 0xf0) low = 0x90;
          if (first === 0xf4) high = 0x8f;
          [needed, point] = [3, first & 7];
        } else {
          text += this.#broken();
          continue;
        }
        while (needed > 0 && i < bytes.length && bytes[i]! >= low && bytes[i]! <= high) {
          point = (point << 6) | (bytes[i++]! & 63);
          low = 0x80;
          high = 0xbf;
          needed -= 1;
        }
        if (needed === 0) text += String.fromCodePoint(point);
        else if (i >= bytes.length && stream) {
          this.#rest = bytes.slice(start);
          break;
        } else text += this.#broken();
      }
      return text;
    }
  }
  for (const [type, tag] of [
    [TextEncoder, 'TextEncoder'],
    [TextDecoder, 'TextDecoder'],
  ] as const) {
    Object.defineProperty(type.prototype, Symbol.toStringTag, { value: tag, configurable: true });
    define(tag, type);
  }
}
