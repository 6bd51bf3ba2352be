import { describe, expect, test } from 'vitest';
import { readEntries, readUplinkEntries, shownOutput } from '../../src/domain/decoders/decoder-output.ts';

const entriesOf = (output: unknown) => readEntries(JSON.stringify(output));
const uplinkOf = (output: unknown) => readUplinkEntries(JSON.stringify(output));
const shown = (read: ReturnType<typeof readEntries>) => read.entries.map((entry) => entry.shown);

describe('what a webhook decoder returned', () => {
  test.each([null, [], [null, null], { $inlet: 'undefined' }])('%j is nothing to store', (output) => {
    expect(entriesOf(output)).toEqual({ entries: [], error: null });
  });

  test('a single object counts as one entry', () => {
    expect(shown(entriesOf({ device: 'a', field: 'F', value: 1 }))).toEqual([{ device: 'a', field: 'F', value: 1 }]);
  });

  test('skipped elements keep the positions of the others', () => {
    const { entries } = entriesOf([null, { field: 'A' }, { $inlet: 'undefined' }, 7]);
    expect(entries.map(({ index, shown: element }) => [index, element])).toEqual([
      [1, { field: 'A' }],
      [3, 7],
    ]);
  });

  test.each([3, 'text', true, { $inlet: 'function' }, { $inlet: 'bigint:5' }])('%j is BAD_OUTPUT', (output) => {
    expect(entriesOf(output).error).toMatchObject({ kind: 'BAD_OUTPUT' });
  });

  test('10,000 entries pass and one more does not', () => {
    const list = Array.from({ length: 10_001 }, () => ({ field: 'F' }));
    expect(entriesOf(list.slice(1)).entries).toHaveLength(10_000);
    expect(entriesOf(list).error).toMatchObject({ kind: 'BAD_OUTPUT', message: expect.stringContaining('10000') });
  });

  test('values that JSON cannot say are checked as themselves and shown as text', () => {
    const output = ['NaN', 'Infinity', '-Infinity', 'symbol', 'function', 'cyclic', 'bigint:12', 'undefined'];
    const { entries } = entriesOf(output.map((name) => ({ field: 'F', value: { $inlet: name } })));
    const values = entries.map(({ entry }) => (entry as { value: unknown }).value);
    expect(values.slice(0, 3)).toEqual([Number.NaN, Infinity, -Infinity]);
    expect(values.slice(3).map((value) => typeof value)).toEqual([
      'symbol',
      'function',
      'object',
      'bigint',
      'undefined',
    ]);
    expect((entries[6]!.shown as { value: unknown }).value).toBe('12n');
    expect((entries[0]!.shown as { value: unknown }).value).toBe('NaN');
  });

  test('a forged marker with a million digits costs nothing', () => {
    const started = performance.now();
    entriesOf([{ field: 'F', value: { $inlet: `bigint:${'9'.repeat(1_000_000)}` } }]);
    expect(performance.now() - started).toBeLessThan(500);
  });

  test('an object that only has a key $inlet among others is no marker', () => {
    expect(shownOutput({ $inlet: 'NaN', more: 1 })).toEqual({ $inlet: 'NaN', more: 1 });
    expect(shownOutput([{ deep: [{ $inlet: 'NaN' }] }])).toEqual([{ deep: ['NaN'] }]);
  });
});

describe("what a native network's decoder returned", () => {
  test("decodeUplink's data becomes one entry for each key", () => {
    expect(shown(uplinkOf({ data: { T: 21.5, H: 0, note: null }, warnings: ['low'] }))).toEqual([
      { field: 'T', value: 21.5 },
      { field: 'H', value: 0 },
    ]);
  });

  test('a plain object is taken as it is, also with a key called data', () => {
    expect(shown(uplinkOf({ T: 1, data: 5 }))).toEqual([
      { field: 'T', value: 1 },
      { field: 'data', value: 5 },
    ]);
  });

  test('entries without a device, one or many, stay entries', () => {
    expect(shown(uplinkOf([{ field: 'T', value: 1, timestamp: 5 }]))).toEqual([{ field: 'T', value: 1, timestamp: 5 }]);
    expect(shown(uplinkOf({ field: 'T', value: 1 }))).toEqual([{ field: 'T', value: 1 }]);
    expect(shown(uplinkOf({ data: [{ field: 'T', value: 1 }] }))).toEqual([{ field: 'T', value: 1 }]);
  });

  test('errors are a failure with their texts', () => {
    expect(uplinkOf({ errors: ['unknown FPort', 'too short'] }).error).toMatchObject({
      kind: 'THREW',
      message: 'unknown FPort; too short',
    });
    expect(uplinkOf({ data: {}, errors: [], warnings: [] })).toEqual({ entries: [], error: null });
  });

  test('data is taken whatever stands beside it; errors win over data', () => {
    expect(shown(uplinkOf({ data: { T: 1 }, model: 'x' }))).toEqual([{ field: 'T', value: 1 }]);
    expect(uplinkOf({ data: { T: 1 }, errors: ['no'] }).error).toMatchObject({ kind: 'THREW', message: 'no' });
    expect(shown(uplinkOf({ errors: 3 }))).toEqual([{ field: 'errors', value: 3 }]);
  });

  test('nothing is nothing, and a number is BAD_OUTPUT', () => {
    expect(uplinkOf(null)).toEqual({ entries: [], error: null });
    expect(uplinkOf({ data: null })).toEqual({ entries: [], error: null });
    expect(uplinkOf(5).error).toMatchObject({ kind: 'BAD_OUTPUT' });
  });
});
