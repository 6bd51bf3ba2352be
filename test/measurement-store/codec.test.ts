import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import type { NumberSummary } from '../../src/domain/measurements/segment.ts';
import type { StoredValue } from '../../src/domain/ports/store.ts';
import { summarize } from '../../src/domain/measurements/summarize.ts';
import { decode, encode, MAX_CHUNK_VALUES, type Part, partsOf } from '../../src/measurement-store/chunks/codec.ts';
import { CorruptChunk } from '../../src/measurement-store/chunks/corrupt-chunk.ts';
import { seededRandom } from '../support/seeded-random.ts';

type Random = () => number;

const ODD = [0, -0, 1, -1, 5e-324, -5e-324, 1e308, -1e308, 2 ** 53, 2 ** 53 - 1, 2 ** 53 + 2, -(2 ** 53) + 1, 2 ** 51, 2 ** 51 + 1, 0.1, 0.1 + 0.2, 1 / 3, 1e-7, 123456.789, 1e21, Number.MIN_VALUE, Number.MAX_VALUE, Number.EPSILON]; // oxfmt-ignore

/** How a sensor, or somebody who wants to break it, makes the next number. */
const NUMBERS: Record<string, (random: Random, before: number) => number> = {
  'two decimals': (random, before) => Math.round((before + random() - 0.5) * 100) / 100,
  integers: (random) => Math.floor(random() * 1000) - 500,
  'large integers': (random) => Math.floor((random() - 0.5) * 2 ** 54),
  repeated: (random, before) => (random() < 0.95 ? before : Math.round(random() * 10)),
  constant: () => 21.5,
  switches: (random) => (random() < 0.5 ? 0 : 1),
  'a counter that falls': (random, before) => (random() < 0.02 ? 0 : before + Math.floor(random() * 20)),
  float32: (random) => Math.fround(random() * 100),
  'any bits': (random) => {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setUint32(0, random() * 2 ** 32);
    bits.setUint32(4, random() * 2 ** 32);
    return Number.isFinite(bits.getFloat64(0)) ? bits.getFloat64(0) : 0;
  },
  odd: (random) => ODD[Math.floor(random() * ODD.length)]!,
  'decimals with some odd ones': (random) =>
    random() < 0.02 ? ODD[Math.floor(random() * ODD.length)]! : Math.round(random() * 1e4) / 100,
  'twelve decimals': (random) => Math.round(random() * 1e12) / 1e12,
};

const STEPS: Record<string, (random: Random) => number> = {
  steady: () => 60_000,
  jitter: (random) => 60_000 + Math.floor(random() * 200) - 100,
  'whole seconds': (random) => 1000 * (1 + Math.floor(random() * 5)),
  milliseconds: (random) => 1 + Math.floor(random() * 3),
  gaps: (random) => (random() < 0.05 ? Math.floor(random() * 1e10) + 1 : 1000),
};

function times(random: Random, count: number, step: (random: Random) => number): Float64Array {
  let time = Math.floor(random() * 2e12);
  return Float64Array.from({ length: count }, () => (time += step(random)));
}

function expectSame(
  found: { timestamps: Float64Array; values: ArrayLike<StoredValue> },
  at: Float64Array,
  values: ArrayLike<StoredValue>,
): void {
  // Not toEqual alone: it says nothing of where in a thousand values.
  expect(found.timestamps).toEqual(at);
  expect(found.values.length).toBe(values.length);
  for (let i = 0; i < values.length; i++)
    if (!Object.is(found.values[i], values[i])) expect([i, found.values[i]]).toEqual([i, values[i]]);
}

test('every number comes back bit for bit, whatever made it and however many there are', () => {
  const random = seededRandom(1);
  for (const next of Object.values(NUMBERS))
    for (const step of Object.values(STEPS))
      for (const count of [1, 2, 3, 31, 33, 1000]) {
        const at = times(random, count, step);
        let before = 20;
        const values = Float64Array.from({ length: count }, () => (before = next(random, before)));
        const { bytes, summary } = encode(at, values);
        const found = decode(bytes);
        expect(found.values).toBeInstanceOf(Float64Array);
        expectSame(found, at, values);
        expectSame(decode(encode(at, [...values]).bytes), at, values);
        if (summary !== null) expect([summary.first, summary.last]).toEqual([values[0], values.at(-1)]);
      }
});

/** The parts of a chunk of these values. */
function partsOfNumbers(at: Float64Array, values: Float64Array): Part[] {
  const { bytes, summary } = encode(at, values);
  return partsOf({ firstAt: at[0]!, lastAt: at.at(-1)!, count: at.length, summary }, bytes);
}

