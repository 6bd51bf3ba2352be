/* eslint-disable @typescript-eslint/no-explicit-any */

/**
 * Defines a small `Buffer` like Node's (CONTRACT 5): from, alloc, concat, isBuffer, byteLength, numbers read and
 * written, texts in utf8, hex, base64, base64url, latin1, ascii and utf16le. Call it after `installEncodings`.
 */
export function installBuffer(define: (name: string, value: unknown) => void): void {
  const anyGlobal = globalThis as any;
  // Made anew each time: a patched `encode` or `decode` must not get an instance that outlives the call.
  const { __base64decode: bytesOfBase64, btoa: toBase64, TextEncoder, TextDecoder } = anyGlobal;
  const decoded = (bytes: Uint8Array, encoding: string): string =>
    new TextDecoder(encoding, { ignoreBOM: true }).decode(bytes);

  class Bytes extends Uint8Array {}

  const encodingOf = (given: any): string => {
    const name = given === undefined || given === null ? 'utf8' : String(given).toLowerCase();
    const known = { 'utf-8': 'utf8', binary: 'latin1', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le' };
    const encoding = Object.hasOwn(known, name) ? (known as any)[name] : name;
    if (['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ascii', 'utf16le'].includes(encoding)) return encoding;
    throw new TypeError(`Unknown encoding: ${String(given)}`);
  };

  const bytesOf = (text: string, encoding: unknown): Bytes => {
    const units = (size: number, put: (bytes: DataView, i: number, unit: number) => void): Bytes => {
      const bytes = new Bytes(text.length * size);
      const view = new DataView(bytes.buffer);
      for (let i = 0; i < text.length; i += 1) put(view, i, text.charCodeAt(i));
      return bytes;
    };
    switch (encodingOf(encoding)) {
      case 'utf8':
        return new Bytes(new TextEncoder().encode(text).buffer);
      case 'hex': {
        const digits = /^(?:[0-9a-f]{2})*/i.exec(text)![0];
        const bytes = new Bytes(digits.length / 2);
        for (let i = 0; i < bytes.length; i += 1) bytes[i] = parseInt(digits.slice(i * 2, i * 2 + 2), 16);
        return bytes;
      }
      case 'base64':
      case 'base64url': {
        const digits = text.replace(/=[^]*$/, '').replace(/[^A-Za-z0-9+/_-]/g, '');
        return Bytes.from(bytesOfBase64(digits.length % 4 === 1 ? digits.slice(0, -1) : digits) as number[]) as Bytes;
      }
      case 'utf16le':
        return units(2, (view, i, unit) => view.setUint16(i * 2, unit, true));
      default:
        return units(1, (view, i, unit) => view.setUint8(i, unit));
    }
  };

  const textOf = (bytes: Uint8Array, encoding: unknown): string => {
    let text = '';
    const name = encodingOf(encoding);
    if (name === 'utf8') return decoded(bytes, 'utf-8');
    if (name === 'utf16le') return decoded(bytes.subarray(0, bytes.length & ~1), 'utf-16le');
    for (let i = 0; i < bytes.length; i += 1) {
      const byte = bytes[i]!;
      if (name === 'hex') text += (byte < 16 ? '0' : '') + byte.toString(16);
      else text += String.fromCharCode(name === 'ascii' ? byte & 0x7f : byte);
    }
    if (name === 'base64') return toBase64(text);
    if (name === 'base64url')
      return toBase64(text)
        .replace(/\+/g, '-')
        .replace(/\//g, '_')
        .replace(/={1,2}$/, '');
    return text;
  };

  const from = (value: any, encodingOrOffset?: any, length?: any): Bytes => {
    if (typeof value === 'string') return bytesOf(value, encodingOrOffset);
    if (value instanceof ArrayBuffer) return new Bytes(value, encodingOrOffset, length);
    if (value !== null && typeof value === 'object') {
      if (value.type === 'Buffer' && Array.isArray(value.data)) return from(value.data);
      if (typeof value.length === 'number') {
        const bytes = new Bytes(Math.max(0, value.length));
        for (let i = 0; i < bytes.length; i += 1) bytes[i] = value[i];
        return bytes;
      }
      const primitive = typeof value.valueOf === 'function' ? value.valueOf() : value;
      if (primitive !== value) return from(primitive, encodingOrOffset, length);
    }
    throw new TypeError(
      'The first argument must be of type string, Buffer, ArrayBuffer, Array or an Array-like object.',
    );
  };
  const alloc = (size: number, fill?: any, encoding?: any): Bytes => {
    if (typeof size !== 'number') throw new TypeError('The "size" argument must be of type number.');
    const bytes = new Bytes(size);
    return fill === undefined ? bytes : (bytes as any).fill(fill, encoding);
  };

  function Buffer(value: any, encodingOrOffset?: any, length?: any): Bytes {
    return typeof value === 'number' ? alloc(value) : from(value, encodingOrOffset, length);
  }
  const statics = {
    from,
    alloc,
    allocUnsafe: (size: number) => alloc(size),
    isBuffer: (value: unknown) => value instanceof Bytes,
    isEncoding: (name: unknown) => {
      try {
        return typeof name === 'string' && encodingOf(name) !== '';
      } catch {
        return false;
      }
    },
    byteLength: (value: any, encoding?: any) =>
      typeof value === 'string' ? bytesOf(value, encoding).length : value.byteLength,
    concat: (list: Uint8Array[], total = list.reduce((sum, { length }) => sum + length, 0)) => {
      const bytes = new Bytes(total);
      let at = 0;
      for (const part of list) {
        if (at >= total) break;
        bytes.set(part.subarray(0, total - at), at);
        at += part.length;
      }
      return bytes;
    },
    compare: (a: Uint8Array, z: Uint8Array) => {
      for (let i = 0; i < a.length && i < z.length; i += 1) if (a[i] !== z[i]) return a[i]! < z[i]! ? -1 : 1;
      return Math.sign(a.length - z.length);
    },
  };

  /** Index of bytes or a text. Uint8Array's own methods would take them for a number. */
  const find = (bytes: Bytes, value: any, isLast: boolean, from?: any, encoding?: any): number => {
    if (typeof from === 'string') return find(bytes, value, isLast, undefined, from);
    const wanted: ArrayLike<number> =
      typeof value === 'string' ? bytesOf(value, encoding) : typeof value === 'number' ? [value & 255] : value;
    const most = bytes.length - wanted.length;
    let at = Math.trunc(Number(from));
    if (Number.isNaN(at)) at = isLast ? most : 0;
    if (at < 0) at += bytes.length;
    at = isLast ? Math.min(at, most) : Math.max(at, 0);
    for (; at >= 0 && at <= most; at += isLast ? -1 : 1) {
      let same = 0;
      while (same < wanted.length && bytes[at + same] === wanted[same]) same += 1;
      if (same === wanted.length) return at;
    }
    return -1;
  };
  const swap = (bytes: Bytes, size: number): Bytes => {
    if (bytes.length % size !== 0) throw new RangeError(`Buffer size must be a multiple of ${size * 8}-bits`);
    for (let from = 0; from < bytes.length; from += size) {
      for (let at = from, to = from + size - 1; at < to; at += 1, to -= 1) {
        const byte = bytes[at]!;
        bytes[at] = bytes[to]!;
        bytes[to] = byte;
      }
    }
    return bytes;
  };

  const fillBytes = Uint8Array.prototype.fill;
  const methods: Record<string, any> = {
    toString(this: Bytes, encoding?: any, start = 0, end = this.length) {
      return textOf(this.subarray(Math.max(0, start), Math.max(0, end)), encoding);
    },
    toJSON(this: Bytes) {
      return { type: 'Buffer', data: Array.from(this) };
    },
    slice(this: Bytes, start?: any, end?: any) {
      return this.subarray(start, end);
    },
    equals(this: Bytes, other?: any) {
      return statics.compare(this, other) === 0;
    },
    compare(this: Bytes, other?: any) {
      return statics.compare(this, other);
    },
    copy(this: Bytes, target: Bytes, targetStart = 0, start = 0, end = this.length) {
      const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
      target.set(part, targetStart);
      return part.length;
    },
    write(this: Bytes, text: string, offset?: any, length?: any, encoding?: any) {
      if (typeof offset === 'string') return methods['write'].call(this, text, 0, this.length, offset);
      if (typeof length === 'string') return methods['write'].call(this, text, offset, this.length - offset, length);
      const at = offset ?? 0;
      const part = bytesOf(text, encoding).subarray(0, Math.min(length ?? Infinity, this.length - at));
      this.set(part, at);
      return part.length;
    },
    fill(this: Bytes, value?: any, start?: any, end?: any, encoding?: any) {
      if (typeof value !== 'string' && !(value instanceof Uint8Array)) return fillBytes.call(this, value, start, end);
      const part = typeof value === 'string' ? bytesOf(value, typeof start === 'string' ? start : encoding) : value;
      const [first, last] = typeof start === 'string' ? [0, this.length] : [start ?? 0, end ?? this.length];
      for (let i = first; i < last && part.length > 0; i += 1) this[i] = part[(i - first) % part.length]!;
      return this;
    },
    indexOf(this: Bytes, value: any, from?: any, encoding?: any) {
      return find(this, value, false, from, encoding);
    },
    lastIndexOf(this: Bytes, value: any, from?: any, encoding?: any) {
      return find(this, value, true, from, encoding);
    },
    includes(this: Bytes, value: any, from?: any, encoding?: any) {
      return find(this, value, false, from, encoding) !== -1;
    },
    swap16(this: Bytes) {
      return swap(this, 2);
    },
    swap32(this: Bytes) {
      return swap(this, 4);
    },
    swap64(this: Bytes) {
      return swap(this, 8);
    },
  };

  const viewOf = (bytes: Bytes): any => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const number = (kind: string, size: number, view: string, alias = kind): void => {
    for (const order of size === 1 ? [''] : ['LE', 'BE']) {
      const isLittle = order === 'LE';
      const both = {
        read(this: Bytes, offset = 0) {
          return viewOf(this)[`get${view}`](offset, isLittle);
        },
        write(this: Bytes, value: any, offset = 0) {
          viewOf(this)[`set${view}`](offset, value, isLittle);
          return offset + size;
        },
      };
      for (const name of new Set([kind, alias])) {
        methods[`read${name}${order}`] = both.read;
        methods[`write${name}${order}`] = both.write;
      }
    }
  };
  number('Int8', 1, 'Int8');
  number('UInt8', 1, 'Uint8', 'Uint8');
  number('Int16', 2, 'Int16');
  number('UInt16', 2, 'Uint16', 'Uint16');
  number('Int32', 4, 'Int32');
  number('UInt32', 4, 'Uint32', 'Uint32');
  number('Float', 4, 'Float32');
  number('Double', 8, 'Float64');
  number('BigInt64', 8, 'BigInt64');
  number('BigUInt64', 8, 'BigUint64', 'BigUint64');

  /** `readUIntBE(offset, byteLength)` and the like, up to six bytes. */
  for (const isLittle of [true, false]) {
    const order = isLittle ? 'LE' : 'BE';
    const at = (offset: number, size: number, i: number): number => offset + (isLittle ? size - 1 - i : i);
    const check = (bytes: Bytes, offset: number, size: number): void => {
      if (size >= 1 && size <= 6 && offset >= 0 && offset + size <= bytes.length) return;
      throw new RangeError('The value of "offset" or "byteLength" is out of range.');
    };
    const both = {
      read(this: Bytes, offset: number, size: number) {
        check(this, offset, size);
        let value = 0;
        for (let i = 0; i < size; i += 1) value = value * 256 + this[at(offset, size, i)]!;
        return value;
      },
      readSigned(this: Bytes, offset: number, size: number) {
        const value = both.read.call(this, offset, size);
        return value >= 2 ** (size * 8 - 1) ? value - 2 ** (size * 8) : value;
      },
      write(this: Bytes, value: number, offset: number, size: number) {
        check(this, offset, size);
        let left = value < 0 ? value + 2 ** (size * 8) : value;
        for (let i = size - 1; i >= 0; i -= 1) {
          this[at(offset, size, i)] = left % 256;
          left = Math.floor(left / 256);
        }
        return offset + size;
      },
    };
    for (const name of ['UInt', 'Uint']) methods[`read${name}${order}`] = both.read;
    methods[`readInt${order}`] = both.readSigned;
    for (const name of ['UInt', 'Uint', 'Int']) methods[`write${name}${order}`] = both.write;
  }

  const put = (object: object, name: string | symbol, value: unknown): void => {
    Object.defineProperty(object, name, { value, writable: true, enumerable: false, configurable: true });
  };
  for (const name of Object.keys(methods)) put(Bytes.prototype, name, methods[name]);
  for (const name of Object.keys(statics)) put(Buffer, name, (statics as any)[name]);
  put(Bytes.prototype, 'constructor', Buffer);
  Object.setPrototypeOf(Buffer, Uint8Array);
  Object.defineProperty(Buffer, Symbol.species, { get: () => Bytes });
  Object.defineProperty(Buffer, 'prototype', { value: Bytes.prototype, writable: false });
  // No property leads to it, so the watch on built-ins does not see it.
  Object.freeze(Bytes);
  define('Buffer', Buffer);
}
