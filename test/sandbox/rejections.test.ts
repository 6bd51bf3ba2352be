import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool, valueOf } from './pool.ts';

/**
 * isolated-vm reads what a promise was rejected with outside of any call, in a context of its own: getters of it run there.
 */
const ended: unknown[] = [];
let pool: DecoderPool;
beforeAll(() => {
  pool = startPool({ log: (_level, _message, facts) => ended.push(facts) });
});
afterAll(() => pool.stop());

describe('what a promise was rejected with and nobody caught', () => {
  test('fails its own call, and none after it', async () => {
    const source = `function make() { return { get message() { Promise.reject(make()); return 'left behind' } } }
      function Decoder() { Promise.reject(make()); return []; }`;
    for (let call = 0; call < 3; call += 1) {
      const { error } = await pool.run(jobOf(source));
      expect(error).toMatchObject({ kind: 'THREW', message: expect.stringContaining('left behind') });
      for (let next = 0; next < 3; next += 1) expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
    }
  });

  test('keeps nothing for the next call where its getters run', async () => {
    const source = `function Decoder() {
      var get = new Proxy(function () {}, { apply: function (target, self, args) {
        return 'before: ' + args.constructor.constructor('var b = globalThis.kept; globalThis.kept = 1; return b')();
      } });
      Promise.reject(Object.defineProperty({}, 'message', { get: get }));
      return [];
    }`;
    for (let call = 0; call < 3; call += 1) {
      const { error } = await pool.run(jobOf(source));
      expect(error?.message).toContain('before: undefined');
    }
  });

  test('may be anything, and ends no process', async () => {
    for (const reason of ['null', 'undefined', '1n', 'Symbol()', '{}', '{ get message() { Promise.reject(null) } }']) {
      const body = `Promise.reject(${reason}); return [];`;
      await expect(valueOf(pool, body, { productId: reason }), reason).rejects.toThrow('THREW: ');
    }
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
    expect(ended).toEqual([]);
  });
});
