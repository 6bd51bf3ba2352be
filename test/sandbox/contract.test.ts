import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { GOOD, GOOD_OUTPUT, jobOf, telling, outputOf, startPool, valueOf, webhookInput } from './pool.ts';

let pool: DecoderPool;
beforeAll(() => {
  pool = startPool();
});
afterAll(() => pool.stop());

const run = (source: string, fields = {}) => pool.run(jobOf(source, fields));

describe('defining Decoder', () => {
  const body = `{ return [{device: 'd', field: 'F', value: 1}]; }`;
  test.each([
    ['a function', `function Decoder(request) ${body}`],
    ['var', `var Decoder = function (request) ${body}`],
    ['let', `let Decoder = function (request) ${body};`],
    ['const with an arrow function', `const Decoder = (request) => ${body}`],
    ['an implicit global', `Decoder = function (request) ${body}`],
    ['a property of this', `this.Decoder = function (request) ${body}`],
    ['a property of globalThis', `globalThis.Decoder = (request) => ${body}`],
    ['a strict script', `'use strict';\nfunction Decoder(request) ${body}`],
    ['a hashbang line', `#!/usr/bin/env node\nfunction Decoder(request) ${body}`],
    ['a trailing comment without a line end', `function Decoder(request) ${body} // the end`],
    ['HTML-like comments', `<!-- old\nfunction Decoder(request) ${body}\n--> old`],
    ['the other line ends', `var a = 1\r\nfunction Decoder(request) ${body}\u2028// x\u2029`],
    ['a byte order mark', `\ufefffunction Decoder(request) ${body}`],
    ['a label and a block', `{ function Decoder(request) ${body} }`],
    [
      'a CommonJS tail',
      `function Decoder(request) ${body}\nif (typeof module !== 'undefined') module.exports = Decoder;`,
    ],
  ])('%s', async (_, source) => {
    expect(outputOf(await run(source))).toEqual(GOOD_OUTPUT);
    expect(outputOf(await run(source))).toEqual(GOOD_OUTPUT);
  });

  test.each([
    ['nothing', 'var x = 1;'],
    ['something else', 'var Decoder = 5;'],
    ['an empty source', ''],
  ])('%s: NO_DECODER_FUNCTION', async (_, source) => {
    expect((await run(source)).error).toMatchObject({ kind: 'NO_DECODER_FUNCTION' });
  });

  test('which function is missing, and what is there instead', async () => {
    const uplink = 'function decodeUplink(input) { return {data: {}} }';
    const lorawan = { entryPoint: 'lorawan', input: JSON.stringify({ bytes: [], fPort: 1, recvTime: '' }) };
    const particle = { entryPoint: 'particle', input: JSON.stringify({ payload: '', event: '' }) };
    const messageOf = async (source: string, fields = {}) => (await run(source, fields)).error!.message;
    expect(await messageOf(uplink)).toBe(
      'The source defines no function Decoder(request); decodeUplink is called only for uplinks of LoRaWAN networks.',
    );
    expect(await messageOf('', lorawan)).toBe(
      'The source defines neither decodeUplink(input) nor Decoder(bytes, port).',
    );
    expect(await messageOf('', particle)).toBe('The source defines no function Decoder(payload, event).');
  });
  test('Encoder and encodeDownlink may be there and are left alone', async () => {
    const source = `function Encoder() { throw 1 } function encodeDownlink() { throw 2 } function decodeDownlink() { throw 3 } ${GOOD}`;
    expect(outputOf(await run(source))).toEqual(GOOD_OUTPUT);
  });
  test('a source that closes the wrapper early does not parse', async () => {
    const result = await run(`}); (() => { function Decoder() { return [] }`);
    expect(result.error).toMatchObject({ kind: 'SYNTAX', line: 1, column: 1 });
  });

  test('return outside a function does not parse', async () => {
    expect((await run('return 1')).error).toMatchObject({ kind: 'SYNTAX', line: 1, column: 1 });
  });
});

