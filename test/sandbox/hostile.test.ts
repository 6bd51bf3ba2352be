import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { GOOD, GOOD_OUTPUT, jobOf, outputOf, startPool } from './pool.ts';

let pool: DecoderPool;
/** Ends sooner what only its time ends. */
let quick: DecoderPool;
beforeAll(async () => {
  pool = startPool();
  quick = startPool({ timeoutMs: 60 });
  for (const one of [pool, quick]) outputOf(await one.run(jobOf(GOOD, { productId: 'good' })));
});
afterAll(() => Promise.all([pool.stop(), quick.stop()]));

const ENDED = ['TIMEOUT', 'OUT_OF_MEMORY'];
const MEMORY = ['OUT_OF_MEMORY', 'TIMEOUT', 'THREW'];

/** Kinds: the first is what is expected; a slow machine may end the run for the next reason before it gets there. */
const hostile: [name: string, source: string, kinds: string[]][] = [
  ['an endless loop at top level', 'for (;;);', ['TIMEOUT']],
  ['an endless loop in Decoder', 'function Decoder() { for (;;); }', ['TIMEOUT']],
  ['an endless loop in a script', 'this.x = 1; function Decoder() { for (;;); }', ['TIMEOUT']],
  ['a getter', 'function Decoder() { return [{get value() { for (;;); }}] }', ['TIMEOUT']],
  ['toJSON', 'function Decoder() { return [{toJSON: function () { for (;;); }}] }', ['TIMEOUT']],
  ['message of what is thrown', 'function Decoder() { throw {get message() { for (;;); }} }', ['TIMEOUT']],
  ['stack of what is thrown', 'function Decoder() { throw {get stack() { for (;;); }} }', ['TIMEOUT']],
  [
    'stack of an error',
    `function Decoder() { var e = new Error('x'); Object.defineProperty(e, 'stack', {get: function () { for (;;); }}); throw e }`,
    ['TIMEOUT'],
  ],
  ['toString of what is printed', 'function Decoder() { console.log({get a() { for (;;); }}) }', ['TIMEOUT']],
  [
    'a trap of the returned array',
    'function Decoder() { return new Proxy([], {get: function () { for (;;); }}) }',
    ['TIMEOUT'],
  ],
  [
    'a trap that has ever more keys',
    'function Decoder() { return [new Proxy({}, {getPrototypeOf: function () { for (;;); }})] }',
    ['TIMEOUT'],
  ],
  [
    'a prototype chain without end',
    'function Decoder() { var p = new Proxy({}, {getPrototypeOf: function () { return p }}); return [p] }',
    ['TIMEOUT', 'OK'],
  ],
  ['then', 'function Decoder() { return {get then() { for (;;); }} }', ['TIMEOUT']],
  [
    'prepareStackTrace',
    'function Decoder() { Error.prepareStackTrace = function () { for (;;); }; new Error("x").stack }',
    ['TIMEOUT'],
  ],
  [
    'microtasks without end',
    'function Decoder() { (function f() { Promise.resolve().then(f) })(); return [] }',
    ['TIMEOUT'],
  ],
  ['an async loop', 'async function Decoder() { for (;;) await null }', ['TIMEOUT']],
  ['finally', 'function Decoder() { for (;;) { try { for (;;); } finally { continue } } }', ['TIMEOUT']],
  ['a generator without end', 'function Decoder() { return [...(function* () { for (;;) yield 1 })()] }', ENDED],
  [
    'a catastrophic regular expression',
    `function Decoder() { return [/^(a+)+$/.test('a'.repeat(60) + 'b')] }`,
    ['TIMEOUT'],
  ],
  ['deep recursion', 'function Decoder() { return [Decoder()] }', ['THREW']],
  [
    'deep recursion through toJSON',
    'function Decoder() { function make() { return {toJSON: function () { return {o: make()} }} } return [make()] }',
    ['BAD_OUTPUT'],
  ],
  ['deep recursion through a getter', 'function Decoder() { var o = {get a() { return o.a }}; return [o] }', ['THREW']],
  [
    'recursion that catches',
    'function Decoder() { function f() { try { f() } finally { f() } } f() }',
    ['TIMEOUT', 'THREW'],
  ],
  ['a growing Map', 'function Decoder() { var m = new Map(); for (var i = 0; ; i++) m.set(i, i) }', MEMORY],
  ['a growing Set of objects', 'function Decoder() { var m = new Set(); for (;;) m.add({a: [1, 2, 3]}) }', MEMORY],
  ['object keys', 'function Decoder() { var o = {}; for (var i = 0; ; i++) o["key" + i] = i }', MEMORY],
  ['a growing string', 'function Decoder() { var s = "x"; for (;;) s += s }', ['THREW', ...MEMORY]],
  [
    'flattened strings',
    'function Decoder() { var a = []; for (var i = 0; ; i++) a.push(JSON.stringify("x".repeat(1e6) + i)) }',
    MEMORY,
  ],
  ['a growing array', 'function Decoder() { var a = []; for (;;) a.push(new Array(1000).fill(1.5)) }', MEMORY],
  ['one large array', 'function Decoder() { return new Array(5e7).fill(0) }', MEMORY],
  ['typed arrays', 'function Decoder() { var a = []; for (;;) a.push(new Uint8Array(1e7).fill(1)) }', MEMORY],
  ['array buffers', 'function Decoder() { var a = []; for (;;) a.push(new ArrayBuffer(1e8)) }', MEMORY],
  [
    'a resizable buffer',
    'function Decoder() { var a = []; for (;;) { var b = new ArrayBuffer(1, {maxByteLength: 1e8}); b.resize(1e8); new Uint8Array(b).fill(1); a.push(b) } }',
    MEMORY,
  ],
  ['BigInt squaring', 'function Decoder() { var a = 3n; for (;;) a *= a }', [...ENDED, 'THREW']],
  ['BigInt to text', 'function Decoder() { return [(7n ** 3000000n).toString().length] }', [...ENDED, 'OK']],
  ['a spread gigabyte', `function Decoder() { return [...'.'.repeat(1e9)] }`, ['THREW', ...MEMORY]],
  ['a spread long string', `function Decoder() { return [...'.'.repeat(5e8)] }`, MEMORY],
  ['a string of half a gigabyte', `function Decoder() { return ['.'.repeat(5e8)] }`, ['BAD_OUTPUT']],
  [
    'a key of half a gigabyte',
    `function Decoder() { var o = {}; o['.'.repeat(5e8)] = 1; return [o] }`,
    ['BAD_OUTPUT', ...MEMORY],
  ],
  [
    'ten million entries',
    'function Decoder() { var a = []; for (var i = 0; i < 1e7; i++) a.push(i); return a }',
    ['BAD_OUTPUT', ...MEMORY],
  ],
  ['a sparse array', 'function Decoder() { var a = []; a.length = 4294967295; return a }', ['BAD_OUTPUT']],
  ['a nested sparse array', 'function Decoder() { var a = []; a.length = 4294967295; return [a] }', ['BAD_OUTPUT']],
  [
    'an exponential object',
    'function Decoder() { var a = [1]; for (var i = 0; i < 60; i++) a = [a, a]; return a }',
    ['BAD_OUTPUT', 'TIMEOUT'],
  ],
  [
    'a million console lines',
    'function Decoder() { for (var i = 0; i < 1e6; i++) console.log("line"); return [] }',
    ['OK', 'TIMEOUT'],
  ],
  [
    'a console line of half a gigabyte',
    `function Decoder() { console.log('x'.repeat(5e8), {a: 'y'.repeat(5e8)}); return [] }`,
    ['OK'],
  ],
  ['a huge error message', `function Decoder() { throw new Error('x'.repeat(5e8)) }`, ['THREW', ...MEMORY]],
  [
    'sorting with a comparator that grows',
    'function Decoder() { var a = [3, 2, 1]; for (;;) a.sort(function () { a.push(a.slice()); return 1 }) }',
    MEMORY,
  ],
  ['a promise that never settles', 'async function Decoder() { await new Promise(function () {}) }', ['BAD_OUTPUT']],
  [
    'message of a rejected promise',
    'function Decoder() { Promise.reject({get message() { for (;;); }}); return [] }',
    ['TIMEOUT'],
  ],
  [
    'stack of a rejected promise',
    'function Decoder() { var e = new Error(); Object.defineProperty(e, "stack", {get: function () { for (;;); }}); Promise.reject(e); return [] }',
    ['TIMEOUT'],
  ],
  [
    'a rejected promise that pretends',
    'function Decoder() { Promise.reject(new Error("Script execution timed out.")); return [] }',
    ['THREW'],
  ],
  ['many promises', 'async function Decoder() { var a = []; for (;;) a.push(new Promise(function () {})) }', MEMORY],
  [
    'a padded string',
    `function Decoder() { var a = []; for (var i = 0; ; i++) a.push('x'.padEnd(1e7, i).split('')) }`,
    MEMORY,
  ],
  ['structured nesting', 'function Decoder() { var o = {}; for (;;) o = {o: o, p: [o]} }', MEMORY],
  [
    'a function made of much text',
    `function Decoder() { return new Function('return ' + '['.repeat(1e6) + ']'.repeat(1e6))() }`,
    ['THREW', ...MEMORY],
  ],
  [
    'a huge regular expression',
    `function Decoder() { return [new RegExp('(?:a{1,1000}){1,1000}').test('b')] }`,
    ['THREW', 'OK', ...MEMORY],
  ],
];

