import { describe, expect, test } from 'vitest';
import { jsonBeginning } from './json-beginning.ts';

const VALUE = [
  { a: [1, { b: 'x"\n' }, [], {}, null], c: true },
  'text',
  -0.5,
  [[['deep']]],
  JSON.parse('{"__proto__":1}'),
];

describe('the beginning of a JSON text', () => {
  test('is that of the whole text, however long', () => {
    const whole = JSON.stringify(VALUE);
    for (let characters = 0; characters < whole.length + 2; characters += 1) {
      const text = jsonBeginning(VALUE, characters);
      expect(text.slice(0, characters)).toBe(whole.slice(0, characters));
      if (characters > whole.length) expect(text).toBe(whole);
    }
  });

  test.each([null, 1, 'text', true, {}, []])('of %j is all', (value) => {
    expect(jsonBeginning(value, 1_000)).toBe(JSON.stringify(value));
  });

  test('looks no further', () => {
    const never = {
      get value(): never {
        throw new Error('looked');
      },
    };
    expect(jsonBeginning(['x'.repeat(20), never], 10)).toMatch(/^\["x{20}"/);
    expect(jsonBeginning({ a: 'x'.repeat(20), never }, 10)).toMatch(/^{"a":"x{20}"/);
  });
});