describe('sloppy script semantics', () => {
  test('redeclared var, implicit globals, octal literals, with, substr, arguments.callee', async () => {
    const source = `var a = 1; var a = 2;
      function Decoder(request) { b = a + 010; with ({c: 5}) { b += c; } return ['abc'.substr(1, 1), b, this === globalThis]; }`;
    expect(outputOf(await run(source))).toEqual(['b', 15, true]);
  });
  test('a function of its own may have the name of what is looked up', async () => {
    const source = `function measurements(list) { return list; } function Decoder() { return measurements([7]); }`;
    for (const _ of ['in the first call', 'and later']) expect(outputOf(await run(source))).toEqual([7]);
  });
  test('a strict directive is in force', async () => {
    const result = await run(`'use strict';\nfunction Decoder() {\n  undeclared = 1;\n}`);
    expect(result.error).toMatchObject({ kind: 'THREW', line: 3, column: 14 });
    expect(result.error!.message).toBe('ReferenceError: undeclared is not defined');
  });
  test('top-level this is the global, var a property of it, arguments is not there', async () => {
    const source = `var x = 7; function Decoder() { return [globalThis.x, typeof arguments] } var t = typeof arguments;
      var D = Decoder; Decoder = function () { return D().concat(t, this.x) };`;
    expect(outputOf(await run(source))).toEqual([7, 'object', 'undefined', 7]);
    expect(outputOf(await run(`var t = typeof arguments; function Decoder() { return [t] }`))).toEqual(['undefined']);
  });
  test('var of a name that is there already keeps it', async () => {
    const source = `var atob = atob || null; var console = console || {log: 5};
      function Decoder() { console.log('x'); return [atob('QQ==')]; }`;
    expect(outputOf(await run(source))).toEqual(['A']);
  });
  test('this in classes and methods', async () => {
    const source = `class Reader { constructor(bytes) { this.bytes = bytes; this.at = 0 } next() { return this.bytes[this.at++] } }
      function Decoder() { var r = new Reader([7, 8]); return [r.next(), r.next()]; }`;
    expect(outputOf(await run(source))).toEqual([7, 8]);
    const globals = `var a = 1, b = 2; function c() { return this.b } function Decoder() { return [this.a, c(), globalThis.c === c] }`;
    expect(outputOf(await run(globals))).toEqual([1, 2, true]);
  });
  test('indirect eval and new Function see top-level variables', async () => {
    const source = `var k = 3; function Decoder() { return [(0, eval)('k'), new Function('return k + 1')()]; }`;
    expect(outputOf(await run(source))).toEqual([3, 4]);
  });
});

describe('request', () => {
  test('carries the call', async () => {
    const input = webhookInput({
      method: 'GET',
      path: '/integrations/api/abc/a%20b/',
      body: 'text',
      GET: { a: ['1', '2'] },
      POST: { b: ['3'] },
    });
    const body = `return [request.method, request.path, request.body, request.GET.a, request.POST.b, request.GET.none]`;
    expect(await valueOf(pool, body, { input })).toEqual([
      'GET',
      '/integrations/api/abc/a%20b/',
      'text',
      ['1', '2'],
      ['3'],
      null,
    ]);
  });
  test('a body that is not there is an empty string', async () => {
    expect(await valueOf(pool, 'return [request.body]', { input: webhookInput({ body: undefined }) })).toEqual(['']);
  });
  test('fields may have the names of built-ins', async () => {
    const input = webhookInput().replace('"GET":{}', '"GET":{"__proto__":["p"],"constructor":["c"],"toString":["t"]}');
    const body = `var g = request.GET; return [Object.keys(g), g.__proto__, g.constructor, g.toString, g.hasOwnProperty('__proto__'), g.hasOwnProperty('x')]`;
    expect(await valueOf(pool, body, { input })).toEqual([
      ['__proto__', 'constructor', 'toString'],
      ['p'],
      ['c'],
      ['t'],
      true,
      false,
    ]);
  });
  test('headers are listed in Title-Case and found in any case', async () => {
    const headers = [
      ['content-type', 'text/plain'],
      ['X-API-KEY', 'k'],
      ['x-api-key', 'l'],
      ['__proto__', 'p'],
    ];
    const body = `var h = request.headers, listed = []; for (var n in h) listed.push(n);
      return [listed, h['content-type'], h['CONTENT-TYPE'], h['Content-Type'], h['x-Api-key'], 'content-TYPE' in h,
        h.hasOwnProperty('content-type'), h.none === undefined, 'none' in h, h['__proto__'], Object.keys(h).length]`;
    expect(await valueOf(pool, body, { input: webhookInput({ headers }) })).toEqual([
      ['Content-Type', 'X-Api-Key', '__proto__'],
      'text/plain',
      'text/plain',
      'text/plain',
      'k, l',
      true,
      true,
      true,
      false,
      'p',
      3,
    ]);
  });
  test('headers and request go through JSON.stringify, spread and assignment', async () => {
    const body = `request.headers['content-type'] = 'x'; delete request.headers.HOST; request.headers.New = '1';
      return [JSON.parse(JSON.stringify(request)).headers, {...request.headers}, Object.entries(request.headers).length]`;
    const input = webhookInput({
      headers: [
        ['content-type', 'a'],
        ['host', 'b'],
      ],
    });
    const headers = { 'Content-Type': 'x', New: '1' };
    expect(await valueOf(pool, body, { input })).toEqual([headers, headers, 2]);
  });
});

