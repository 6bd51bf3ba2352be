import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { DecoderPool } from '../../src/sandbox/decoder-pool.ts';
import { FrameReader } from '../../src/sandbox/frames.ts';
import { lostResult, readResult } from '../../src/sandbox/run-result.ts';
import { countLines } from '../../src/sandbox/source-traits.ts';
import { GOOD, GOOD_OUTPUT, jobOf, telling, outputOf, startPool } from './pool.ts';

describe('what a decoder tells about itself is text', () => {
  let pool: DecoderPool;
  beforeAll(() => {
    pool = startPool();
  });
  afterAll(() => pool.stop());

  test.each([
    [
      'call sites of its own, with a line that ends the JSON text',
      `throw {get stack() { Error.prepareStackTrace(0, [{getFileName: () => 'decoder.js', getLineNumber: () => '1}x', getColumnNumber: () => 1}]) }}`,
    ],
    [
      'a line that makes another kind of it',
      `throw {get stack() { Error.prepareStackTrace(0, [{getFileName: () => 'decoder.js', getLineNumber: () => '1,"kind":"CRASH","message":5', getColumnNumber: () => 1}]) }}`,
    ],
    [
      'call sites that inherit those of V8',
      `var sites; var before = Error.prepareStackTrace; Error.prepareStackTrace = function (e, s) { sites = s }; new Error().stack; Error.prepareStackTrace = before;
       var fake = Object.create(Object.getPrototypeOf(sites[0]), {getLineNumber: {value: () => '1}'}});
       throw {get stack() { Error.prepareStackTrace(0, [fake]) }}`,
    ],
    ['a hook that is replaced while it runs', `throw {get stack() { Error.prepareStackTrace = () => '1}' ; throw 1 }}`],
    [
      'a list of call sites that is a Proxy',
      `throw {get stack() { Error.prepareStackTrace(0, new Proxy([], {get: () => '1}'})) }}`,
    ],
    ['a stack that names a line beyond the source', `throw {stack: 'Error\\n at decoder.js:999999:7'}`],
    [
      'a message that is no text',
      `throw {message: {toString: () => '"'}, name: 7, stack: {toString: () => 'decoder.js:1:1'}}`,
    ],
  ])('%s', async (_, body) => {
    const result = await pool.run(jobOf(`function Decoder() { ${body} }`));
    expect(result.error).toMatchObject({ kind: 'THREW', line: null, column: null });
    expect(typeof result.error!.message).toBe('string');
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
  });
});

describe('a result is believed only as far as its shape goes', () => {
  const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
  test.each([
    ['nothing', ''],
    ['a letter that is none', 'X{}'],
    ['an error that is no JSON', 'E{"kind":"THREW","message":"m","line":1}x,"console":[]}'],
    ['an error of another kind', 'E{"kind":"CRASH","message":"m","console":[]}'],
    ['an error of an inherited kind', 'E{"kind":"toString","message":"m","console":[]}'],
    ['an error whose message is no text', 'E{"kind":"THREW","message":{},"console":[]}'],
    ['an error without a console', 'E{"kind":"THREW","message":"m"}'],
    ['a console that is no list', 'R{"output":"1","console":"x"}'],
    ['a console of objects', 'R{"output":"1","console":[{}]}'],
    ['a console without end', `R{"output":"1","console":["${'x'.repeat(200_000)}"]}`],
    ['null', 'Rnull'],
    ['a list', 'E[]'],
    ['output that is no JSON', 'O{'],
    ['output that is too deep', `O${deep}`],
    ['output of too many keys', `O{${Array.from({ length: 20_000 }, (_, at) => `"k${at}":0`).join()}}`],
    ['output in a record that is no JSON', 'R{"output":"{","console":[]}'],
    ['a list of ids where none was asked for', 'M["a"]'],
    ['a pending promise', 'P'],
  ])('%s: BAD_OUTPUT', (_, text) => {
    expect(readResult(text, 1, 1)).toMatchObject({ output: null, error: { kind: 'BAD_OUTPUT' } });
  });

  test('a run whose process had to be ended has used too much time, also where it got little of it, or too much memory', () => {
    const job = { job: jobOf(GOOD), spentMs: 5 } as Parameters<typeof lostResult>[0];
    const kindOf = (reason: Parameters<typeof lostResult>[1]): string =>
      lostResult(job, reason, { timeoutMs: 250, memoryMb: 64 }).error!.kind;
    expect([kindOf('TIMEOUT'), kindOf('STARVED')]).toEqual(['TIMEOUT', 'TIMEOUT']);
    expect([kindOf('OUT_OF_MEMORY'), kindOf('KILLED')]).toEqual(['OUT_OF_MEMORY', 'OUT_OF_MEMORY']);
  });

  test.each([
    [1e9, 1],
    [-1, 1],
    [1.5, 1],
    ['2', 1],
    [null, 1],
    [0, 1],
    [4, 1],
  ])('a place that is not in the source is none: %s', (line, column) => {
    const text = `E${JSON.stringify({ kind: 'THREW', message: 'm', line, column, console: [] })}`;
    expect(readResult(text, 3, 1).error).toMatchObject({ line: null, column: null });
  });
  test('a column that no source has is none', () => {
    const text = `E${JSON.stringify({ kind: 'THREW', message: 'm', line: 3, column: 99_999_999_999, console: [] })}`;
    expect(readResult(text, 3, 1).error).toMatchObject({ line: 3, column: null });
  });
  test('one that is in it is told', () => {
    const text = `E${JSON.stringify({ kind: 'THREW', message: 'm', line: 3, column: 2, console: ['x'] })}`;
    expect(readResult(text, 3, 1)).toMatchObject({ console: ['x'], error: { line: 3, column: 2 } });
  });
});