test('each part of a chunk says what its values are, and comes back without the others', () => {
  const random = seededRandom(6);
  const inBlocks = new Set<string>();
  for (const [kind, next] of Object.entries(NUMBERS))
    for (const step of Object.values(STEPS))
      for (const count of [256, 257, 512, 513, 1000]) {
        const at = times(random, count, step);
        let before = 20;
        const values = Float64Array.from({ length: count }, () => (before = next(random, before)));
        const parts = partsOfNumbers(at, values);
        if (parts.length > 1) inBlocks.add(kind);
        let start = 0;
        const starts = parts.map((part) => (start += part.count) - part.count);
        expect(start).toBe(count);
        for (const [i, from] of [...starts.entries()].toReversed()) {
          const part = parts[i]!;
          const to = from + part.count;
          expectSummary(part, summarize(at, values, from, to));
          part.decode({ timestamps: new Float64Array(part.count), values: new Float64Array(part.count) });
          expectSame(part.columns!, at.slice(from, to), values.slice(from, to));
          expect([part.firstAt, part.lastAt]).toEqual([at[from], at[to - 1]]);
        }
      }
  expect([...inBlocks].toSorted()).toEqual(['a counter that falls', 'integers', 'switches', 'two decimals']);
});

function expectSummary({ summary }: Part, real: NumberSummary | null): void {
  if (summary === null || real === null) return expect(summary).toBe(real);
  const { min, minAt, max, maxAt, first, last, whole, binary } = summary;
  expect({ min, minAt, max, maxAt, first, last }).toEqual({
    min: real.min,
    minAt: real.minAt,
    max: real.max,
    maxAt: real.maxAt,
    first: real.first,
    last: real.last,
  });
  const scale = 1e-12 * Math.max(1, Math.abs(real.max), Math.abs(real.min)) * 1000;
  expect(Math.abs(summary.sum - real.sum)).toBeLessThan(scale);
  expect(Math.abs(summary.rise - real.rise)).toBeLessThan(scale);
  // It may leave unsaid that all of them are whole, but not say so of others.
  expect(whole && !real.whole).toBe(false);
  expect(binary && !real.binary).toBe(false);
}

test('many numbers near 2^40 add up exactly, larger ones are left in one piece', () => {
  const at = Float64Array.from({ length: 600 }, (_, i) => i * 1000);
  const near = Float64Array.from(at, (_, i) => 2 ** 40 - 1 - (i % 300));
  const parts = partsOfNumbers(at, near);
  expect(parts.length).toBe(3);
  parts.forEach((part, i) => expect(part.summary).toEqual(summarize(at, near, i * 256, Math.min(600, i * 256 + 256))));
  expect(
    partsOfNumbers(
      at,
      near.map((value) => value + 1),
    ).length,
  ).toBe(1);
});

test('texts come back with every code point, and so do numbers among them', () => {
  const random = seededRandom(2);
  const all: string[] = [];
  for (let point = 1; point < 0x110000; point += 1) all.push(String.fromCodePoint(point));
  const lone = ['\ud800', 'a\udfff', '', '\0'];
  const long = Array.from({ length: 300 }, (_, i) => all.slice(i * 3714, (i + 1) * 3714).join(''));
  expectSame(
    decode(
      encode(
        times(random, 300, () => 1),
        long,
      ).bytes,
    ),
    times(seededRandom(2), 300, () => 1),
    long,
  );
  for (let round = 0; round < 50; round++) {
    const count = 1 + Math.floor(random() * 500);
    const values = Array.from({ length: count }, (): StoredValue => {
      const kind = random();
      if (kind < 0.3) return ODD[Math.floor(random() * ODD.length)]!;
      if (kind < 0.4) return lone[Math.floor(random() * lone.length)]!;
      if (kind < 0.7) return ['open', 'closed', 'unknown'][Math.floor(random() * 3)]!;
      return all.slice(Math.floor(random() * 1e6), 5).join('') + random();
    });
    values.push('text');
    const at = times(random, count + 1, STEPS['jitter']!);
    const { bytes, summary } = encode(at, values);
    expect(summary).toBeNull();
    expectSame(decode(bytes), at, values);
  }
});

test('the summary is what the values say', () => {
  const at = Float64Array.from([1, 2, 3, 4, 5, 6]);
  expect(encode(at, Float64Array.from([5, 9, 2, 2, 9, 4])).summary).toEqual({
    sum: 31, min: 2, minAt: 3, max: 9, maxAt: 2, first: 5, last: 4, rise: 4 + 2 + 0 + 7 + 4, whole: true, binary: false,
  }); // oxfmt-ignore
  expect(encode(at, Float64Array.from([0, 1, 1, 0, 0, 1])).summary).toMatchObject({
    whole: true,
    binary: true,
    rise: 2,
  });
  expect(encode(at, Float64Array.from([1e16, 1, 1, 1, 1, -1e16])).summary).toMatchObject({ sum: 4 });
  expect(encode(at, Float64Array.from([0, 0.5, 1, 1, 0, 1])).summary).toMatchObject({ whole: false, binary: false });
  // Beyond float64 there is none.
  expect(encode(at, Float64Array.from([1e308, 1e308, 1, 1, 1, 1])).summary).toBeNull();
});