describe('helpers', () => {
  test('__base64decode gives bytes and reads what devices send', async () => {
    const body = `return ['AP8Q', 'AP8Q\\n', ' AP 8Q', '-_8', '-_8=', '+/8=', ''].map(function (t) { var b = __base64decode(t); return [Array.isArray(b), b]; })`;
    expect(await valueOf(pool, body)).toEqual([
      [true, [0, 255, 16]],
      [true, [0, 255, 16]],
      [true, [0, 255, 16]],
      [true, [251, 255]],
      [true, [251, 255]],
      [true, [251, 255]],
      [true, []],
    ]);
    expect((await run(`function Decoder() { __base64decode('*') }`)).error!.message).toContain('InvalidCharacterError');
  });
  test('atob and btoa are those of the web', async () => {
    const samples = ['', 'a', 'ab', 'abc', '\u0000\u00ff\u0080', 'x'.repeat(1000)];
    expect(await valueOf(pool, `return ${JSON.stringify(samples)}.map(btoa)`)).toEqual(samples.map((s) => btoa(s)));
    const texts = samples.map((s) => btoa(s));
    expect(await valueOf(pool, `return ${JSON.stringify(texts)}.map(function (t) { return atob(t) })`)).toEqual(
      samples,
    );
    const broken = ['a', 'ab=', 'ab===', 'a=b=', '-_8=', 'abcd=', '\u0100'];
    const body = `return ${JSON.stringify(broken)}.map(function (t) { try { return atob(t) } catch (e) { return e.name + (e instanceof Error) } })`;
    expect(await valueOf(pool, body)).toEqual(broken.map(() => 'InvalidCharacterErrortrue'));
    expect(await valueOf(pool, `return [atob('YQ'), atob(' Y Q = = ')]`)).toEqual(['a', 'a']);
    expect(await valueOf(pool, `try { btoa('\u0100') } catch (e) { return [e.name] }`)).toEqual([
      'InvalidCharacterError',
    ]);
  });
  test('TextEncoder and TextDecoder agree with the platform', async () => {
    const texts = ['', 'abc', 'Grüße', '漢字', '🎉 x', '\ud800a', '\udc00'];
    const encoded = texts.map((t) => [...new TextEncoder().encode(t)]);
    expect(
      await valueOf(pool, `return ${JSON.stringify(texts)}.map(function (t) { return new TextEncoder().encode(t) })`),
    ).toEqual(encoded);
    const sequences = [
      ...encoded,
      [0xef, 0xbb, 0xbf, 0x61],
      [0xc0, 0x80],
      [0xe0, 0x80, 0x80],
      [0xed, 0xa0, 0x80],
      [0xf5, 0x80],
      [0xf0, 0x9f, 0x8e],
      [0xe2, 0x82, 0x41],
      [0xf4, 0x90, 0x80, 0x80],
      [0xff, 0x61],
    ];
    const decode = (label: string) =>
      `return ${JSON.stringify(sequences)}.map(function (b) { return new TextDecoder('${label}').decode(new Uint8Array(b)) })`;
    for (const label of ['utf-8', 'latin1', 'utf-16le', 'UTF8 ']) {
      const expected = sequences.map((b) => new TextDecoder(label.trim()).decode(new Uint8Array(b)));
      expect(await valueOf(pool, decode(label)), label).toEqual(expected);
    }
    const fatal = `return [[0xff], [0xe2, 0x82], [0x61]].map(function (b) {
      try { return new TextDecoder('utf-8', {fatal: true}).decode(new Uint8Array(b)) } catch (e) { return e.name } })`;
    expect(await valueOf(pool, fatal)).toEqual(['TypeError', 'TypeError', 'a']);
    const stream = `var d = new TextDecoder(); return [d.decode(new Uint8Array([0xe2, 0x82]), {stream: true}), d.decode(new Uint8Array([0xac]).buffer)]`;
    expect(await valueOf(pool, stream)).toEqual(['', '€']);
    expect(
      await valueOf(
        pool,
        `return [new TextDecoder('utf-8', {ignoreBOM: true}).decode(new Uint8Array([0xef, 0xbb, 0xbf])).length]`,
      ),
    ).toEqual([1]);
    expect((await run(`function Decoder() { new TextDecoder('klingon') }`)).error!.message).toMatch(/^RangeError/);
  });
  test('Date, JSON and Math are there; local time is UTC', async () => {
    const body = `return [new Date(0).getTimezoneOffset(), new Date(2020, 0, 1).toISOString(), JSON.parse('[1]'), Math.max(1, 2), Date.now() > 1.6e12]`;
    expect(await valueOf(pool, body)).toEqual([0, '2020-01-01T00:00:00.000Z', [1], 2, true]);
  });
  test('Buffer is that of Node, as far as it goes', async () => {
    const code = `var b = Buffer.from('01fffe807f00c3a4', 'hex'), f = Buffer.alloc(16), u = Buffer.from('Grüße €', 'utf8');
      var written = [f.writeFloatLE(1.5, 0), f.writeDoubleBE(-2.25, 4), f.writeUInt16BE(513, 12), f.writeInt8(-5, 14), f.writeUIntLE(200, 15, 1)];
      return [b.readUInt8(1), b.readInt8(1), b.readUInt16LE(1), b.readUint16BE(1), b.readInt16LE(2), b.readInt16BE(2), b.readUInt32LE(0), b.readInt32BE(1),
        b.readUIntBE(0, 3), b.readIntLE(1, 3), b.readUIntLE(2, 6), b[1], b.length, b.slice(1, 3).toString('hex'), b.subarray(-2).toString(),
        b.toString('base64'), b.toString('base64url'), b.toString('latin1').length, b.toString('hex', 1, 3), written, f.readFloatLE(0), f.readDoubleBE(4), f.toString('hex'),
        u.length, u.toString(), u.toString('utf8', 0, 3), Buffer.byteLength('€'), Buffer.concat([b.slice(0, 1), u.slice(0, 2)]).toString('hex'),
        Buffer.isBuffer(b), Buffer.isBuffer(new Uint8Array(1)), Buffer.isBuffer(b.slice(1)), Buffer.from([1, 257, -1]).toString('hex'),
        Buffer.from('AP8Q', 'base64').toString('hex'), Buffer.from('-_8', 'base64').toString('hex'), Buffer.from(new Uint8Array([7, 8]).buffer, 1).toString('hex'),
        Buffer.from('abcz12', 'hex').toString('hex'), Buffer.from('a€', 'utf16le').toString('hex'), Buffer.from('YWI=', 'base64').toString('utf16le').length,
        Buffer.alloc(3, 'ab').toString(), Buffer.alloc(2, 7).toString('hex'), b.equals(Buffer.from(b)), Buffer.compare(b, u), JSON.stringify(Buffer.from('a')),
        b instanceof Uint8Array, Object.keys(Buffer.from('ab')), Buffer.from('abc').indexOf(99), Buffer.from(Buffer.from('abc').toJSON()).toString(),
        String(b.readBigUInt64LE(0)), b.slice(0, 2).map(function (x) { return x + 1 }).toString('hex'), new Buffer('QQ==', 'base64').toString('ascii'),
        (function () { try { b.readUInt32BE(6) } catch (e) { return e.name } })(), (function () { try { b.readUIntBE(0, 7) } catch (e) { return e.name } })(),
        (function () { var c = Buffer.alloc(4); return [c.write('abcdef', 1), c.toString('hex'), Buffer.from('xyz').copy(c, 2), c.toString('latin1')] })(),
        u.indexOf('ß'), u.indexOf(u.slice(-3), 2), u.indexOf('ü', 3), u.indexOf('fc', 'hex'), u.indexOf(-1), u.indexOf(''), u.lastIndexOf('', 2),
        b.lastIndexOf('ff', undefined, 'hex'), b.lastIndexOf(Buffer.from([255, 254]), -3), b.lastIndexOf(0), u.lastIndexOf('e', -99), u.includes('Gr'), u.includes('x'),
        Buffer.alloc(5).fill(Buffer.from([1, 2])).toString('hex'), Buffer.from('abcdefgh').swap16().swap32().swap64().toString(),
        (function () { try { Buffer.alloc(3).swap16() } catch (e) { return e.name } })()]`;
    // oxlint-disable-next-line no-implied-eval -- the same code under Node's own Buffer
    const expected = new Function('Buffer', code)(Buffer) as unknown[];
    expect(await valueOf(pool, code)).toEqual(JSON.parse(JSON.stringify(expected)));
    // As output it is the list of its bytes.
    expect(await valueOf(pool, `return [Buffer.from([1, 2])]`)).toEqual([[1, 2]]);
  });
  test('what could reach outside is not there', async () => {
    const names = [
      'process',
      'require',
      'WebAssembly',
      'SharedArrayBuffer',
      'Atomics',
      'setTimeout',
      'setInterval',
      'setImmediate',
      'queueMicrotask',
      'fetch',
      'XMLHttpRequest',
      'module',
      'exports',
      'global',
      'FinalizationRegistry',
      'Deno',
    ];
    const list = names.map((name) => `typeof ${name}`).join(', ');
    expect(await valueOf(pool, `return [${list}]`)).toEqual(names.map(() => 'undefined'));
  });
});

