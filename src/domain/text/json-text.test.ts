import { describe, expect, test } from 'vitest';
import { excessOf, outermostOf, parseShallow } from './json-text.ts';

const MEGABYTE = 1_048_576;

/** As many as a megabyte holds. */
function listOf(object: (at: number) => Record<string, unknown>): string {
  const parts: string[] = [];
  for (let [at, length] = [0, 2]; ; at += 1) {
    const part = JSON.stringify(object(at));
    if ((length += part.length + 1) > MEGABYTE) return `[${parts.join()}]`;
    parts.push(part);
  }
}

const keys = (names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, 0]));
const some = (at: number, count: number): string[] => Array.from({ length: count }, (_, i) => `k${at * count + i}`);
const LETTERS = 'abcdefghij'.split('');
/** One of the 3.6 million. */
function orderOf(at: number): string[] {
  const left = [...LETTERS];
  let choice = at;
  return LETTERS.map(() => {
    const among = left.length;
    const [letter] = left.splice(choice % among, 1);
    choice = Math.floor(choice / among);
    return letter!;
  });
}

describe('what makes a text too dear to be parsed', () => {
  test.each([
    ['a key for each object', listOf((at) => keys(some(at, 1)))],
    ['ten for each', listOf((at) => keys(some(at, 10)))],
    [
      'all in one object',
      `{${some(0, 80_000)
        .map((name) => `"${name}":0`)
        .join()}}`,
    ],
    ['the same in many orders', listOf((at) => keys(orderOf(at)))],
    ['with blanks and texts between', listOf((at) => keys(some(at, 4))).replaceAll(':0', '\n : "a:\\"{"')],
    ['behind a mistake', `${listOf((at) => keys(some(at, 10))).slice(0, -1)},NaN,x]`],
  ])('%s', (_, text) => {
    expect(excessOf(text)).toMatch(/^has too many keys; it may have at most 12000 different keys/);
    expect(parseShallow(text, { levels: 500 })).toBeUndefined();
  });

  test('objects and lists', () => {
    const text = (count: number): string => `[${Array.from({ length: count }, () => '{"a":"[{"}').join()}]`;
    expect(excessOf(text(49_999), { nodes: 50_000 })).toBeNull();
    expect(excessOf(text(50_000), { nodes: 50_000 })).toMatch(/^has more than 50000 objects and lists/);
    expect(excessOf(text(50_000))).toBeNull();
  });

  test('levels', () => {
    expect(excessOf('[[[]]]', { levels: 3 })).toBeNull();
    expect(excessOf('[[[{}]]]', { levels: 3 })).toBe('is nested deeper than 3 levels');
    expect(excessOf('["[[[\\"[["]', { levels: 1 })).toBeNull();
  });

  test.each([
    [
      'a full batch',
      JSON.stringify(
        Array.from({ length: 10_000 }, (_, at) => ({ field: 'a', value: at, timestamp: at, unit: 'x', seq: at })),
      ),
    ],
    [
      'as many values as a plain object may have',
      `{${some(0, 10_000)
        .map((name) => `"${name}":0`)
        .join()}}`,
    ],
    ['the same few keys', listOf(() => keys(LETTERS))],
    ['few keys in a few orders', listOf((at) => keys(orderOf(at % 100)))],
    ['long objects that are alike', listOf(() => keys(some(0, 1_000)))],
    ['the same keys at many places', listOf(() => ({ a: { a: [{ a: { b: [] } }] }, b: { a: 1 } }))],
    ['texts that look like keys', JSON.stringify([some(0, 50_000).join('":"')])],
  ])('not: %s', (_, text) => {
    expect(excessOf(text, { levels: 10 })).toBeNull();
    expect(parseShallow(text, { levels: 10 })).toEqual(JSON.parse(text));
  });
});

test('of a text whose inside is too dear the outermost object is read', () => {
  const deep = `${'{"a":['.repeat(50_000)}${']}'.repeat(50_000)}`;
  const text = `{"type" : "a[\\"{", "in":${deep},"list":[[[1]], 2], "id":"x"}`;
  expect(parseShallow(outermostOf(text), {})).toEqual({ type: 'a["{', in: {}, list: [], id: 'x' });
  expect(outermostOf('{"a":1}')).toBe('{"a":1}');
  for (const none of [text.slice(0, -1), `{"id":"x","in":${'['.repeat(50_000)}`, '}}[[[', `${deep}${deep}`])
    expect(parseShallow(outermostOf(none), {})).toBeUndefined();
  // A megabyte of them took the event loop 60 ms.
  expect(outermostOf(`[${'[],'.repeat(300_000)}${deep}]`)).toBe('');
});
