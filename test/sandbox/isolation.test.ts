import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { jobOf, outputOf, startPool } from './pool.ts';

let pool: DecoderPool;
beforeAll(() => {
  pool = startPool();
});
afterAll(() => pool.stop());

/** Each change is made at the end of a call; `seen` looks for it at the start of the next. */
const changes: [name: string, seen: string, change: string][] = [
  ['a top-level variable', 'state', 'state = 1'],
  ['an implicit global', `typeof leak !== 'undefined'`, 'leak = 1'],
  [
    'a non-configurable global',
    `typeof leak2 !== 'undefined'`,
    `Object.defineProperty(globalThis, 'leak2', {value: 1})`,
  ],
  ['a frozen global', `typeof leak3 !== 'undefined'`, `leak3 = 1; Object.freeze(globalThis)`],
  ['Array.prototype.push', `[].push.length === 0`, `Array.prototype.push = function () {}`],
  ['a new method of String.prototype', `''.hex !== undefined`, `String.prototype.hex = function () {}`],
  ['a property of a method', `[].map.mark !== undefined`, `[].map.mark = 1`],
  ['a property of a constructor', `Date.mark !== undefined`, `Date.mark = 1`],
  ['JSON.parse', `JSON.parse('1') === 2`, `JSON.parse = function () { return 2 }`],
  ['JSON itself', `typeof JSON !== 'object'`, `delete globalThis['J' + 'SON']`],
  ['Math set to null', `Math === null`, `Math = null`],
  ['a frozen Object.prototype', `Object.isFrozen(Object.prototype)`, `Object.freeze(Object.prototype)`],
  ['a sealed Array', `!Object.isExtensible(Array)`, `Object.preventExtensions(Array)`],
  ...Object.entries({
    seal: 'Object.seal(Math)',
    'seal, called': 'Object.seal.call(null, Math)',
    freeze: 'Reflect.apply(Object.freeze, Object, [Math])',
    'freeze, bound': 'Object.freeze.bind(null)(Math)',
    'freeze of its descriptor': `Object.getOwnPropertyDescriptor(Object, 'freeze').value(Math)`,
    'preventExtensions of Reflect': 'Reflect.preventExtensions(Math)',
    'a proxy': 'Object.preventExtensions(new Proxy(Math, {}))',
    'a class':
      'class A { constructor() { return Math } } class B extends A { f = Object.freeze(this) } try { new B() } catch (e) {}',
  }).map(([way, change]): [string, string, string] => [
    `that a built-in takes no more, by ${way}`,
    `!Object.isExtensible(Math)`,
    change,
  ]),
  ...Object.entries({
    'a proxy': 'Reflect.setPrototypeOf(new Proxy(Date.prototype, {}), {inherited3: 1})',
    'the setter of __proto__': `Object.prototype.__lookupSetter__('__proto__').call(Date.prototype, {inherited3: 1})`,
    'its descriptor': `Reflect.getOwnPropertyDescriptor(Object.prototype, '__proto__').set.call(Date.prototype, {inherited3: 1})`,
    assignment: `Object.assign(Object.create(Date.prototype), {}).__proto__.__proto__ = {inherited3: 1}`,
  }).map(([way, change]): [string, string, string] => [
    `what a built-in inherits from, by ${way}`,
    `Date.prototype.inherited3 === 1`,
    change,
  ]),
  [
    'the labels of TextDecoder',
    `(function () { try { new TextDecoder('leak'); return true } catch (e) { return false } })()`,
    `var o = Map.prototype.get, m; Map.prototype.get = function (k) { m = this.valueOf(); return o.call(m, k) }; new TextDecoder(); Map.prototype.get = o; if (m) m.set('leak', 'utf-8')`,
  ],
  ...Object.entries({
    encode: `TextEncoder.prototype, 'encode', function () { Buffer.from('x') }`,
    decode: `TextDecoder.prototype, 'decode', function () { Buffer.from('x').toString() }`,
  }).map(([name, args]): [string, string, string] => {
    const grabbed = `(function (of, name, use) { var o = of[name], it = {}; of[name] = function () { it = this.valueOf(); return o.apply(it, arguments) }; use(); of[name] = o; return it })(${args})`;
    return [`what Buffer has to ${name} with`, `${grabbed}.mark === 1`, `${grabbed}.mark = 1`];
  }),
  [
    'the bytes of half a character',
    `Buffer.from([]).toString() !== ''`,
    `Object.prototype.stream = true; Buffer.from([0xc3]).toString(); delete Object.prototype.stream`,
  ],
  ['a symbol key', `Array.prototype[Symbol.for('x')] !== undefined`, `Array.prototype[Symbol.for('x')] = 1`],
  [
    'a symbol key that was copied unseen',
    `Reflect.ownKeys(Math).length > Object.getOwnPropertyNames(Math).length + 1`,
    `Object.assign(Math, Object.getOwnPropertyDescriptors(Object.getPrototypeOf(Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}).prototype))))`,
  ],
  [
    'one symbol key for another',
    `Map.prototype[Symbol.for('x')] === 1`,
    `delete Map.prototype[Symbol.toStringTag]; Map.prototype[Symbol.for('x')] = 1`,
  ],
  ['an accessor that is gone', `!('size' in Map.prototype)`, `delete Map.prototype.size`],
  ['the length of a constructor', `Date.length !== 7`, `delete Date.length`],
  ['an inherited value', `!Object.hasOwn(TypeError.prototype, 'message')`, `delete TypeError.prototype.message`],
  [
    'a symbol key that is listed',
    `Object.getOwnPropertyDescriptor(Array.prototype, Symbol.iterator).enumerable`,
    `try { class A { constructor() { return Array.prototype } } class B extends A { [Symbol.iterator] = [].values } new B() } catch (e) {}`,
  ],
  [
    'segments of texts',
    `new Intl.Segmenter().segment('').mark === 1`,
    `Object.getPrototypeOf(new Intl.Segmenter().segment('')).mark = 1`,
  ],
  [
    'the iterator of segments',
    `new Intl.Segmenter().segment('')[Symbol.iterator]().mark === 1`,
    `Object.getPrototypeOf(new Intl.Segmenter().segment('')[Symbol.iterator]()).mark = 1`,
  ],
  [
    'call sites',
    `(function () { var s; Error.prepareStackTrace = function (e, sites) { s = sites }; new Error().stack; delete Error.prepareStackTrace; return s[0].mark === 1 })()`,
    `Error.prepareStackTrace = function (e, sites) { Object.getPrototypeOf(sites[0]).mark = 1 }; new Error().stack; delete Error.prepareStackTrace`,
  ],
  ['the accessor of stacks', `getter().mark === 1`, `getter().mark = 1`],
  ['Symbol itself', `Symbol.mark === 1 || Symbol.prototype.mark === 1`, `Symbol.mark = 1; Symbol.prototype.mark = 1`],
  ['Symbol under another name', `typeof Symbol !== 'function'`, `Symbol = 5`],
  ['an iterator', `[...[1]].length !== 1`, `Array.prototype[Symbol.iterator] = function* () {}`],
  [
    'an array iterator',
    `[...[1]].length !== 1`,
    `Object.getPrototypeOf([][Symbol.iterator]()).next = function () { return {done: true} }`,
  ],
  [
    'a getter on Object.prototype',
    `({}).sneaky === 1`,
    `Object.defineProperty(Object.prototype, 'sneaky', {get: function () { return 1 }, configurable: true})`,
  ],
  [
    'a getter by __defineGetter__',
    `({}).sneaky2 === 1`,
    `Object.prototype.__defineGetter__('sneaky2', function () { return 1 })`,
  ],
  [
    'a getter by Reflect',
    `({}).sneaky3 === 1`,
    `Reflect.defineProperty(Object.prototype, 'sneaky3', {get: function () { return 1 }})`,
  ],
  [
    'a getter through a Proxy',
    `({}).sneaky4 === 1`,
    `Object.defineProperty(new Proxy(Object.prototype, {}), 'sneaky4', {get: function () { return 1 }})`,
  ],
  [
    'a setter in the way of arrays',
    `(function () { var a = []; a[0] = 1; return a[0] !== 1 })()`,
    `Object.defineProperty(Array.prototype, '0', {set: function () {}, get: function () { return 5 }})`,
  ],
  [
    'an enumerable built-in',
    `Object.keys(Array.prototype).length > 0`,
    `Object.defineProperty(Array.prototype, 'map', {enumerable: true})`,
  ],
  [
    'a read-only built-in',
    `!Object.getOwnPropertyDescriptor(Math, 'max').writable`,
    `Object.defineProperty(Math, 'max', {writable: false})`,
  ],
  [
    'a class field on a built-in',
    `[].stamp === 1`,
    `class A { constructor() { return Array.prototype } } class B extends A { stamp = 1 } new B()`,
  ],
  ['a prototype chain', `Date.prototype.inherited === 1`, `Object.setPrototypeOf(Date.prototype, {inherited: 1})`],
  ['a prototype chain by __proto__', `Date.prototype.inherited2 === 1`, `Date.prototype.__proto__ = {inherited2: 1}`],
  ['Function.prototype', `(function () {}).tag === 1`, `Function.prototype.tag = 1`],
  [
    'a generator prototype',
    `(function* () {})().tag === 1`,
    `Object.getPrototypeOf(function* () {}).prototype.tag = 1`,
  ],
  [
    'an async function prototype',
    `(async function () {}).tag2 === 1`,
    `Object.getPrototypeOf(async function () {}).tag2 = 1`,
  ],
  ['typed arrays', `new Uint8Array(1).tag === 1`, `Object.getPrototypeOf(Uint8Array.prototype).tag = 1`],
  [
    'Error.prepareStackTrace',
    `Error.prepareStackTrace !== undefined`,
    `Error.prepareStackTrace = function () { return 'x' }`,
  ],
  ['Error.stackTraceLimit', `Error.stackTraceLimit !== 10`, `Error.stackTraceLimit = 0`],
  ...Object.entries({
    setPrototypeOf: 'Object.setPrototypeOf(Math, of.prototype)',
    'setPrototypeOf of Reflect': 'Reflect.setPrototypeOf(Math, of.prototype)',
    ['__proto__']: 'Math.__proto__ = of.prototype',
  }).map(([way, become]): [string, string, string] => [
    `what a class of Intl keeps in a built-in, by ${way}`,
    `(function (of) { ${become}; try { return of.prototype.resolvedOptions.call(Math).timeZone === 'Asia/Tokyo' } catch (e) { return false } finally { Math.__proto__ = Object.prototype } })(Intl.DateTimeFormat)`,
    `(function (of) { ${become}; of.call(Math, 'en', {timeZone: 'Asia/Tokyo'}); Math.__proto__ = Object.prototype })(Intl.DateTimeFormat)`,
  ]),
  ['captureStackTrace on a built-in', `Object.hasOwn(Math, 'stack')`, `Error.captureStackTrace(Math)`],
  ['console.log', `console.log.mark === 1`, `console.log = function () {}; console.log.mark = 1`],
  ['TextEncoder.prototype', `new TextEncoder().mark === 1`, `TextEncoder.prototype.mark = 1`],
  ['RegExp.$1', `RegExp.$1 === 'secret'`, `/(secret)/.exec('secret')`],
  ['RegExp.input', `RegExp.input === 'typed'`, `RegExp.input = 'typed'`],
  ['the lastIndex of a literal', `/a/g === state2 || lit().lastIndex !== 0`, `lit().exec('aa')`],
  ['deviceSerialToId', `deviceSerialToId.added !== undefined`, `deviceSerialToId.added = 1`],
  [
    'measurements',
    `typeof measurements === 'number' || measurements.added !== undefined`,
    `measurements.added = 1; measurements = 1`,
  ],
  ['what request inherits', `request.constructor.mark === 1`, `request.constructor.mark = 1`],
  [
    'a late promise reaction',
    `Object.late === 1`,
    `Promise.resolve().then(function () { return null }).then(function () { Object.late = 1 })`,
  ],
  ['Promise.prototype.then', `Promise.prototype.then.length === 0`, `Promise.prototype.then = function () {}`],
  ['a template object', `tag\`x\`.mark === 1`, `try { tag\`x\`.mark = 1 } catch (e) {}`],
  ['undefined and NaN', `undefined === 1 || NaN === 1`, `undefined = 1; NaN = 1`],
];