describe('a decoder process that lies harms nobody', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-liar-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let pool: DecoderPool;
  afterEach(() => pool.stop());

  /** A process that says it is ready and answers whatever it is sent with `answer(jobId)`, the bytes after the length. */
  const liar = (answer: string): string => {
    const file = join(folder, `${answer.length}-${Math.random()}.mjs`);
    const text = `import { readSync, writeSync } from 'node:fs';
      const frame = (bytes) => { const size = Buffer.alloc(4); size.writeUInt32LE(bytes.length); return Buffer.concat([size, bytes]) };
      const result = (id, text) => { const head = Buffer.alloc(21); head[0] = 7; head.writeUInt32LE(id, 1); head.writeUInt32LE(5, 5); return frame(Buffer.concat([head, Buffer.from(text)])) };
      const answer = ${answer};
      writeSync(3, frame(Buffer.from([6])));
      const chunk = Buffer.alloc(1 << 20);
      for (let rest = Buffer.alloc(0);;) {
        const n = readSync(3, chunk); if (n === 0) process.exit(0);
        rest = Buffer.concat([rest, chunk.subarray(0, n)]);
        for (; rest.length >= 4 && rest.length >= 4 + rest.readUInt32LE(0); rest = rest.subarray(4 + rest.readUInt32LE(0)))
          if (rest[4] === 4 || rest[4] === 5) writeSync(3, answer(rest.readUInt32LE(5)));
      }`;
    writeFileSync(file, text);
    return file;
  };

  test.each([
    ['a result that is no JSON', `(id) => result(id, 'E{"kind":')`, ['BAD_OUTPUT']],
    ['an id list in every round', `(id) => result(id, 'M["a","b"]')`, ['BAD_OUTPUT']],
    ['an id list that is none', `(id) => result(id, 'M[{"a":1}]')`, ['BAD_OUTPUT']],
    [
      'ids without end',
      `(id) => result(id, 'M' + JSON.stringify(Array.from({length: 5000}, (_, i) => 'id' + i)))`,
      ['BAD_OUTPUT'],
    ],
    ['that it has not begun, of what runs alone', `(id) => result(id, 'B')`, ['BAD_OUTPUT']],
    ['a result twice', `(id) => Buffer.concat([result(id, 'O[]'), result(id, 'O[')])`, []],
    ['results of nobody', `(id) => Buffer.concat([result(4000000000, 'O['), result(id, 'O[]')])`, []],
    ['a frame that is too short', `() => frame(Buffer.from([7, 1]))`, ['OUT_OF_MEMORY']],
    [
      'a result that ends with its id',
      `(id) => { const bytes = Buffer.alloc(9); bytes[0] = 7; bytes.writeUInt32LE(id, 1); return frame(bytes) }`,
      ['OUT_OF_MEMORY'],
    ],
    ['an empty frame', `() => Buffer.alloc(4)`, ['OUT_OF_MEMORY']],
    ['a frame of four gigabytes', `() => Buffer.alloc(4096, 255)`, ['OUT_OF_MEMORY']],
    [
      'another kind of frame',
      `(id) => Buffer.concat([frame(Buffer.from([99, 0, 0, 0, 0, 0, 0, 0, 0])), result(id, 'O[]')])`,
      [],
    ],
  ])('%s', async (_, answer, kinds) => {
    pool = startPool({ worker: liar(answer) });
    const result = await pool.run(jobOf(`${GOOD} // measurements`));
    expect(result.error === null ? [] : [result.error.kind]).toEqual(kinds);
    const failure = await pool.check(GOOD, 'workspace');
    expect(failure === null || typeof failure.message === 'string').toBe(true);
  });

  test('a product is not held for a run that it has not begun', async () => {
    // A source is trusted after ten runs.
    pool = startPool({
      worker: liar(`((runs) => (id) => {
        runs += 1;
        if (runs !== 13) return result(id, 'O[]');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
        return result(id, 'B');
      })(0)`),
    });
    for (let i = 0; i < 12; i += 1) await pool.run(jobOf(GOOD));
    await sleep(1_500);
    // Nothing is sent behind so much: what waits for it has it set aside.
    const late = pool.run(jobOf(GOOD, { input: ' '.repeat(5 << 20) }));
    expect(outputOf(await pool.run(jobOf(GOOD, { productId: 'other' })))).toEqual([]);
    expect(outputOf(await late)).toEqual([]);
  });

  test('a frame over the limit ends the reading', () => {
    const reader = new FrameReader(10);
    expect(() => reader.push(Buffer.from([11, 0, 0, 0, 1]), () => {})).toThrow(RangeError);
  });
  test('frames come whole, however they are cut', () => {
    const frames = ['a', 'bcdefgh', 'x'.repeat(3_000)].map((text) => Buffer.from(text));
    const all = Buffer.concat(frames.flatMap((bytes) => [Buffer.from(new Uint32Array([bytes.length]).buffer), bytes]));
    for (const step of [1, 2, 3, 5, 4_096]) {
      const seen: string[] = [];
      const reader = new FrameReader(4_096);
      for (let at = 0; at < all.length; at += step) {
        const chunk = Buffer.from(all.subarray(at, at + step));
        reader.push(chunk, (frame) => seen.push(frame.toString()));
        chunk.fill(0);
      }
      expect(seen).toEqual(frames.map(String));
    }
  });
});

