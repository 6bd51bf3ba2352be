import { expect, test, vi } from 'vitest';
import { CsvReader, type CsvRecord } from './csv-reader.ts';

function read(text: string, size = text.length): CsvRecord[] {
  const reader = new CsvReader();
  const records: CsvRecord[] = [];
  for (let at = 0; at < text.length; at += size) records.push(...reader.read(text.slice(at, at + size)));
  return [...records, ...reader.end()];
}

const TEXT = '\uFEFFa,b\r\n\n"1,5","say ""hi""\nand go"\r\n,\n"",\uFEFFx\n7" pipe,b\nlast,"one"';

test.each([1, 2, 3, 7, 1_000])('records are the same however the text is cut (%i characters at a time)', (size) => {
  expect(read(TEXT, size)).toEqual([
    { line: 1, cells: ['a', 'b'], quoted: [] },
    { line: 3, cells: ['1,5', 'say "hi"\nand go'], quoted: [true, true] },
    { line: 5, cells: ['', ''], quoted: [] },
    // A mark counts at the begin of the file alone.
    { line: 6, cells: ['', '\uFEFFx'], quoted: [true, false] },
    // A quote inside a cell is a character; this record has one, so each cell is looked at.
    { line: 7, cells: ['7" pipe', 'b'], quoted: [false, false] },
    { line: 8, cells: ['last', 'one'], quoted: [false, true] },
  ]);
});

const OTHERS = '\uFEFF\n# logger; 2\r\n\r\nsep=;\n\n#x\n"a, b";timestamp\n1,5;"x;y\nz"\n;\n';

test.each([1, 2, 3, 7, 1_000])('comments, empty lines and sep= come before the headings (%i characters)', (size) => {
  expect(read(OTHERS, size)).toEqual([
    { line: 7, cells: ['a, b', 'timestamp'], quoted: [true, false] },
    { line: 8, cells: ['1,5', 'x;y\nz'], quoted: [false, true] },
    { line: 10, cells: ['', ''], quoted: [] },
  ]);
});

test.each([
  ['timestamp,a;b;c', ['timestamp', 'a;b;c']],
  ['a,b;Timestamp', ['a,b', 'Timestamp']],
  ['"a;b;c",d', ['a;b;c', 'd']],
  ['a\tb', ['a', 'b']],
  ['a;b\tc;d', ['a', 'b\tc', 'd']],
  ['a', ['a']],
])('what stands between cells is told by the headings: %s', (line, cells) => {
  expect(read(line)[0]!.cells).toEqual(cells);
  expect(read(`${line}\n`)[0]!.cells).toEqual(cells);
});

test('a file of empty lines and comments has no record', () => {
  expect(read('')).toEqual([]);
  expect(read('\n\r\n#\n   \nsep=;\n# x')).toEqual([]);
  expect(() => read(`#${'x'.repeat(262_144)}\na\n`)).toThrow('Line 1 is longer than 262144 characters');
});

test('a carriage return belongs to the line break, also at the end of the file', () => {
  expect(read('a\r\n\r\nb\r').map(({ cells }) => cells)).toEqual([['a'], ['b']]);
});

test('a comma at the end of a record with quotes is one more empty cell', () => {
  expect(read('"a",\n"b",c,')).toEqual([
    { line: 1, cells: ['a', ''], quoted: [true, false] },
    { line: 2, cells: ['b', 'c', ''], quoted: [true, false, false] },
  ]);
});

test('what is no CSV is refused by its line', () => {
  expect(() => read('a\n"b"c,d\n')).toThrow('Line 2: expected a comma behind the closing quote, got "c,d".');
  expect(() => read('a\n"b\nc')).toThrow('Line 2: a quote is left open.');
  expect(() => read(`a\n"${'x'.repeat(262_144)}`)).toThrow('Line 2 is longer than 262144 characters');
  expect(read(`a\n${'x'.repeat(262_144)}`)).toHaveLength(2);
});

test('a record is no longer however the text is cut', () => {
  expect(() => read(`a\n${'x'.repeat(262_145)}\n`)).toThrow('Line 2 is longer than 262144 characters');
});

test('a record has at most 2,000 cells, with quotes or without', () => {
  expect(read(`${','.repeat(1_999)}\n`)[0]!.cells).toHaveLength(2_000);
  expect(read(`${'"",'.repeat(1_999)}\n`)[0]!.cells).toHaveLength(2_000);
  expect(() => read(`x\n${','.repeat(2_000)}\n`)).toThrow('Line 2: more than 2000 columns.');
  expect(() => read(`"x"${','.repeat(2_000)}\n`)).toThrow('Line 1: more than 2000 columns.');
});

test.each(['"",', ',', 'x,'])('one that has more is refused before it ends (%s)', (cell) => {
  expect(() => [...new CsvReader().read(`x\n${cell.repeat(2_000)}`)]).toThrow('Line 2: more than 2000 columns.');
});

test.each([
  ['cells in quotes', `"€"${',"x"'.repeat(150)},${'x'.repeat(24_000)}`],
  ['quotes in quotes', `"€${'""'.repeat(12_500)}`],
  ['a line', `€${'x'.repeat(24_000)}`],
])('each character is looked at once, however small the pieces (%s)', (_, begin) => {
  const reader = new CsvReader();
  const pieces = [begin, ...Array<string>(1_000).fill('y')];
  for (const record of reader.read('device,value\n')) expect(record.line).toBe(1);
  const looks = vi.spyOn(String.prototype, 'charCodeAt');
  try {
    for (const piece of pieces) for (const record of reader.read(piece)) throw record;
    expect(looks).toHaveBeenCalledTimes(begin.length + 1_000);
  } finally {
    looks.mockRestore();
  }
});
