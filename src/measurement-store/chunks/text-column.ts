import { deflateRawSync } from 'node:zlib';
import type { StoredValue } from '../../domain/ports/store.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import { inflated } from './inflated.ts';
import { must } from '../../must.ts';

/** Maximum bytes of a chunk's texts before they are compressed: the cutting code stays below. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

const NUMBER = 0;
const UTF8 = 1;
/** Text with a lone surrogate, which UTF-8 cannot say. */
const UTF16 = 2;

/**
 * Texts, or texts and numbers mixed: a list of each different value once, and for each value 0 (the next one of the
 * list) or its place in the list; all of it deflated. RangeError beyond MAX_TEXT_BYTES.
 */
export function writeTexts(out: ByteWriter, values: readonly StoredValue[]): void {
  const entries = new ByteWriter();
  const places = new ByteWriter();
  const known = new Map<StoredValue, number>();
  let count = 0;
  for (const value of values) {
    // A map takes -0 for 0.
    const negativeZero = Object.is(value, -0);
    const place = negativeZero ? undefined : known.get(value);
    places.varint(place ?? 0);
    if (place !== undefined) continue;
    writeEntry(entries, value);
    if (entries.length > MAX_TEXT_BYTES) throw new RangeError('the texts of a chunk are too long');
    count++;
    if (!negativeZero) known.set(value, count);
  }
  const body = new ByteWriter();
  body.bytes(places.finish());
  body.bytes(entries.finish());
  const plain = body.finish();
  out.varint(plain.length);
  out.bytes(deflateRawSync(plain, { level: 6 }));
}

/** `count` of them; `from` has nothing else behind. */
export function readTexts(from: ByteReader, count: number): StoredValue[] {
  const length = from.varint();
  if (length > 2 * MAX_TEXT_BYTES) throw new CorruptChunk('its texts are too long');
  const body = new ByteReader(inflated(from.take(from.bytes.length - from.at), length));
  const places = Array.from({ length: count }, () => body.varint());
  const entries: StoredValue[] = [];
  const values = places.map((place) => {
    if (place === 0) entries.push(readEntry(body));
    const value = entries[place === 0 ? entries.length - 1 : place - 1];
    if (value === undefined) throw new CorruptChunk('a value in it is nowhere');
    return value;
  });
  body.end();
  return values;
}

function writeEntry(out: ByteWriter, value: StoredValue): void {
  if (typeof value === 'number') {
    out.byte(NUMBER);
    out.bytes(new Uint8Array(Float64Array.of(value).buffer));
    return;
  }
  const wellFormed = value.isWellFormed();
  const bytes = Buffer.from(value, wellFormed ? 'utf8' : 'utf16le');
  out.byte(wellFormed ? UTF8 : UTF16);
  out.varint(bytes.length);
  out.bytes(bytes);
}

function readEntry(from: ByteReader): StoredValue {
  const kind = from.byte();
  if (kind === NUMBER) return must(new Float64Array(from.take(8).slice().buffer)[0]);
  if (kind !== UTF8 && kind !== UTF16) throw new CorruptChunk(`a value in it has the unknown kind ${kind}`);
  const bytes = from.take(from.varint());
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString(kind === UTF8 ? 'utf8' : 'utf16le');
}
