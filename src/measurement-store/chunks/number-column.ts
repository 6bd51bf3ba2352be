import { deflateRawSync } from 'node:zlib';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import type { Decimals } from './decimal-column.ts';
import { SMALL_BYTES_A_VALUE } from './blocks.ts';
import { inflated } from './inflated.ts';
import { readIntegers, writeIntegers } from './integer-column.ts';

const DECIMALS = 0;
const FLOAT32 = 4;
const FLOAT64 = 8;
/** Added to the form. */
const RUNS = 16;
const DEFLATED = 32;
/** Inflating takes four times as long as reading varints: it must leave no more than this share of the bytes. */
const WORTH_DEFLATING = 0.6;

/** Decimals as integers where that gives every value back, exact floats else; deflated where it pays. */
export function writeNumbers(out: ByteWriter, values: Float64Array, decimal: Decimals | null): void {
  if (decimal === null || decimal.bytes >= FLOAT64 * values.length) {
    const { bytes, width } = exactBytes(values);
    writeBody(out, width, bytes, values.length);
    return;
  }
  const { runs } = decimal;
  const body = new ByteWriter();
  body.byte(decimal.decimals);
  body.varint(decimal.exceptions.length);
  let before = 0;
  for (const index of decimal.exceptions) {
    body.varint(index - before);
    before = index;
  }
  body.bytes(new Uint8Array(Float64Array.from(decimal.exceptions, (index) => values[index]!).buffer));
  writeIntegers(body, decimal.integers, runs);
  writeBody(out, runs ? DECIMALS + RUNS : DECIMALS, body.finish(), values.length);
}

/** Fills `values`; CorruptChunk when the bytes are no numbers, or another number of them. */
export function readNumbers(from: ByteReader, values: Float64Array): void {
  const form = from.byte();
  const runs = (form & RUNS) !== 0;
  const kind = form & ~(RUNS | DEFLATED);
  const length = from.varint();
  let bytes = from.take(from.varint());
  if ((form & DEFLATED) !== 0) bytes = inflated(bytes, length);
  if (kind === FLOAT32 || kind === FLOAT64) {
    return readExact(bytes, kind, values);
  }
  if (kind !== DECIMALS) throw new CorruptChunk(`its values have the unknown form ${form}`);
  const body = new ByteReader(bytes);
  const divisor = 10 ** body.byte();
  const exceptions = readExceptions(body, values.length);
  readIntegers(body, values, runs, divisor);
  body.end();
  for (const [index, value] of exceptions) values[index] = value;
}

function writeBody(out: ByteWriter, form: number, plain: Uint8Array, count: number): void {
  const deflated = plain.length <= SMALL_BYTES_A_VALUE * count ? plain : deflateRawSync(plain, { level: 6 });
  const pays = deflated.length <= plain.length * WORTH_DEFLATING;
  const body = pays ? deflated : plain;
  out.byte(pays ? form + DEFLATED : form);
  out.varint(plain.length);
  out.varint(body.length);
  out.bytes(body);
}

function readExceptions(body: ByteReader, count: number): [number, number][] {
  const found = body.varint();
  if (found === 0) return [];
  if (found > count) throw new CorruptChunk('it has too many exceptions');
  let index = 0;
  const indexes = Array.from({ length: found }, () => (index += body.varint()));
  if (index >= count) throw new CorruptChunk('an exception lies outside');
  const values = new Float64Array(body.take(8 * found).slice().buffer);
  return indexes.map((at, i) => [at, values[i]!]);
}

/**
 * Float64 values bit for bit, or in half the bytes when all of them are float32: each byte XOR the same byte of the
 * value before, all first bytes, then all second ones, and so on, so that deflate finds what does not change.
 */
function exactBytes(values: Float64Array): { bytes: Uint8Array<ArrayBuffer>; width: 4 | 8 } {
  const single = Float32Array.from(values);
  const width = values.every((value, i) => Object.is(single[i], value)) ? 4 : 8;
  const source = new Uint8Array(width === 4 ? single.buffer : Float64Array.from(values).buffer);
  const bytes = new Uint8Array(source.length);
  for (let plane = 0, at = 0; plane < width; plane++) {
    let previous = 0;
    for (let i = plane; i < source.length; i += width) {
      bytes[at++] = source[i]! ^ previous;
      previous = source[i]!;
    }
  }
  return { bytes, width };
}

/** The `into.length` values of which `exactBytes` made the bytes. */
function readExact(bytes: Uint8Array, width: 4 | 8, into: Float64Array): void {
  const count = into.length;
  if (bytes.length !== count * width) throw new CorruptChunk('its values have the wrong length');
  const target = new Uint8Array(bytes.length);
  for (let plane = 0, at = 0; plane < width; plane++) {
    let current = 0;
    for (let i = plane; i < target.length; i += width) target[i] = current ^= bytes[at++]!;
  }
  into.set(width === 4 ? new Float32Array(target.buffer) : new Float64Array(target.buffer));
}
