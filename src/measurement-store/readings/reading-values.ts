import type { StoredValue } from '../../domain/ports/store.ts';
import { must } from '../../must.ts';

/**
 * The values of one moment of one device as bytes, entry after entry: varint of field key × 4 + kind, then by kind a
 * float64 (little-endian); a whole number (zigzag varint); a text (varint of its length, UTF-8); a decimal (u8 digits
 * after the point, zigzag varint of the number without the point). A field that is there twice has its last value, so
 * bytes put behind others are those others with the values of these written over them.
 */
const FLOAT = 0;
const WHOLE = 1;
const TEXT = 2;
const DECIMAL = 3;

const MAX_HEAD_BYTES = 5;
const MAX_NUMBER_BYTES = MAX_HEAD_BYTES + 9;
const MAX_ZIGZAG = 2 ** 30;
const POWERS = [1, 10, 100, 1_000, 10_000];

/** What `writeValues` may need at most for these values. */
export function maxValuesBytes(values: readonly StoredValue[]): number {
  let bytes = values.length * MAX_NUMBER_BYTES;
  // UTF-8 takes at most three bytes for each unit of a JavaScript string.
  for (const value of values) if (typeof value === 'string') bytes += value.length * 3;
  return bytes;
}

/** Writes the rows `order[from]` to `order[to - 1]` of the columns at `at`; returns where it ends. */
export function writeValues(
  target: Buffer,
  at: number,
  columns: { fieldKeys: number[]; values: StoredValue[] },
  order: ArrayLike<number>,
  from: number,
  to: number,
): number {
  let end = at;
  for (let i = from; i < to; i++) {
    const row = must(order[i]);
    const head = must(columns.fieldKeys[row]) * 4;
    const value = must(columns.values[row]);
    if (typeof value === 'number') end = writeNumber(target, end, head, value);
    else {
      end = writeVarint(target, end, head + TEXT);
      const bytes = Buffer.byteLength(value, 'utf8');
      end = writeVarint(target, end, bytes);
      end += target.write(value, end, 'utf8');
    }
  }
  return end;
}

/** Calls back for each entry, in the order of writing. Throws if the bytes are no values. */
export function eachValue(bytes: Buffer, visit: (fieldKey: number, value: StoredValue) => void): void {
  const cursor = new Cursor(bytes);
  while (cursor.next()) visit(cursor.fieldKey, cursor.value());
}

/** The value of one field; undefined: it has none. */
export function valueOf(bytes: Buffer, fieldKey: number): StoredValue | undefined {
  const cursor = new Cursor(bytes);
  let found: StoredValue | undefined;
  while (cursor.next()) if (cursor.fieldKey === fieldKey) found = cursor.value();
  return found;
}

/** Which fields have a value, each once. */
export function fieldsOf(bytes: Buffer): Set<number> {
  const cursor = new Cursor(bytes);
  const fields = new Set<number>();
  while (cursor.next()) fields.add(cursor.fieldKey);
  return fields;
}

/** Each written over those before it, every field once. */
export function mergeValues(...oldestFirst: Buffer[]): Buffer {
  return lastOfEach(Buffer.concat(oldestFirst), () => true);
}

/** Only the fields that are wanted, each once; empty: none of them is there. */
export function lastOfEach(bytes: Buffer, wanted: (fieldKey: number) => boolean): Buffer {
  const entries = new Map<number, Buffer>();
  eachEntry(bytes, (fieldKey, entry) => {
    if (wanted(fieldKey)) entries.set(fieldKey, entry);
  });
  return Buffer.concat([...entries.values()]);
}

/** Calls back for each entry in the order of writing, with its bytes and the length of its text (of a number: -1). */
export function eachEntry(bytes: Buffer, visit: (fieldKey: number, entry: Buffer, textBytes: number) => void): void {
  const cursor = new Cursor(bytes);
  while (cursor.next()) visit(cursor.fieldKey, bytes.subarray(cursor.start, cursor.end), cursor.textBytes);
}

/** Walks over the entries; `value` reads the one it stands at. */
class Cursor {
  readonly #bytes: Buffer;
  #kind = 0;
  #body = 0;
  start = 0;
  end = 0;
  fieldKey = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  next(): boolean {
    if (this.end >= this.#bytes.length) return false;
    this.start = this.end;
    const head = this.#varint();
    this.fieldKey = Math.floor(head / 4);
    this.#kind = head % 4;
    this.#body = this.end;
    if (this.#kind === FLOAT) this.end += 8;
    else if (this.#kind === TEXT) {
      const length = this.#varint();
      this.#body = this.end;
      this.end += length;
    } else {
      if (this.#kind === DECIMAL) this.end++;
      while (must(this.#bytes[this.end]) >= 0x80) this.end++;
      this.end++;
    }
    if (this.end > this.#bytes.length) throw new Error('the values of a reading are cut off');
    return true;
  }

  get textBytes(): number {
    return this.#kind === TEXT ? this.end - this.#body : -1;
  }

  value(): StoredValue {
    switch (this.#kind) {
      case FLOAT:
        return this.#bytes.readDoubleLE(this.#body);
      case TEXT:
        return this.#bytes.toString('utf8', this.#body, this.end);
      case WHOLE:
        return this.#zigzag(this.#body);
      default:
        return this.#zigzag(this.#body + 1) / must(POWERS[must(this.#bytes[this.#body])]);
    }
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = must(this.#bytes[this.end++]);
      value += (byte & 0x7f) * scale;
      if (!(byte >= 0x80)) return value;
    }
  }

  #zigzag(at: number): number {
    let value = 0;
    for (let shift = 0, from = at; ; shift += 7) {
      const byte = must(this.#bytes[from++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return (value >>> 1) ^ -(value & 1);
    }
  }
}

function writeNumber(target: Buffer, at: number, head: number, value: number): number {
  for (let digits = 0; digits < POWERS.length; digits++) {
    const scaled = Math.round(value * must(POWERS[digits]));
    if (scaled >= MAX_ZIGZAG || scaled <= -MAX_ZIGZAG) break;
    // Minus zero is no whole number here: it would come back as zero.
    if (scaled / must(POWERS[digits]) !== value || (scaled === 0 && Object.is(value, -0))) continue;
    let end = writeVarint(target, at, head + (digits === 0 ? WHOLE : DECIMAL));
    if (digits > 0) target[end++] = digits;
    return writeVarint(target, end, ((scaled << 1) ^ (scaled >> 31)) >>> 0);
  }
  const end = writeVarint(target, at, head + FLOAT);
  return target.writeDoubleLE(value, end);
}

function writeVarint(target: Buffer, at: number, value: number): number {
  let end = at;
  let rest = value;
  while (rest >= 0x80) {
    target[end++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  target[end++] = rest;
  return end;
}
