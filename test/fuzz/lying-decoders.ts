import type { Chance } from './chance.ts';

const VALUES = [
  '1', '"x"', 'null', 'undefined', 'NaN', '-Infinity', '{}', '[]', '{value: 1, unit: "C"}', '1n', 'Symbol("s")', 'function () {}',
  'new Date(NaN)', 'new Proxy({}, {get() { throw 1 }})', '"x".repeat(1e6)', 'r.body', 'r.headers', 'r', 'this', 'globalThis',
  'new Array(1e6)', 'Object.create(null)', '{toJSON() { throw new Error("no") }}', '{get value() { for (;;); }}', '"\\ud800"', '"\\0"',
]; // oxfmt-ignore

const STATEMENTS = [
  'throw {get message() { return "x" }, get stack() { Error.prepareStackTrace(0, [{getFileName: () => "decoder.js", getLineNumber: () => "1}x", getColumnNumber: () => 1}]) }}',
  'throw null', 'throw undefined', 'throw new Proxy(new Error("x"), {get() { throw 1 }})', 'throw {kind: "TIMEOUT", line: "}", column: {}}',
  'Error.prepareStackTrace = function () { return {} }', 'JSON.stringify = function () { return "}{" }', 'JSON = null',
  'Object.prototype.toJSON = function () { return 1 }', 'Array.prototype.map = null', 'Symbol.iterator = 1', 'console.log(r)',
  'for (var i = 0; i < 1e5; i++) console.log("x" + i)', 'x = x || 0; x++', 'delete globalThis.Object', 'eval("1")', 'r.headers.a = r',
  'var a = []; a.push(a); console.log(a)', 'while (true) {}', 'var s = "x"; while (true) s += s', 'Promise.resolve().then(function () { throw 1 })',
  'async function f() { for (;;) await 0 } f()', 'measurements[VALUE]', 'deviceSerialToId[VALUE]', 'for (var k in measurements) measurements[k]',
  'configurationValues[VALUE]', 'Object.defineProperty(Object.prototype, "device", {get() { throw 1 }})', '"use strict"; undeclared = 1',
]; // oxfmt-ignore

/** A decoder that means harm, or whose author was tired. */
export function lyingDecoder(chance: Chance): string {
  const value = (): string => chance.pick(VALUES);
  const statements = Array.from({ length: chance.int(3) }, () => chance.pick(STATEMENTS).replace('VALUE', value()));
  const entry = (): string =>
    `{device: ${chance.of(0.6) ? '"serial-1"' : value()}, field: ${chance.of(0.6) ? '"temperature"' : value()}, value: ${value()}, timestamp: ${value()}}`;
  const output = chance.of(0.5) ? `[${Array.from({ length: chance.int(4) }, entry).join(', ')}]` : value();
  const source = `function Decoder(r) { ${statements.join('; ')}; return ${output}; }`;
  return chance.of(0.1) ? chance.mutated(source) : source;
}
