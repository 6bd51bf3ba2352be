import { crc32 } from 'node:zlib';
import type { NumberSummary, SegmentColumns } from '../../domain/measurements/segment.ts';
import type { StoredValue } from '../../domain/measurements/store.ts';
import { summarize } from '../../domain/measurements/summarize.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import { readNumbers, writeNumbers } from './number-column.ts';
import { readTexts, writeTexts } from './text-column.ts';
import { readTimes, writeTimes } from './time-column.ts';

/** More than this in one chunk is a mistake of whoever cuts them. */
export const MAX_CHUNK_VALUES = 65_535;

const VERSION = 1;
const NUMBERS = 0;
const TEXTS = 1;
const CHECKSUM_BYTES = 4;

interface EncodedChunk {
  bytes: Uint8Array<ArrayBuffer>;
  /** null: there is a text among the values, or a sum of them is beyond float64. */
  summary: NumberSummary | null;
}

/**
 * Values of one field in ascending order of time as one chunk: version, kind, count, times, values, checksum. Every
 * value comes back bit for bit. RangeError for no or too many values, and for times that do not ascend.
 */
export function encode(timestamps: Float64Array, values: Float64Array | readonly StoredValue[]): EncodedChunk {
  const count = timestamps.length;
  if (count === 0 || count > MAX_CHUNK_VALUES || count !== values.length)
    throw new RangeError(`a chunk of ${count} times and ${values.length} values`);
  const numbers = onlyNumbers(values);
  const out = new ByteWriter();
  out.byte(VERSION);
  out.byte(numbers === null ? TEXTS : NUMBERS);
  out.varint(count);
  writeTimes(out, timestamps);
  if (numbers === null) writeTexts(out, values as readonly StoredValue[]);
  else writeNumbers(out, numbers);
  const checksum = new Uint8Array(Uint32Array.of(crc32(out.written())).buffer);
  out.bytes(checksum);
  return { bytes: out.finish(), summary: numbers && summarize(timestamps, numbers) };
}

/** Memory for the columns of a chunk of numbers, as long as it has values. */
export interface Room {
  timestamps: Float64Array;
  values: Float64Array;
}

/**
 * The columns of which `encode` made the bytes; CorruptChunk when they are anything else. `room` is taken where it fits:
 * of a year of minutes, memory for each chunk alone costs as much as decoding it.
 */
export function decode(chunk: Uint8Array, room?: Room): SegmentColumns {
  // Views of a Buffer would be Buffers, which take longer to make.
  const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < 3) throw new CorruptChunk(`it has ${bytes.length} bytes`);
  if (bytes[0] !== VERSION) throw new CorruptChunk(`it has the unknown version ${bytes[0]}`);
  const body = bytes.subarray(0, end);
  const checksum = bytes[end]! | (bytes[end + 1]! << 8) | (bytes[end + 2]! << 16) | (bytes[end + 3]! << 24);
  if ((crc32(body) | 0) !== checksum) throw new CorruptChunk('its checksum is wrong');
  const from = new ByteReader(body, 2);
  const count = from.varint();
  if (count === 0 || count > MAX_CHUNK_VALUES) throw new CorruptChunk(`it says it has ${count} values`);
  const own = room?.timestamps.length === count ? room : null;
  const timestamps = own?.timestamps ?? new Float64Array(count);
  readTimes(from, timestamps);
  const numbers = bytes[1] === NUMBERS ? (own?.values ?? new Float64Array(count)) : null;
  if (numbers !== null) readNumbers(from, numbers);
  const values = numbers ?? readTexts(from, count);
  from.end();
  return { timestamps, values };
}

function onlyNumbers(values: Float64Array | readonly StoredValue[]): Float64Array | null {
  if (values instanceof Float64Array) return values;
  return values.every((value) => typeof value === 'number') ? Float64Array.from(values) : null;
}
