import { describe, expect, test } from 'vitest';
import { parametersIn } from '../../src/domain/text/form-text.ts';
import { credentialsIn, secretMask } from '../../src/domain/decoders/call-secrets.ts';
import { runText } from '../../src/domain/calls/run-text.ts';
import { entryOf } from '../../src/domain/lines/line-entries.ts';
import { CsvReader } from '../../src/domain/transfer/csv-reader.ts';
import { LineReader } from '../../src/domain/transfer/line-reader.ts';
import { parseJson } from '../../src/domain/text/parse-json.ts';
import { expectAsFast, leastMs } from './reference.ts';

describe('texts that are sent to take long', () => {
  test.each(['NaN,', '[NaN],', '{"a":NaN},', '-Infinity,'])('a body with a megabyte of %s is refused', (piece) => {
    const text = `[${piece.repeat(1_000_000 / piece.length)}NaN]`;
    // A fifth of it when each became a text, and was looked for in what came of that.
    expectAsFast(
      `a megabyte of ${piece}`,
      leastMs(() => expect(() => parseJson(text)).toThrow('NaN or Infinity')),
    );
  });

  test('a mistake at the end of a megabyte is found', () => {
    const text = `[${'0,'.repeat(500_000)}NaN,x]`;
    // Parsed twice and gone through with regular expressions it took six times as long.
    expectAsFast(
      'a mistake behind a megabyte',
      leastMs(() => expect(() => parseJson(text)).toThrow('position 1000005')),
    );
  });

  test('names of a form without a value take no longer than others', () => {
    const [without, others] = ['a&', 'a=&'].map((name) => leastMs(() => parametersIn(name.repeat(131_072))));
    // By the square a hundred times.
    expect(without).toBeLessThan(4 * others!);
  });

  test('what is no UTF-8 in it takes a part of what it takes Node', () => {
    const text = 'a=%ff&'.repeat(10_000);
    expect(leastMs(() => parametersIn(text))).toBeLessThan(0.5 * leastMs(() => new URLSearchParams(text)));
  });

  test.each([
    ['a line', new LineReader(), `€${'x'.repeat(250_000)}`],
    ['a CSV', new CsvReader(), `€${'x'.repeat(240_000)}`],
    ['cells in quotes', new CsvReader(), `"€"${',"x"'.repeat(1_500)},${'x'.repeat(240_000)}`],
    ['quotes in quotes', new CsvReader(), `"€${'""'.repeat(125_000)}`],
  ])('behind a long beginning of %s small pieces cost no more than others', (name, reader, begin) => {
    const pieces = [begin, ...Array<string>(10_000).fill('y')];
    expectAsFast(
      `small pieces of ${name}`,
      leastMs(() => pieces.forEach((piece) => [...reader.read(piece)]), 1),
    );
  });

  test('each field of a line with a long measurement costs no more than with one that is a little too long', () => {
    const [long, short] = [60_000, 70].map((length) => {
      const measurement = 'm'.repeat(length);
      const line = { number: 1, measurement, tags: new Map([['device', 'x']]), fields: [], time: null };
      return leastMs(() => {
        for (let nth = 0; nth < 10_000; nth += 1)
          entryOf(line, ['a', 1], { by: ['device'], has: () => false, timestamp: undefined });
      });
    });
    // Joined with each of them it took a hundred times as long.
    expect(long).toBeLessThan(4 * short!);
  });

  test('many blanks in a credential', () => {
    const value = `a${'\u00a0'.repeat(16_000)}`;
    const found = leastMs(() => {
      for (let times = 0; times < 2_000; times += 1) credentialsIn([['X-Token', value]]);
    });
    expectAsFast('credentials of many blanks', found);
  });

  test('many long credentials in a long run', () => {
    const cookies = Array.from({ length: 800 }, (_, at) => `c${at}=${'a'.repeat(12)}${at}`).join('; ');
    const run = {
      output: JSON.stringify(['b'.repeat(500_000), 'a'.repeat(500_000)]),
      console: ['a'.repeat(60_000), ...Array.from({ length: 7_000 }, (_, at) => `aaaaaaa${at % 10}`)],
      error: null,
      durationMs: 1,
      entries: [],
      answer: null,
    };
    const masked = leastMs(() => runText(run, secretMask(credentialsIn([['Cookie', cookies]]))));
    expectAsFast('many credentials in a long run', masked);
  });
});
