import { SHAPE_LIMITS } from '../../src/graphql/operation/shape-limits.ts';

/** So many fragments of one object that all say so often what validation compares longest. */
export function repeatedIn(fragments: number, times: number): string {
  const parts = Array.from(
    { length: fragments },
    (_, at) => `fragment F${at} on Device { ${'product { devices { edges { cursor } } } '.repeat(times)} }`,
  );
  return `{ device(id: "1") { ${parts.map((_, at) => `...F${at}`).join(' ')} } } ${parts.join(' ')}`;
}

/** Documents that are refused before anything is made of them: too much of what, which limit says so, and the text. */
export const TOO_MUCH: readonly [of: string, limit: string, query: string][] = [
  ['tokens', 'tokens', `{ ${'id '.repeat(SHAPE_LIMITS.tokens)} }`],
  ['a megabyte of text', 'tokens', `{ a(x: [${'[]'.repeat(450_000)}]) }`],
  ['line ends', 'ignored characters', `${'\n'.repeat(70_000)}{ a }`],
  ['comments', 'ignored characters', `${'#\n'.repeat(500_000)}{ a }`],
  ['one comment', 'ignored characters', `{ a } #${'"'.repeat(1_000_000)}`],
  ['blanks and commas', 'ignored characters', `{ a${' ,\t\ufeff'.repeat(20_000)} }`],
  ['lines of a string', 'ignored characters', `{ a(x: """${'\n'.repeat(900_000)}""") }`],
  ['depth', 'depth', `${'{ a '.repeat(16)}${'}'.repeat(16)}`],
  [
    'depth through fragments',
    'depth',
    `{ a { a { a { a { a { a { a { a { ...F } } } } } } } } } fragment F on X { b { b { b { b { b { b { b { b } } } } } } } }`,
  ],
  [
    'depth in a fragment that no operation uses',
    'depth',
    `{ a } fragment F on X ${'{ a '.repeat(16)}${'}'.repeat(16)}`,
  ],
  ['root fields', 'root fields', `{ ${Array.from({ length: 51 }, (_, i) => `f${i}`).join(' ')} }`],
  ['aliases', 'aliases', `{ a { ${Array.from({ length: 31 }, (_, i) => `f${i}: x${i}`).join(' ')} } }`],
  ['the same field under many names', 'equal fields', `{ a { x ${'bcd'.replace(/./g, '$&: x ')} } }`],
  ['the same fields in many fragments', 'field comparisons', repeatedIn(30, 10)],
  [
    'the same fields in fragments that no operation uses',
    'field comparisons',
    repeatedIn(30, 10).replace('{ device(id: "1") {', '{ a } fragment All on X { b {'),
  ],
  [
    'fragments that lead to each other',
    'field comparisons',
    `{ ...F0 } ${Array.from({ length: 99 }, (_, at) => `fragment F${at} on X { ${Array.from({ length: 10 }, (__, to) => `...F${(at * 7 + to * 13) % 99}`).join(' ')} }`).join(' ')}`,
  ],
  [
    'fields of many operations',
    'field comparisons',
    `${Array.from({ length: 18 }, (_, at) => `query Q${at} { ${Array.from({ length: 40 }, (__, of) => `a${of} { ...F }`).join(' ')} }`).join(' ')} fragment F on X { ${Array.from({ length: 70 }, (_, at) => `f${at}`).join(' ')} }`,
  ],
  ['directives', 'directives', `{ a ${'@x '.repeat(101)} }`],
  ['fragments', 'fragments', `{ a } ${Array.from({ length: 101 }, (_, i) => `fragment F${i} on X { a }`).join(' ')}`],
  ['the same field again and again', 'repeated fields', `{ ${'a '.repeat(21)} }`],
  ['the same field in inline fragments', 'repeated fields', `{ ${'... on X { a } '.repeat(21)} }`],
  [
    'fields after expansion',
    'fields',
    `{ ${Array.from({ length: 40 }, (_, i) => `a${i} { ...F }`).join(' ')} } fragment F on X { ${Array.from({ length: 90 }, (_, i) => `f${i}`).join(' ')} }`,
  ],
  [
    'a bomb of fragments',
    'root fields',
    `{ ...F0 } ${Array.from({ length: 60 }, (_, i) => `fragment F${i} on Query { ...F${i + 1} ...F${i + 1} }`).join(' ')} fragment F60 on Query { a }`,
  ],
];