describe('look-ups', () => {
  const pieces = ['{"S1":"id-1","S', '2":"id-2","__proto__":"odd"}'].map((piece) => Buffer.from(piece));
  const serials = { version: '1', load: async () => pieces };
  const asked: string[] = [];
  const lookUp = telling(async (ids) => {
    asked.push(...ids);
    const values = { measurements: { TEMP: { value: 21.5, timestamp: 1700000000.25 } }, configuration: {} };
    return Object.fromEntries(ids.map((id) => [id, id === 'id-1' ? values : null]));
  });
  test('deviceSerialToId finds the devices of the product and nothing else', async () => {
    const body = `return [deviceSerialToId.S1, deviceSerialToId['S2'], deviceSerialToId.nope, deviceSerialToId.constructor,
      'S1' in deviceSerialToId, deviceSerialToId.hasOwnProperty('S2'), Object.keys(deviceSerialToId).slice(0, 2)]`;
    expect(await valueOf(pool, body, { productId: 'lookups', serials })).toEqual([
      'id-1',
      'id-2',
      null,
      null,
      true,
      true,
      ['S1', 'S2'],
    ]);
  });
  test('it follows its version, and is loaded once for each', async () => {
    let loads = 0;
    const at = (version: string) => ({
      version,
      load: async () => {
        loads += 1;
        return [Buffer.from(JSON.stringify({ S: `id-${version}` }))];
      },
    });
    const body = 'return [deviceSerialToId.S]';
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => valueOf(pool, body, { productId: 'v', serials: at('1') })),
    );
    expect(runs).toEqual(runs.map(() => ['id-1']));
    expect(await valueOf(pool, body, { productId: 'v', serials: at('2') })).toEqual(['id-2']);
    expect(loads).toBe(2);
  });
  test('it is not loaded for a source that cannot touch it', async () => {
    const fail = { version: '1', load: () => Promise.reject(new Error('not to be called')) };
    expect(outputOf(await run(GOOD, { productId: 'untouched', serials: fail }))).toEqual(GOOD_OUTPUT);
    await expect(
      valueOf(pool, 'return [deviceSerialToId.S]', { productId: 'untouched', serials: fail }),
    ).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });
  test('measurements gives the last stored values', async () => {
    asked.length = 0;
    const source = `function Decoder() { console.log('once'); var m = measurements[deviceSerialToId.S1];
      return [m.TEMP.value, m.TEMP.timestamp, m.NONE, measurements['id-2'], measurements.nobody, 'id-1' in measurements]; }`;
    const result = await run(source, { productId: 'lookups', serials, lookUp });
    expect(outputOf(result)).toEqual([21.5, 1700000000.25, null, null, null, true]);
    expect(result.console).toEqual(['once']);
    expect(asked.sort()).toEqual(['id-1', 'id-2', 'nobody']);
  });
  test('measurements can be listed', async () => {
    expect(
      await valueOf(pool, `return [Object.keys(measurements), JSON.stringify(measurements)]`, {
        productId: 'lookups',
        serials,
        lookUp,
      }),
    ).toEqual([['id-1'], '{"id-1":{"TEMP":{"value":21.5,"timestamp":1700000000.25}}}']);
  });
  test('configurationValues gives what is configured, in the same look-up', async () => {
    let times = 0;
    const lookUp = telling(async (ids) => {
      times += 1;
      const values = { measurements: { T: { value: null, timestamp: null } }, configuration: { LIMIT: 5, NAME: null } };
      return Object.fromEntries(ids.map((id) => [id, id === 'id-1' ? values : null]));
    });
    const body = `var c = configurationValues['id-1'], m = measurements['id-1'];
      return [c && c.LIMIT, c && c.NAME, c && c.NONE, m && m.T, configurationValues.nobody, Object.keys(configurationValues)]`;
    const value = await valueOf(pool, body, { productId: 'lookups', serials, lookUp });
    expect(value).toEqual([5, null, null, { value: null, timestamp: null }, null, ['id-1']]);
    expect(times).toBeLessThanOrEqual(2);
  });
  test('on native routes both are flat for the device at hand, which is known at once', async () => {
    const rounds: string[][] = [];
    const lookUp = telling(async (ids) => {
      rounds.push(ids);
      const values = { measurements: { N: { value: 7, timestamp: 1 } }, configuration: { LIMIT: 5 } };
      return Object.fromEntries(ids.map((id) => [id, values]));
    });
    const source = `function Decoder(bytes) { return {n: measurements.N.value, limit: configurationValues.LIMIT, by: measurements['me'].N.value,
      all: Object.keys(measurements), none: configurationValues['toString'] === undefined } }`;
    const input = JSON.stringify({ bytes: [], fPort: 1, recvTime: '2026-01-01T00:00:00Z' });
    const job = jobOf(source, { entryPoint: 'lorawan', input, lookUp, senderId: 'me' });
    expect(outputOf(await pool.run(job))).toEqual({ n: 7, limit: 5, by: 7, all: ['N', 'me'], none: true });
    expect(rounds).toEqual([['me']]);
  });
  test('ids asked for one after the other are found in a bounded number of rounds', async () => {
    asked.length = 0;
    const chain = telling(async (ids) => {
      asked.push(...ids);
      const values = (id: string) => ({ measurements: { NEXT: { value: `${id}x`, timestamp: 0 } }, configuration: {} });
      return Object.fromEntries(ids.map((id) => [id, values(id)]));
    });
    const body = `var id = 'a', n = 0; while (measurements[id] && n < 100) { id = measurements[id].NEXT.value; n++; } return [n]`;
    const [n] = (await valueOf(pool, body, { productId: 'lookups', serials, lookUp: chain })) as [number];
    expect(n).toBe(asked.length);
    expect(n).toBeGreaterThanOrEqual(4);
    expect(n).toBeLessThan(10);
  });
});