describe('nothing of one call is visible to the next', () => {
  test.each(changes)('%s', async (_, seen, change) => {
    const source = `var state, state2; function tag(strings) { return strings } function lit() { return lit.re || (lit.re = /a/g) }
      function getter() { return Object.getOwnPropertyDescriptor(new Error(), 'stack').get || {} }
      function Decoder(request) { var seen = !!(${seen}); ${change}; return [seen]; }`;
    // The first calls make the change, each in a context that may be kept.
    for (let call = 0; call < 6; call += 1) {
      const result = await pool.run(jobOf(source, { productId: 'a' }));
      expect(outputOf(result), `call ${call + 1}`).toEqual([false]);
    }
  });

  test.each(changes)('nor to another source of the product or another product: %s', async (_, seen, change) => {
    const head = `var state, state2; function tag(strings) { return strings } function lit() { return lit.re || (lit.re = /a/g) }
      function getter() { return Object.getOwnPropertyDescriptor(new Error(), 'stack').get || {} }`;
    const writer = `${head} function Decoder(request) { ${change}; return []; }`;
    const reader = `${head} function Decoder(request) { return [!!(${seen})]; }`;
    await pool.run(jobOf(writer, { productId: 'w' }));
    expect(outputOf(await pool.run(jobOf(reader, { productId: 'w' })))).toEqual([false]);
    expect(outputOf(await pool.run(jobOf(reader, { productId: 'other' })))).toEqual([false]);
  });

  test('a call that failed half-way leaves nothing either', async () => {
    const source = `function Decoder(request) { if (Object.mark) return ['seen']; Object.mark = 1; half = 1; throw new Error('x'); }`;
    for (let call = 0; call < 4; call += 1)
      expect((await pool.run(jobOf(source))).error).toMatchObject({ kind: 'THREW' });
  });

  test('a call that was ended leaves nothing either', async () => {
    const source = `function Decoder(request) { if (Object.mark) return ['seen']; Object.mark = 1; for (;;); }`;
    for (let call = 0; call < 2; call += 1)
      expect((await pool.run(jobOf(source))).error).toMatchObject({ kind: 'TIMEOUT' });
  });

  test('the request of one call is not that of another', async () => {
    const source = `var kept; function Decoder(request) { var before = kept; kept = request; request.GET.x = ['1']; return [before === undefined, Object.keys(request.GET)]; }`;
    for (let call = 0; call < 3; call += 1) expect(outputOf(await pool.run(jobOf(source)))).toEqual([true, ['x']]);
  });
});

