import { expect, test } from 'vitest';
import { readTraced, traceConsole } from './traced-console.ts';

function printedBy(source: string): string[] {
  const lines: string[] = [];
  const print = (...values: unknown[]): void => void lines.push(values.join(' '));
  // eslint-disable-next-line typescript/no-implied-eval
  new Function('console', traceConsole(source).source)({ log: print, warn: print, assert: print });
  return readTraced(lines).map(({ text, line }) => `${line}: ${text}`);
}

test('each line that was printed knows the line that printed it', () => {
  expect(
    printedBy(`console.log('a', 1)\nconsole\n  .warn('b')\nif (true) console.log('c'), console.log('d');`),
  ).toEqual(['1: a 1', 'null: b', '4: c', '4: d']);
  // The arguments may print themselves.
  expect(printedBy(`function f() {\n  console.log('inner');\n  return 2;\n}\nconsole.log('outer', f());`)).toEqual([
    '2: inner',
    '5: outer 2',
  ]);
  expect(printedBy(`// console.log('no')\nvar s = "console.log('no')";\nconsole.log(s)`)).toEqual([
    `3: console.log('no')`,
  ]);
});

test('a column of the traced source leads back to the one that was written', () => {
  const source = `console.log(1); console.log(2); oops();\nnext();`;
  const traced = traceConsole(source);
  const [first = ''] = traced.source.split('\n');
  expect(traced.columnOf(1, first.indexOf('oops') + 1)).toBe(source.indexOf('oops') + 1);
  expect(traced.columnOf(1, first.indexOf('(2)') + 1)).toBe(source.indexOf('(2)') + 1);
  expect(traced.columnOf(1, 1)).toBe(1);
  expect(traced.columnOf(2, 3)).toBe(3);
});
