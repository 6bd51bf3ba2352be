import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';
import { CorruptChunk } from './corrupt-chunk.ts';
import { readIntegers, writeIntegers } from './integer-column.ts';
import { must } from '../../must.ts';

/** Keeps every difference of differences exact in float64. */
const MAX_TIME = 2 ** 51;

/**
 * Ascending whole milliseconds: the first, the unit that divides all steps, and the steps in that unit as integers whose
 * own steps are written, so that a steady rhythm takes a few bytes in all.
 */
export function writeTimes(out: ByteWriter, timestamps: Float64Array): void {
  const { unit, steps } = stepsOf(timestamps);
  out.zigzag(must(timestamps[0]));
  if (steps.length === 0) return;
  out.varint(unit);
  writeIntegers(out, steps, true);
}

/** Fills `timestamps`, at least one. */
export function readTimes(from: ByteReader, timestamps: Float64Array): void {
  timestamps[0] = from.zigzag();
  if (timestamps.length > 1) readSteps(from, timestamps, from.varint());
}

/** Steps between ascending whole milliseconds, in the largest unit that divides all of them; RangeError for others. */
export function stepsOf(timestamps: Float64Array): { unit: number; steps: Float64Array } {
  const steps = new Float64Array(timestamps.length - 1);
  let unit = 0;
  timestamps.forEach((time, i) => {
    if (!Number.isInteger(time) || Math.abs(time) > MAX_TIME) throw new RangeError(`no time in milliseconds: ${time}`);
    if (i === 0) return;
    const step = (steps[i - 1] = time - timestamps[i - 1]!);
    if (step <= 0) throw new RangeError('the times of a chunk must ascend');
    unit = commonDivisor(unit, step);
  });
  for (let i = 0; i < steps.length; i++) steps[i]! /= unit;
  return { unit, steps };
}

/** Fills `timestamps` behind the first from the steps between them. */
export function readSteps(from: ByteReader, timestamps: Float64Array, unit: number): void {
  let time = must(timestamps[0]);
  const steps = timestamps.subarray(1);
  readIntegers(from, steps, true, 1);
  for (let i = 0; i < steps.length; i++) {
    if (!(steps[i]! > 0)) throw new CorruptChunk('its times do not ascend');
    time += steps[i]! * unit;
    steps[i] = time;
  }
  if (unit === 0 || time > MAX_TIME) throw new CorruptChunk('its times are out of range');
}

function commonDivisor(a: number, b: number): number {
  while (b !== 0) [a, b] = [b, a % b];
  return a;
}