describe('hostile code gets its named failure and harms nobody', () => {
  test.each(hostile)('%s', async (name, source, kinds) => {
    const own = kinds.every((kind) => kind === 'TIMEOUT') ? quick : pool;
    const hog = own.run(jobOf(source, { workspaceId: name, productId: `hog: ${name}` }));
    // Calls of another product, at once and while the hostile one is being dealt with.
    const others = Array.from({ length: 5 }, () => own.run(jobOf(GOOD, { productId: 'good' })));
    // Who has to wait 10 s is refused; how much they keep is measured in fairness.test.
    for (const other of others) expect(outputOf(await other)).toEqual(GOOD_OUTPUT);
    const result = await hog;
    expect(kinds).toContain(result.error?.kind ?? 'OK');
    if (result.error !== null) expect(result.error.message.length).toBeLessThan(2_100);
    expect(outputOf(await own.run(jobOf(GOOD, { productId: 'good' })))).toEqual(GOOD_OUTPUT);
  });

  test('the memory of the processes comes back', async () => {
    await expect.poll(childrenMb, { interval: 200 }).toBeLessThan(700);
  });

  test('they are counted', () => {
    expect(quick.statistics('hog: an endless loop in Decoder')).toMatchObject({ runs: 1, failures: { TIMEOUT: 1 } });
    for (const one of [pool, quick]) {
      expect(one.statistics('good')).toMatchObject({ failures: {} });
      expect(one.statistics('good').p50Ms!).toBeGreaterThan(0);
    }
    expect(pool.statistics('never seen')).toEqual({ runs: 0, failures: {}, p50Ms: null, p99Ms: null });
  });
});

/** Resident memory of all child processes of this one, in MB. */
function childrenMb(): number {
  let total = 0;
  for (const pid of readdirSync('/proc')) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const parent = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1];
      if (Number(parent) === process.pid)
        total += (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 1e6;
    } catch {
      // It has ended.
    }
  }
  return total;
}

describe('the process of the decoders', () => {
  test('has an empty environment, no permission but to read its code, and no open door', async () => {
    const pids = readdirSync('/proc').filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder.worker.') &&
          readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')[1] === String(process.pid)
        );
      } catch {
        return false;
      }
    });
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) {
      expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('TZ=UTC\0');
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      expect(command).toContain('--permission');
      expect(command).not.toMatch(/--allow-(child|worker|wasi|fs-write|net)/);
    }
  });
});