describe('output', () => {
  test.each([
    ['undefined', '', null],
    ['null', 'return null', null],
    ['an empty array', 'return []', []],
    ['a single object', `return {device: 'd'}`, { device: 'd' }],
    ['odd elements', 'return [null, undefined, , {a: 1, b: undefined}]', [null, null, null, { a: 1 }]],
    [
      'numbers JSON cannot say',
      'return [NaN, Infinity, -Infinity, -0]',
      [{ $inlet: 'NaN' }, { $inlet: 'Infinity' }, { $inlet: '-Infinity' }, 0],
    ],
    [
      'a BigInt, a symbol, a function',
      'return [12n, Symbol("s"), Decoder]',
      [{ $inlet: 'bigint:12' }, { $inlet: 'symbol' }, { $inlet: 'function' }],
    ],
    ['a huge BigInt', 'return [3n ** 5000n]', [{ $inlet: 'bigint:huge' }]],
    [
      'a cycle',
      'var a = {}; a.self = a; return [a, a]',
      [{ self: { $inlet: 'cyclic' } }, { self: { $inlet: 'cyclic' } }],
    ],
    ['dates', 'return [new Date(0), new Date(NaN)]', ['1970-01-01T00:00:00.000Z', { $inlet: 'Invalid Date' }]],
    ['boxed primitives', 'return [new Number(5), new String("s"), new Boolean(false)]', [5, 's', false]],
    ['typed arrays', 'return [new Uint8Array([1, 2]), new Float64Array([0.5])]', [[1, 2], [0.5]]],
    ['maps and sets', 'return [new Map([[1, 2]]), new Set([1])]', [{}, {}]],
    [
      'objects without prototype and of classes',
      'class A { constructor() { this.x = 1 } get y() { return 2 } } return [Object.assign(Object.create(null), {a: 1}), new A()]',
      [{ a: 1 }, { x: 1 }],
    ],
    ['toJSON', 'return [{toJSON: function () { return {t: 1} }}]', [{ t: 1 }]],
    ['toJSON of the object itself', 'return [{x: 1, toJSON: function () { return this.x }}]', [1]],
    ['lone surrogates', 'return ["\\ud800"]', ['\ud800']],
    ['a key named __proto__', 'return [JSON.parse(\'{"__proto__":1}\')]', [JSON.parse('{"__proto__":1}')]],
    [
      'an object that borrows a prototype',
      'return [Object.create(Date.prototype, {a: {value: 1, enumerable: true}, toJSON: {value: null}})]',
      [{ a: 1 }],
    ],
    ['a proxy of an array', 'return new Proxy([1, 2], {})', [1, 2]],
  ])('%s', async (_, body, expected) => {
    expect(await valueOf(pool, body)).toEqual(expected);
  });

  test.each([
    ['a number', 'return 5', 'the number 5'],
    ['a string', 'return "abc"', 'the string abc'],
    ['true', 'return true', 'the boolean true'],
    ['a function', 'return Decoder', 'a function'],
    ['a thenable', 'return {then: function () {}}', 'a thenable'],
    ['a promise that never settles', 'return new Promise(function () {})', 'a promise that never settles'],
    ['10,001 entries', 'return new Array(10001).fill(1)', '10000'],
    ['more than 1 MiB', 'return ["x".repeat(1048577)]', '1048576'],
    ['more than 1 MiB in two-byte characters', 'return ["\\u00fc".repeat(600000)]', '1048576'],
    ['too deep an object', 'var o = {}; for (var i = 0; i < 200; i++) o = {o: o}; return [o]', '64 levels'],
  ])('%s: BAD_OUTPUT', async (_, body, message) => {
    const { error, output } = await run(`function Decoder() { ${body} }`);
    expect(error).toMatchObject({ kind: 'BAD_OUTPUT' });
    expect(error!.message).toContain(message);
    expect(output).toBeNull();
  });

  test('an async Decoder that settles at once is taken', async () => {
    const result = await run(`async function Decoder() { await null; console.log('a'); await 0; return [1]; }`);
    expect(outputOf(result)).toEqual([1]);
    expect(result.console).toEqual(['a']);
    const broken = await run(`async function Decoder() {\n  await null;\n  throw new TypeError('no');\n}`);
    expect(broken.error).toEqual({ kind: 'THREW', message: 'TypeError: no', line: 3, column: 9 });
  });
});