test('minute data with two decimals takes at most 2.5 bytes a value, steady data next to nothing', () => {
  const random = seededRandom(3);
  const bytesPerValue = (next: (random: Random, before: number) => number): number => {
    let before = 20;
    const values = Float64Array.from({ length: 1000 }, () => (before = next(random, before)));
    return encode(times(random, 1000, STEPS['steady']!), values).bytes.length / 1000;
  };
  expect(bytesPerValue(NUMBERS['two decimals']!)).toBeLessThan(1.5);
  expect(bytesPerValue((random) => Math.round(random() * 1e4) / 100)).toBeLessThan(2.5);
  expect(bytesPerValue(NUMBERS['float32']!)).toBeLessThan(4.1);
  expect(bytesPerValue(NUMBERS['any bits']!)).toBeLessThan(8.1);
  expect(bytesPerValue(NUMBERS['constant']!)).toBeLessThan(0.05);
});

/** With the checksum of what stands before it. */
function checked(bytes: Uint8Array): Uint8Array {
  bytes.set(new Uint8Array(Uint32Array.of(crc32(bytes.subarray(0, -4))).buffer), bytes.length - 4);
  return bytes;
}

test('bytes that are damaged, cut or made up throw CorruptChunk and nothing else', () => {
  const random = seededRandom(4);
  const samples = [
    encode(times(random, 500, STEPS['jitter']!), Float64Array.from({ length: 500 }, () => Math.round(random() * 1e4) / 100)),
    encode(times(random, 500, STEPS['steady']!), Float64Array.from({ length: 500 }, () => random())),
    encode(times(random, 500, STEPS['jitter']!), Float64Array.from({ length: 500 }, () => Math.round(random() * 100) / 100)),
    encode(times(random, 100, STEPS['gaps']!), Array.from({ length: 100 }, () => `text ${random()}`)),
  ].map(({ bytes }) => bytes); // oxfmt-ignore
  for (const bytes of samples) {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << Math.floor(random() * 8);
      expect(() => decode(damaged)).toThrow(CorruptChunk);
    }
    for (let length = 0; length < bytes.length; length += 7)
      expect(() => decode(bytes.slice(0, length))).toThrow(CorruptChunk);
  }
  expect(() => decode(new Uint8Array(0))).toThrow('0 bytes');
  expect(() => decode(checked(Uint8Array.of(1, 3, 1, 0, 0, 0, 0, 0)))).toThrow('kind 3');
  expect(() => decode(Uint8Array.of(9, 0, 1, 0, 0, 0, 0, 0))).toThrow('version 9');
});

test('what passes the checksum and is still no chunk ends with CorruptChunk, too, or with as many values as it says', () => {
  const random = seededRandom(5);
  const samples = [
    encode(times(random, 200, STEPS['jitter']!), Float64Array.from({ length: 200 }, () => random())),
    encode(times(random, 300, STEPS['jitter']!), Float64Array.from({ length: 300 }, () => Math.round(random() * 99))),
  ].map(({ bytes }) => bytes); // oxfmt-ignore
  for (let round = 0; round < 40_000; round++) {
    const sample = samples[round % 2]!;
    const bytes = round % 4 < 2 ? sample.slice(0, 6 + Math.floor(random() * 300)) : sample.slice();
    for (let n = 0; n < 4; n++) bytes[1 + Math.floor(random() * (bytes.length - 5))] = Math.floor(random() * 256);
    checked(bytes);
    try {
      const { timestamps, values } = decode(bytes);
      expect(values.length).toBe(timestamps.length);
      for (const part of partsOf(
        { firstAt: 0, lastAt: timestamps.at(-1)!, count: values.length, summary: null },
        bytes,
      )) {
        part.decode({ timestamps: new Float64Array(part.count), values: new Float64Array(part.count) });
        expect(part.columns!.timestamps.at(-1)).toBe(part.lastAt);
      }
    } catch (error) {
      expect(error).toBeInstanceOf(CorruptChunk);
    }
  }
});

test('what is no chunk is refused', () => {
  const one = Float64Array.of(1);
  expect(() => encode(new Float64Array(0), new Float64Array(0))).toThrow(RangeError);
  expect(() => encode(one, Float64Array.of(1, 2))).toThrow(RangeError);
  expect(() => encode(Float64Array.of(1, 1), Float64Array.of(1, 2))).toThrow('ascend');
  expect(() => encode(Float64Array.of(2, 1), Float64Array.of(1, 2))).toThrow('ascend');
  expect(() => encode(Float64Array.of(1.5), one)).toThrow('milliseconds');
  const many = Float64Array.from({ length: MAX_CHUNK_VALUES + 1 }, (_, i) => i);
  expect(() => encode(many, many)).toThrow(RangeError);
  expect(decode(encode(many.subarray(1), many.subarray(1)).bytes).values.length).toBe(MAX_CHUNK_VALUES);
});