describe('there is no way out', () => {
  const handedIn = [
    'request',
    'request.headers',
    'request.GET',
    'console',
    'console.log',
    'measurements',
    'deviceSerialToId',
    'atob',
    'TextDecoder',
    'new TextEncoder().encode("x")',
    '__base64decode("AA==")',
    'new Proxy({}, {})',
    'Object.defineProperty',
  ];
  test.each(handedIn)('through the constructors of %s', async (object) => {
    const code = `return [typeof process, typeof require, typeof globalThis.constructor.constructor('return process')]`;
    const source = `function Decoder(request) {
      var names = [];
      for (var o = ${object}; o !== null && o !== undefined; o = Object.getPrototypeOf(o)) {
        var C; try { C = o.constructor } catch (e) { continue }
        if (!C || !C.constructor) continue;
        names.push(C.constructor('return typeof process + typeof require + typeof module')());
        if (C.constructor('return globalThis')() !== globalThis) names.push('another global');
      }
      return names.filter(function (n) { return n !== 'undefinedundefinedundefined' });
    }`;
    expect(code).toContain('process');
    expect(outputOf(await pool.run(jobOf(source)))).toEqual([]);
  });

  test('through errors that our own code throws', async () => {
    const source = `function Decoder(request) {
      var found = [];
      [function () { atob('*') }, function () { new TextDecoder('x') }, function () { request.headers.get() }, function () { (function f() { f() })() }].forEach(function (f) {
        try { f() } catch (e) { found.push(e.constructor.constructor('return typeof process')(), e instanceof Error) }
      });
      return found;
    }`;
    const found = outputOf(await pool.run(jobOf(source)));
    expect(found).toEqual(['undefined', true, 'undefined', true, 'undefined', true, 'undefined', true]);
  });

  test('through the call sites of a stack', async () => {
    const source = `function Decoder(request) {
      Error.prepareStackTrace = function (error, sites) { return sites };
      var sites = new Error('x').stack;
      return sites.map(function (s) {
        var f = s.getFunction(), t = s.getThis();
        return (f !== undefined && f !== Decoder) || (t !== undefined && t !== globalThis);
      });
    }`;
    const [own, ...others] = outputOf(await pool.run(jobOf(source))) as boolean[];
    expect(own).toBe(false);
    expect(others.every((leaks) => leaks === false)).toBe(true);
  });

  test('through caller and arguments of functions', async () => {
    const source = `function Decoder(request) {
      var found = [];
      try { found.push(Decoder.caller) } catch (e) { found.push('threw') }
      try { found.push(arguments.callee.caller) } catch (e) { found.push('threw') }
      return found;
    }`;
    for (const value of outputOf(await pool.run(jobOf(source))) as unknown[]) expect([null, 'threw']).toContain(value);
  });

  test('through import()', async () => {
    const source = `async function Decoder() { try { await import('node:fs'); return ['in'] } catch (e) { return [String(e)] } }`;
    expect(outputOf(await pool.run(jobOf(source)))).toEqual([expect.stringContaining('Error')]);
    const late = `function Decoder() { import('fs'); return [] }`;
    expect((await pool.run(jobOf(late))).error).toMatchObject({ kind: 'THREW', line: 1, column: 22 });
    expect((await pool.run(jobOf(`import fs from 'fs'; function Decoder() {}`))).error).toMatchObject({
      kind: 'SYNTAX',
    });
  });

  test('with a prepareStackTrace that lies or throws', async () => {
    for (const hook of [`return 'at decoder.js:99:9'`, `throw new Error('again')`, `return sites[0].getThis()`]) {
      const source = `function Decoder() {\n  Error.prepareStackTrace = function (e, sites) { ${hook} };\n  throw new TypeError('real');\n}`;
      const { error } = await pool.run(jobOf(source));
      expect(error).toEqual({ kind: 'THREW', message: 'TypeError: real', line: 3, column: 9 });
    }
  });

  test('with a stack of its own making', async () => {
    const source = `function Decoder() { var e = new Error('m'); e.stack = {toString: function () { return 'decoder.js:5:5' }}; throw e; }`;
    expect((await pool.run(jobOf(source))).error).toEqual({
      kind: 'THREW',
      message: 'Error: m',
      line: null,
      column: null,
    });
  });

  test('with changed built-ins under the wrapper', async () => {
    const source = `function Decoder() {
      JSON.stringify = Object.keys = Array.isArray = Reflect.ownKeys = Object.prototype.hasOwnProperty = function () { throw new Error('trap') };
      Array.prototype.push = String.prototype.slice = Map.prototype.get = Function.prototype.call = Function.prototype.apply = null;
      Object.defineProperty(Array.prototype, '0', {set: function () { throw new Error('trap') }});
      Object.defineProperty(Object.prototype, 'toJSON', {value: undefined});
      Object.prototype.get = function () { throw new Error('trap') };
      console.log({a: 1}, 'b');
      return [{device: 'd', value: 'v'}];
    }`;
    const result = await pool.run(jobOf(source));
    expect(result.console).toEqual(['{"a":1} b']);
    expect(outputOf(result)).toEqual([{ device: 'd', value: 'v' }]);
  });
});
