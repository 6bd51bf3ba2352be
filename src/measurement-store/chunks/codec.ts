import { crc32 } from 'node:zlib';
import type { NumberSummary, Segment, SegmentColumns } from '../../domain/measurements/segment.ts';
import type { StoredValue } from '../../domain/ports/store.ts';
import { summarize } from '../../domain/measurements/summarize.ts';
import { areForBlocks, readBlocks, type Room, writeBlocks } from './blocks.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import { toDecimals } from './decimal-column.ts';
import { readNumbers, writeNumbers } from './number-column.ts';
import type { ChunkHead } from './snapshot.ts';
import { readTexts, writeTexts } from './text-column.ts';
import { readTimes, writeTimes } from './time-column.ts';
import { must } from '../../must.ts';

/** Maximum values per chunk: more are a mistake of the cutting code. */
export const MAX_CHUNK_VALUES = 65_535;

const VERSION = 1;
const NUMBERS = 0;
const TEXTS = 1;
/** Numbers in blocks. */
const BLOCKS = 2;
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
  const decimals = numbers && toDecimals(numbers);
  const inBlocks = decimals !== null && areForBlocks(decimals);
  const out = new ByteWriter();
  out.byte(VERSION);
  out.byte(inBlocks ? BLOCKS : numbers === null ? TEXTS : NUMBERS);
  out.varint(count);
  if (inBlocks) writeBlocks(out, timestamps, decimals);
  else {
    writeTimes(out, timestamps);
    if (numbers === null) writeTexts(out, values as readonly StoredValue[]);
    else writeNumbers(out, numbers, decimals);
  }
  const checksum = new Uint8Array(Uint32Array.of(crc32(out.written())).buffer);
  out.bytes(checksum);
  return { bytes: out.finish(), summary: numbers && summarize(timestamps, numbers) };
}

/**
 * The columns that `encode` was given; CorruptChunk for any other bytes. `room` is taken where it fits: memory for each
 * chunk alone costs as much as decoding it.
 */
export function decode(chunk: Uint8Array, room?: Room): SegmentColumns {
  const { kind, count, body } = opened(chunk);
  const own = room?.timestamps.length === count ? room : null;
  const timestamps = own?.timestamps ?? new Float64Array(count);
  const numbers = kind === TEXTS ? null : (own?.values ?? new Float64Array(count));
  if (kind === BLOCKS) {
    let start = 0;
    for (const block of readBlocks(body, count)) {
      const end = start + block.count;
      block.decode({ timestamps: timestamps.subarray(start, end), values: must(numbers).subarray(start, end) });
      start = end;
    }
    return { timestamps, values: must(numbers) };
  }
  readTimes(body, timestamps);
  if (numbers !== null) readNumbers(body, numbers);
  const values = numbers ?? readTexts(body, count);
  body.end();
  return { timestamps, values };
}

/** A segment that is not decoded yet. */
export interface Part extends Segment {
  /** Its columns from now on are in `room`, as long as it has values, or, of texts, in memory of their own. */
  decode(room: Room): void;
}

/** Parts of a chunk that can be decoded alone, in order of time: its blocks, or all of it; CorruptChunk as `decode`. */
export function partsOf(head: ChunkHead, chunk: Uint8Array): Part[] {
  if (chunk[1] === BLOCKS) {
    const { count, body } = opened(chunk);
    return readBlocks(body, count);
  }
  const whole: Part = { ...head, columns: null, decode: (room) => void (whole.columns = decode(chunk, room)) };
  return [whole];
}

function opened(chunk: Uint8Array): { kind: number; count: number; body: ByteReader } {
  // Views of a Buffer would be Buffers, which take longer to make.
  const bytes = new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.length);
  const end = bytes.length - CHECKSUM_BYTES;
  if (end < 3) throw new CorruptChunk(`it has ${bytes.length} bytes`);
  if (bytes[0] !== VERSION) throw new CorruptChunk(`it has the unknown version ${bytes[0]}`);
  const plain = bytes.subarray(0, end);
  const checksum = bytes[end]! | (bytes[end + 1]! << 8) | (bytes[end + 2]! << 16) | (bytes[end + 3]! << 24);
  if ((crc32(plain) | 0) !== checksum) throw new CorruptChunk('its checksum is wrong');
  const body = new ByteReader(plain, 2);
  const count = body.varint();
  if (count === 0 || count > MAX_CHUNK_VALUES) throw new CorruptChunk(`it says it has ${count} values`);
  const kind = must(bytes[1]);
  if (kind > BLOCKS) throw new CorruptChunk(`it is of the unknown kind ${kind}`);
  return { kind, count, body };
}

function onlyNumbers(values: Float64Array | readonly StoredValue[]): Float64Array | null {
  if (values instanceof Float64Array) return values;
  return values.every((value) => typeof value === 'number') ? Float64Array.from(values) : null;
}
