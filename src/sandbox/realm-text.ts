import { deviceIdentity } from '../domain/text/device-identity.ts';
import { installBuffer } from './realm/buffer.ts';
import { captureBuiltins } from './realm/builtins.ts';
import { watchBuiltins } from './realm/built-in-watch.ts';
import { makeConsole } from './realm/console-capture.ts';
import { installEncodings } from './realm/encodings.ts';
import { makeOutputWriter } from './realm/output-text.ts';
import { makeRandom } from './realm/random.ts';
import { makeLookups, makeRequestBuilder } from './realm/request-object.ts';
import { makeErrorDescription, makeRunner } from './realm/run-decoder.ts';

/** An expression for the functions a source may define, each undefined if it does not. */
export const ENTRY_FUNCTIONS = `{Decoder: typeof Decoder === 'function' ? Decoder : undefined, decodeUplink: typeof decodeUplink === 'function' ? decodeUplink : undefined, Decode: typeof Decode === 'function' ? Decode : undefined, decodeEvent: typeof decodeEvent === 'function' ? decodeEvent : undefined}`;

/**
 * Script that sets up a new context; its value is a function `(watched) => runner` (see `makeRunner`). `watched`
 * contexts are kept between calls and tell when a built-in was changed; others serve one call.
 */
export const REALM_TEXT = `(function () {
'use strict';
const b = (${captureBuiltins})();
const remove = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'FinalizationRegistry', 'console'];
for (let i = 0; i < remove.length; i += 1) delete globalThis[remove[i]];
const define = (name, value) =>
  b.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
(${installEncodings})(define);
(${installBuffer})(define);
const output = (${makeOutputWriter})(b);
const write = output.write;
const describe = (${makeErrorDescription})(b, write);
const lines = (${makeConsole})(b, write, describe);
define('console', lines.object);
const random = (${makeRandom})();
b.defineProperty(Math, 'random', { value: random.random, writable: true, enumerable: false, configurable: true });
const requestOf = (${makeRequestBuilder})(b);
const lookups = (${makeLookups})(b, ${deviceIdentity});
const watchBuiltins = ${watchBuiltins};
const makeRunner = ${makeRunner};
return (watched) =>
  makeRunner(b, output, describe, lines, random, requestOf, lookups, watched ? watchBuiltins(b) : () => false);
})()`;
