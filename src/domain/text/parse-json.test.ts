import { expect, test, vi } from 'vitest';
import type { Bounds } from './json-text.ts';
import { AppError } from '../../errors.ts';
import { parseJson } from './parse-json.ts';

/** Place of the mistake; null: there is none. */
function mistakeIn(text: string): unknown {
  try {
    parseJson(text);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.code).toBe('INVALID_JSON');
    return error.details;
  }
}

test('the place of the mistake, not that of what is forgiven before it', () => {
  expect(mistakeIn('[\n1,NaN,\n x]')).toEqual({ position: 10, line: 3, column: 2 });
  expect(mistakeIn('[1,-Infinity')).toEqual({ position: 12, line: 1, column: 13 });
  expect(mistakeIn('{"a":NaNs}')).toMatchObject({ position: 5 });
  expect(mistakeIn('[01]')).toMatchObject({ position: 2 });
  expect(mistakeIn('["a\\x"]')).toMatchObject({ position: 1 });
  expect(mistakeIn('{"a" 1}')).toMatchObject({ position: 5 });
  expect(mistakeIn('[1]]\0')).toMatchObject({ position: 3 });
  expect(mistakeIn('')).toMatchObject({ position: 0 });
});

test('what is forgiven', () => {
  expect(parseJson('[{"a":NaN,"b":"NaN","c":{"d":-Infinity}},Infinity]\0\0\n')).toEqual([
    { a: Number.NaN, b: 'NaN', c: { d: '\ud800'.repeat(7) } },
    Infinity,
  ]);
  expect(parseJson(' "a"\0')).toBe('a');
  expect(parseJson('NaN')).toBeNaN();
  expect(Object.entries(parseJson('{"__proto__":NaN}') as object)).toEqual([['__proto__', Number.NaN]]);
});

test('numbers and words are what JSON takes for them, also behind NaN', () => {
  for (const value of ['-0', '0', '10', '-1.50', '0.0e0', '1E+9', '7e-3', 'true', 'false', 'null'])
    expect(parseJson(`[NaN,${value}]`)).toEqual([Number.NaN, JSON.parse(value)]);
  for (const wrong of ['-', '01', '1.', '.5', '1.e3', '1e', '1e+', '+1', '1a', '1_', '1-', '--1', 'nul', 'nulls', 'True', 'NaN1', '-NaN', '+Infinity', 'Infinity_'])
    expect((mistakeIn(`[NaN,${wrong}]`) as { position: number }).position).toBeGreaterThanOrEqual(5); // oxfmt-ignore
});

test('a mistake at the end of a megabyte is found in one go', () => {
  const text = `[${'0,'.repeat(500_000)}NaN,x]`;
  const parsing = vi.spyOn(JSON, 'parse');
  expect(mistakeIn(text)).toMatchObject({ position: 1_000_005 });
  // How fast that is `test/timed/texts.test.ts` sees.
  expect(parsing).toHaveBeenCalledTimes(1);
  parsing.mockRestore();
});

test('a string that is left open is passed once, whatever is in it', () => {
  expect(mistakeIn(`[NaN,"${'\\"'.repeat(500_000)}`)).toMatchObject({ position: 5 });
});

test('a mistake behind very many brackets is one', () => {
  expect(refusalOf(`${'['.repeat(30_000)}x`)).toMatchObject({ code: 'INVALID_BODY' });
});

const refusalOf = (text: string, bounds?: Bounds): unknown => {
  try {
    return parseJson(text, bounds);
  } catch (error) {
    return error;
  }
};

test.each(['NaN,', '[NaN],', '{"a":NaN},', '-Infinity,'])('a megabyte of %s is refused before it is read', (piece) => {
  const text = `[${piece.repeat(1_000_000 / piece.length)}NaN]`;
  const parsing = vi.spyOn(JSON, 'parse');
  expect(refusalOf(text)).toMatchObject({ code: 'INVALID_BODY', details: { limit: 30_000 } });
  expect(parsing).not.toHaveBeenCalled();
  parsing.mockRestore();
});

test('as many as full batches have are read', () => {
  const text = `[${'[NaN,-Infinity,Infinity],'.repeat(9_999)}[NaN,NaN,NaN]]`;
  expect(parseJson(text, { entries: 10_000 })).toHaveLength(10_000);
  expect(refusalOf(text.replace('NaN', 'NaN,NaN'))).toMatchObject({ code: 'INVALID_BODY' });
});

test('too many entries are noticed before they are parsed', () => {
  const parsing = vi.spyOn(JSON, 'parse');
  const tooMany = { code: 'TOO_MANY_ENTRIES', details: { limit: 10_000 } };
  expect(refusalOf(` [${'[],'.repeat(340_000)}[]]`, { entries: 10_000 })).toMatchObject(tooMany);
  expect(parsing).not.toHaveBeenCalled();
  parsing.mockRestore();
  expect(refusalOf(`[${'0,'.repeat(10_000)}0]`, { entries: 10_000 })).toMatchObject(tooMany);
  expect(refusalOf(`[${'[0,0,{}],'.repeat(10_000)}0]`, { entries: 10_000 })).toMatchObject(tooMany);
  expect(parseJson(`[${'[0,0,{}],'.repeat(9_999)}0]`, { entries: 10_000 })).toHaveLength(10_000);
  expect(parseJson(`{"a":[${'0,'.repeat(50_000)}0],"b":0,"c":0}`, { entries: 1 })).toHaveProperty('c', 0);
  expect(parseJson(`["${','.repeat(70_000)}"]`, { entries: 1 })).toHaveLength(1);
});