describe('failures', () => {
  test.each([
    ['at top level', `var a;\n  a.b;\nfunction Decoder() {}`, 'TypeError: Cannot read properties of undefined', 2, 5],
    ['in Decoder', `function Decoder() {\n\n   null.x }`, 'TypeError: Cannot read properties of null', 3, 9],
    ['on the first line', `function Decoder() { boom(); }`, 'ReferenceError: boom is not defined', 1, 22],
    [
      'under a built-in',
      `function Decoder() {\n  [1].map(function () {\n    throw new RangeError('r');\n  });\n}`,
      'RangeError: r',
      3,
      11,
    ],
    ['inside JSON.parse', `function Decoder(r) {\n  return JSON.parse('{');\n}`, 'SyntaxError: ', 2, 15],
    ['in a script', `var x = this;\nfunction Decoder() {\n  boom();\n}`, 'ReferenceError: boom is not defined', 3, 3],
    [
      'with a sourceURL of its own',
      `function Decoder() {\n  boom();\n}\n//# sourceURL=other.js`,
      'ReferenceError: boom is not defined',
      2,
      3,
    ],
    ['after a hashbang', `#!x\nfunction Decoder() { boom(); }`, 'ReferenceError: boom is not defined', 2, 22],
  ])('%s', async (_, source, message, line, column) => {
    const { error } = await run(source);
    expect(error).toMatchObject({ kind: 'THREW', line, column });
    expect(error!.message.startsWith(message)).toBe(true);
  });

  test.each([
    [`throw 'text'`, 'text'],
    [`throw 'D'`, 'D'],
    [`throw 'P'`, 'P'],
    [`throw {refusal: true, reason: 'x'}`, '{"refusal":true,"reason":"x"}'],
    ['throw null', 'null'],
    ['throw undefined', 'undefined'],
    ['throw 5', '5'],
    ['throw 5n', '5n'],
    [`throw Symbol('s')`, 'Symbol(s)'],
    [`throw {code: 7}`, '{"code":7}'],
    [`throw {message: 'm', name: 'N'}`, 'N: m'],
    [
      `throw {get message() { throw 1 }, toString: function () { throw 2 }, x: 1, get y() { throw 3 }}`,
      'an object that cannot be shown',
    ],
    [`throw Object.create(null)`, '{}'],
    [
      `throw new Proxy({}, {get: function () { throw 1 }, ownKeys: function () { throw 2 }})`,
      'an object that cannot be shown',
    ],
    [`throw new Error('x'.repeat(1e6))`, `Error: ${'x'.repeat(2000)}`],
    [`throw Object.assign(new Error('m'), {name: 5})`, 'm'],
  ])('%s', async (body, message) => {
    expect((await run(`function Decoder() { ${body} }`)).error).toMatchObject({ kind: 'THREW', message });
  });

  test('the console is kept when the run fails', async () => {
    const result = await run(`function Decoder() { console.warn('before'); throw new Error('x'); }`);
    expect(result.console).toEqual(['warn: before']);
    expect(result.error!.kind).toBe('THREW');
  });
});

