import type { NumberSummary, Segment, SegmentColumns } from '../../domain/measurements/segment.ts';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import type { Decimals } from './decimal-column.ts';
import { readIntegers, writeIntegers } from './integer-column.ts';
import { readSteps, stepsOf } from './time-column.ts';
import { must } from '../../must.ts';

/** Values per block: fewer give larger heads, more leave more to be decoded. */
const BLOCK_VALUES = 256;
/** Minimum bytes per value: the head of a block takes 20 bytes, too much beside shorter values. */
const LEAST_BYTES_A_VALUE = 0.5;
/** Values of more bytes than this may take fewer when they are deflated; minute data of two decimals never does. */
export const SMALL_BYTES_A_VALUE = 2.2;
/** Sums of a block stay exact in float64. */
const MAX_INTEGER = 2 ** 40;

/** Memory for columns of numbers, as long as there are values. */
export interface Room {
  timestamps: Float64Array;
  values: Float64Array;
}

/** Whether they are better written in blocks than in one piece. */
export function areForBlocks({ integers, exceptions, bytes }: Decimals): boolean {
  const count = integers.length;
  return (
    count > BLOCK_VALUES &&
    exceptions.length === 0 &&
    bytes >= count * LEAST_BYTES_A_VALUE &&
    bytes <= count * SMALL_BYTES_A_VALUE &&
    integers.every((integer) => Math.abs(integer) < MAX_INTEGER)
  );
}

/**
 * Writes times and decimals in blocks: first the heads (a summary of each, in a few small integers), then their values,
 * so that a chart decodes only the blocks that an edge of its buckets falls into. The heads take a tenth of a byte a
 * value.
 */
export function writeBlocks(out: ByteWriter, timestamps: Float64Array, values: Decimals): void {
  const { integers, decimals, runs } = values;
  const { unit, steps } = stepsOf(timestamps);
  out.varint(unit);
  out.byte(decimals);
  out.byte(runs ? 1 : 0);
  out.varint(BLOCK_VALUES);
  out.zigzag(must(timestamps[0]));
  const contents = new ByteWriter();
  for (let start = 0; start < integers.length; start += BLOCK_VALUES) {
    const end = Math.min(start + BLOCK_VALUES, integers.length);
    const [inside, own] = [steps.subarray(start, end - 1), integers.subarray(start, end)];
    const before = contents.length;
    writeIntegers(contents, inside, true);
    writeIntegers(contents, own.subarray(1), runs, own[0]);
    if (start > 0) out.varint(must(steps[start - 1]));
    writeHead(out, inside, own, integers[start - 1] ?? 0);
    out.varint(contents.length - before);
  }
  out.bytes(contents.written());
}

/** `previous`: the last integer of the block before. */
function writeHead(out: ByteWriter, steps: Float64Array, integers: Float64Array, previous: number): void {
  const first = must(integers[0]);
  let [last, sum, dropped] = [first, 0, 0];
  let [min, minPlace, max, maxPlace] = [first, 0, first, 0];
  let place = 0;
  integers.forEach((integer, i) => {
    if (i > 0) place += must(steps[i - 1]);
    if (integer < min) [min, minPlace] = [integer, place];
    if (integer > max) [max, maxPlace] = [integer, place];
    if (integer < last) dropped += last;
    sum += integer - first;
    last = integer;
  });
  out.varint(place);
  out.zigzag(first - previous);
  out.zigzag(last - first);
  out.varint(first - min);
  out.varint(minPlace);
  out.varint(max - first);
  out.varint(maxPlace);
  out.zigzag(sum);
  out.zigzag(dropped);
}

/** The shared form of all blocks of a chunk. */
interface Form {
  bytes: Uint8Array;
  unit: number;
  divisor: number;
  runs: boolean;
}

/** Head of a block, in units of time and in integers; `firstAt` in ms UTC. */
interface BlockHead {
  count: number;
  firstAt: number;
  span: number;
  first: number;
  last: number;
  min: number;
  minPlace: number;
  max: number;
  maxPlace: number;
  sum: number;
  dropped: number;
}

/** Some of a chunk's values, which can be decoded without the others. */
class Block implements Segment {
  readonly firstAt: number;
  readonly lastAt: number;
  readonly count: number;
  readonly summary: NumberSummary;
  columns: SegmentColumns | null = null;
  readonly #form: Form;
  readonly #first: number;
  readonly #start: number;
  readonly #end: number;

  /** `start` and `end`: where its values are among the bytes. */
  constructor(form: Form, head: BlockHead, start: number, end: number) {
    const { unit, divisor } = form;
    const { count, firstAt, first, last, min, max } = head;
    this.firstAt = firstAt;
    this.lastAt = firstAt + head.span * unit;
    this.count = count;
    this.summary = {
      sum: head.sum / divisor,
      min: min / divisor,
      minAt: firstAt + head.minPlace * unit,
      max: max / divisor,
      maxAt: firstAt + head.maxPlace * unit,
      first: first / divisor,
      last: last / divisor,
      // Computed as `addSummary` takes it apart again: values that never fell have dropped exactly nothing.
      rise: last / divisor - first / divisor + head.dropped / divisor,
      whole: divisor === 1,
      binary: divisor === 1 && min >= 0 && max <= 1,
    };
    this.#form = form;
    this.#first = first;
    this.#start = start;
    this.#end = end;
  }

  /** Fills `room`, as long as it has values, which are its columns then. */
  decode(room: Room): void {
    const { bytes, unit, divisor, runs } = this.#form;
    const { timestamps, values } = room;
    const from = new ByteReader(bytes, this.#start);
    timestamps[0] = this.firstAt;
    values[0] = this.#first / divisor;
    if (this.count > 1) readSteps(from, timestamps, unit);
    readIntegers(from, values.subarray(1), runs, divisor, this.#first);
    if (from.at !== this.#end || timestamps[this.count - 1] !== this.lastAt)
      throw new CorruptChunk('a block of it is not what it says');
    this.columns = room;
  }
}

/** The blocks of `count` values in order of time; their heads are believed. */
export function readBlocks(from: ByteReader, count: number): Block[] {
  const unit = from.varint();
  const divisor = 10 ** from.byte();
  const form: Form = { bytes: from.bytes, unit, divisor, runs: from.byte() === 1 };
  const size = from.varint();
  if (unit === 0 || size === 0) throw new CorruptChunk('it has blocks of nothing');
  const heads: BlockHead[] = [];
  const lengths: number[] = [];
  let [at, previous] = [from.zigzag(), 0];
  for (let start = 0; start < count; start += size) {
    if (start > 0) at += from.varint() * unit;
    const head = readHead(from, Math.min(size, count - start), at, previous);
    at += head.span * unit;
    previous = head.last;
    heads.push(head);
    lengths.push(from.varint());
  }
  let end = from.at;
  const blocks = heads.map((head, i) => new Block(form, head, end, (end += must(lengths[i]))));
  from.take(end - from.at);
  from.end();
  return blocks;
}

function readHead(from: ByteReader, count: number, firstAt: number, previous: number): BlockHead {
  const span = from.varint();
  const first = previous + from.zigzag();
  const last = first + from.zigzag();
  const min = first - from.varint();
  const minPlace = from.varint();
  const max = first + from.varint();
  const maxPlace = from.varint();
  const sum = first * count + from.zigzag();
  return { count, firstAt, span, first, last, min, minPlace, max, maxPlace, sum, dropped: from.zigzag() };
}
