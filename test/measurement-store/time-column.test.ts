import { expect, test } from 'vitest';
import { ByteReader } from '../../src/measurement-store/chunks/byte-reader.ts';
import { ByteWriter } from '../../src/measurement-store/chunks/byte-writer.ts';
import { CorruptChunk } from '../../src/measurement-store/chunks/corrupt-chunk.ts';
import { writeIntegers } from '../../src/measurement-store/chunks/integer-column.ts';
import { readTimes, writeTimes } from '../../src/measurement-store/chunks/time-column.ts';

function written(times: number[]): Uint8Array {
  const out = new ByteWriter();
  writeTimes(out, Float64Array.from(times));
  return out.finish();
}

/** Times that `writeTimes` would refuse, in its format. */
function forged(first: number, unit: number, steps: number[]): ByteReader {
  const out = new ByteWriter();
  out.zigzag(first);
  out.varint(unit);
  writeIntegers(out, Float64Array.from(steps), true);
  return new ByteReader(out.finish());
}

test.each([[[2 ** 51 - 1, 2 ** 51]], [[-(2 ** 51), 0, 2 ** 51]], [[-5, -3, 1]], [[7]]])(
  'the times %j come back',
  (times) => {
    const read = new Float64Array(times.length);
    readTimes(new ByteReader(written(times)), read);
    expect([...read]).toEqual(times);
  },
);

test.each([[[0, 2 ** 51 + 1]], [[-(2 ** 51) - 1, 0]], [[0.5, 1]], [[Number.NaN]], [[1, 1]], [[2, 1]]])(
  'the times %j are refused',
  (times) => {
    expect(() => written(times)).toThrow(RangeError);
  },
);

test.each([
  ['a step back', 10, 1, [5, -1]],
  ['no step', 10, 1, [0, 5]],
  ['no unit', 10, 0, [1, 1]],
  ['beyond the range', 2 ** 51, 1, [1, 1]],
])('%s in a chunk says that it is corrupt', (_, first, unit, steps) => {
  expect(() => readTimes(forged(first, unit, steps), new Float64Array(steps.length + 1))).toThrow(CorruptChunk);
});