describe('console', () => {
  test('shows levels and values', async () => {
    const source = `function Decoder() { console.log('a', 1, -0, null, undefined, true, 5n, Symbol('s'));
      console.info({a: [1, {b: 'x'}], n: NaN}); console.warn(new TypeError('t')); console.error('%s is %d%%', 'it', 5, 'more');
      console.log(); console.debug([function () {}]); var c = {}; c.c = c; console.log(c); console.log(new Map([[1, 2]])); }`;
    expect((await run(source)).console).toEqual([
      'a 1 -0 null undefined true 5n Symbol(s)',
      'info: {"a":[1,{"b":"x"}],"n":NaN}',
      'warn: TypeError: t',
      'error: it is 5% more',
      '',
      'debug: [function]',
      '{"c":cyclic}',
      '{}',
    ]);
  });
  test('knows what Node and browsers know', async () => {
    const source = `function Decoder() { console.trace('t'); console.table([{a: 1}]); console.dir({b: 2}, {depth: 1}); console.group('g'); console.log('in');
      console.groupEnd(); console.groupCollapsed(); console.assert(true, 'x'); console.assert(false, 'y'); console.time('a'); console.timeEnd('a'); console.count(); console.clear(); }`;
    expect((await run(source)).console).toEqual(['trace: t', '[{"a":1}]', '{"b":2}', 'g', 'in', '', 'assert: y']);
  });
  test('is cut at 64 KiB and says so', async () => {
    const { console: lines } = await run(
      `function Decoder() { for (var i = 0; i < 100; i++) console.log('ü'.repeat(1000)); }`,
    );
    expect(lines.at(-1)).toBe('… console cut at 65536 bytes');
    const bytes = Buffer.byteLength(lines.slice(0, -1).join('\n'));
    expect(bytes).toBeLessThanOrEqual(65_536);
    expect(bytes).toBeGreaterThan(60_000);
  });
});