describe('look-ups are bounded, and their failure has a name', () => {
  let pool: DecoderPool;
  beforeAll(() => {
    pool = startPool();
  });
  afterAll(() => pool.stop());

  test('280 devices with 500 fields of 4 kB', async () => {
    const values = Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [`F${i}`, { value: 'x'.repeat(4_096), timestamp: 1 }]),
    );
    let asked = 0;
    const source = `function Decoder() { for (var i = 0; i < 280; i++) measurements['d' + i]; return [] }`;
    const result = await pool.run(
      jobOf(source, {
        lookUp: async function* (ids) {
          for (const id of ids) {
            asked += 1;
            yield [id, JSON.stringify({ measurements: values, configuration: {} })] as const;
          }
        },
      }),
    );
    expect(result.error).toMatchObject({ kind: 'OUT_OF_MEMORY', message: expect.stringContaining('4 MiB') });
    expect(asked).toBeLessThanOrEqual(3);
    expect(outputOf(await pool.run(jobOf(GOOD)))).toEqual(GOOD_OUTPUT);
  });
  test('more than 1,000 devices', async () => {
    const source = `function Decoder() { for (var i = 0; i < 3000; i++) measurements['d' + i]; return [] }`;
    const result = await pool.run(jobOf(source));
    expect(result.error).toMatchObject({ kind: 'OUT_OF_MEMORY', message: expect.stringContaining('1000 devices') });
  });
  test('a device that is not there is asked for once in a run', async () => {
    const asked: string[] = [];
    const source = `function Decoder() { var n = 0; for (var i = 0; i < 3; i++) if (measurements['none'] === undefined) n++; if (measurements['d'].X) measurements['other']; return [n] }`;
    const lookUp = telling(async (ids) => {
      asked.push(...ids);
      return { d: { measurements: { X: { value: 1, timestamp: 1 } }, configuration: {} } };
    });
    expect(outputOf(await pool.run(jobOf(source, { lookUp })))).toEqual([3]);
    expect(asked.sort()).toEqual(['d', 'none', 'other']);
  });
  test('17 MB of serial numbers, where they are used', async () => {
    const serials = { version: 'many', load: async () => null };
    const using = await pool.run(
      jobOf('function Decoder() { return [deviceSerialToId.x] }', { productId: 'many', serials }),
    );
    expect(using.error).toMatchObject({ kind: 'OUT_OF_MEMORY', message: expect.stringContaining('deviceSerialToId') });
    const other = 'function Decoder() { return [measurements.x === undefined] }';
    expect(outputOf(await pool.run(jobOf(other, { productId: 'many', serials })))).toEqual([true]);
  });
});

test('a name of 240,000 letters runs, and leaves nothing behind', async () => {
  const pool = startPool();
  onTestFinished(() => pool.stop());
  const name = 'a'.repeat(240_000);
  const half = 'a'.repeat(120_000);
  for (const [source, value] of [
    [`function Decoder() { return [this.${name}] }`, null],
    [`var ${half} = 5; function Decoder() { return [this.${half}] }`, 5],
  ] as const) {
    expect(outputOf(await pool.run(jobOf(source)))).toEqual([value]);
    expect(await pool.check(source, 'workspace')).toBeNull();
  }
});

test.each(['', 'a', 'a\nb', 'a\r\nb', 'a\n\rb\r', '\u2028\u2029\n', '\r\r\n\n', 'a\u0085\vb'])(
  'lines are counted: %j',
  (text) => {
    expect(countLines(text)).toBe(text.split(/\r\n|[\n\r\u2028\u2029]/).length);
  },
);