describe('check', () => {
  test('tells the first mistake and its place', async () => {
    expect(await pool.check('var a = 1;\nlet b c', 'workspace')).toEqual({
      kind: 'SYNTAX',
      message: "SyntaxError: Unexpected identifier 'c'",
      line: 2,
      column: 7,
    });
    expect(await pool.check(GOOD, 'workspace')).toBeNull();
    expect(await pool.check('#!shebang\n', 'workspace')).toBeNull();
  });
  test('limits the source to 256 KiB of UTF-8', async () => {
    expect(await pool.check(`//${'x'.repeat(262_142)}`, 'workspace')).toBeNull();
    const tooLarge = { kind: 'SYNTAX', message: expect.stringContaining('256 KiB') };
    expect(await pool.check(`//${'ü'.repeat(131_072)}`, 'workspace')).toMatchObject(tooLarge);
    expect((await run(`//${'x'.repeat(262_143)}`)).error).toMatchObject(tooLarge);
  });
  test.each(['(', '[', '{a:', 'x=>', '!', '`${'])('survives deep nesting of %s', async (text) => {
    const failure = await pool.check(text.repeat(Math.floor(262_144 / text.length)), 'workspace');
    expect(failure).toMatchObject({ kind: 'SYNTAX' });
    expect(await pool.check(GOOD, 'workspace')).toBeNull();
  });
});

describe('native entry points', () => {
  const lorawan = (source: string) =>
    run(source, {
      entryPoint: 'lorawan',
      input: JSON.stringify({
        bytes: [1, 2],
        fPort: 5,
        recvTime: '2024-01-01T00:00:00.000Z',
        variables: { k: 'v' },
        rawPayload: { raw: 1 },
        normalizedPayload: { deviceEui: 'AB', port: 5 },
      }),
    });
  test('lorawan: decodeUplink comes first', async () => {
    const source = `function Decoder() { return 1 }
      function decodeUplink(input) { return {data: {b: input.bytes, p: input.fPort, t: input.recvTime.getTime(), v: input.variables.k, r: rawPayload.raw, n: normalizedPayload.port}} }`;
    expect(outputOf(await lorawan(source))).toEqual({
      data: { b: [1, 2], p: 5, t: 1704067200000, v: 'v', r: 1, n: 5 },
    });
  });
  test('lorawan: Decoder(bytes, port), then Decode(fPort, bytes, variables)', async () => {
    expect(outputOf(await lorawan(`function Decoder(bytes, port) { return {b: bytes, p: port} }`))).toEqual({
      b: [1, 2],
      p: 5,
    });
    expect(
      outputOf(await lorawan(`function Decode(fPort, bytes, variables) { return [fPort, bytes, variables] }`)),
    ).toEqual([5, [1, 2], { k: 'v' }]);
    expect((await lorawan('var x')).error).toMatchObject({ kind: 'NO_DECODER_FUNCTION' });
  });
  test('particle: Decoder(payload, event)', async () => {
    const input = JSON.stringify({
      payload: '21.5',
      event: 'temp',
      rawPayload: { coreid: 'c' },
      normalizedPayload: { a: 1 },
    });
    const result = await run(
      `function Decoder(payload, event) { return {p: payload, e: event, c: rawPayload.coreid, n: normalizedPayload.a} }`,
      { entryPoint: 'particle', input },
    );
    expect(outputOf(result)).toEqual({ p: '21.5', e: 'temp', c: 'c', n: 1 });
  });
  test('the same source serves several entry points', async () => {
    const source = `function Decoder(a) { return [typeof a, typeof rawPayload] }`;
    expect(outputOf(await run(source))).toEqual(['object', 'undefined']);
    expect(outputOf(await lorawan(source))).toEqual(['object', 'object']);
  });
});
