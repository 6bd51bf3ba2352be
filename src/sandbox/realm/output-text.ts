/* eslint-disable @typescript-eslint/no-explicit-any */
import type { Builtins } from './builtins.ts';

/**
 * Makes a writer of any value as JSON text. Values that JSON lacks become `{"$inlet": …}`: `NaN`, `Infinity`,
 * `-Infinity`, `Invalid Date`, `bigint:<digits>`, `symbol`, `function`, `cyclic`. With `display` the text is for people
 * and is cut instead of refused.
 */
export function makeOutputWriter(b: Builtins) {
  const maxDepth = 64;
  const marker = (text: string, display: boolean): string => (display ? text : `{"$inlet":${b.stringify(text)}}`);
  /** The last refusal, known by identity, since users' code may throw anything that looks like one. */
  let refused: { reason: string } | null = null;
  const refuse = (reason: string): never => {
    refused = { reason };
    throw refused;
  };

  function write(value: unknown, maxLength: number, display: boolean): string {
    let length = 0;
    let cut = false;
    const isCut = (): boolean => cut;
    const grow = (by: number): void => {
      length += by;
      if (length <= maxLength) return;
      if (display) cut = true;
      else refuse(`more than ${maxLength} bytes of output`);
    };
    const quoted = (text: string): string => {
      if (text.length > maxLength) {
        grow(text.length);
        return '""';
      }
      const out = b.stringify(text);
      grow(out.length);
      return out;
    };
    const told = (text: string): string => {
      grow(text.length);
      return text;
    };

    const list = (array: any, count: number, depth: number, up: object): string => {
      let out = '[';
      for (let i = 0; i < count && !isCut(); i += 1) {
        if (i > 0) out += ',';
        grow(1);
        const element = one(array[i], depth + 1, up);
        out += element === '' ? told('null') : element;
      }
      return out + ']';
    };

    /** The text of one value; `''` for `undefined`, which is left out or written as null. */
    const one = (given: any, depth: number, up: any): string => {
      let v = given;
      switch (typeof v) {
        case 'string':
          return quoted(v);
        case 'number':
          if (b.isFinite(v)) return told(v === 0 ? '0' : b.stringify(v));
          return told(marker(v !== v ? 'NaN' : v > 0 ? 'Infinity' : '-Infinity', display));
        case 'boolean':
          return told(v ? 'true' : 'false');
        case 'undefined':
          return '';
        case 'bigint':
          return bigint(v);
        case 'symbol':
          return told(marker('symbol', display));
        case 'function':
          return told(marker('function', display));
      }
      if (v === null) return told('null');
      for (let holder = up; holder !== null; holder = holder.up) {
        if (holder.value === v) return told(marker('cyclic', display));
      }
      if (depth > maxDepth) {
        return display ? told('…') : refuse(`objects nested deeper than ${maxDepth} levels`);
      }
      const here = { value: v, up };
      const prototype = b.getPrototypeOf(v);
      if (prototype !== b.objectPrototype && prototype !== b.arrayPrototype && prototype !== null) {
        const special = unusual(v, prototype, depth, here);
        if (special !== null) return special;
      }
      const toJson = v.toJSON;
      if (typeof toJson === 'function') {
        v = b.apply(toJson, v, ['']);
        if (v === null || typeof v !== 'object') return one(v, depth, up);
      }
      if (b.isArray(v)) return list(v, v.length, depth, here);
      const names = b.keys(v);
      let out = '';
      for (let i = 0; i < names.length && !isCut(); i += 1) {
        const name = names[i]!;
        const element = one(v[name], depth + 1, here);
        if (element === '') continue;
        out += (out === '' ? '' : ',') + quoted(name) + ':' + element;
        grow(2);
      }
      return '{' + out + '}';
    };

    const bigint = (v: bigint): string => {
      // A huge BigInt takes seconds to print; a comparison shows its size.
      const huge = v > 10n ** 400n || v < -(10n ** 400n);
      const digits = huge ? 'huge' : b.bigintText(v);
      return told(display ? digits + 'n' : marker('bigint:' + digits, false));
    };

    /** Dates, boxed primitives and typed arrays, recognised by their internals rather than their properties. */
    const unusual = (v: any, prototype: object, depth: number, here: object): string | null => {
      for (let p: object | null = prototype, steps = 0; p !== null && steps < 16; p = b.getPrototypeOf(p), steps += 1) {
        try {
          if (p === b.datePrototype) {
            const time = b.dateTime(v);
            return time === time ? quoted(b.dateIso(v)) : told(marker('Invalid Date', display));
          }
          if (p === b.numberPrototype) return one(b.numberValue(v), depth, null);
          if (p === b.stringPrototype) return one(b.stringValue(v), depth, null);
          if (p === b.booleanPrototype) return one(b.booleanValue(v), depth, null);
        } catch (error) {
          if (error === refused) throw error;
          return null; // something that only borrows the prototype
        }
        if (p === b.typedArrayPrototype) {
          return b.typedArrayTag(v) === undefined ? null : list(v, b.typedArrayLength(v), depth, here);
        }
      }
      return null;
    };

    const text = one(value, 0, null);
    return cut ? b.slice(text, 0, maxLength) + '…' : text;
  }
  return {
    write,
    /** End of the sentence "The decoder returned …" for a refusal; null for any other error. */
    refusalOf: (error: unknown): string | null => (refused !== null && error === refused ? refused.reason : null),
  };
}

/** Writer of values, with the reasons of its refusals. */
export type OutputWriter = ReturnType<typeof makeOutputWriter>;
/** Writes a value as text of at most `maxLength` characters; with `display` for people. */
export type Write = OutputWriter['write'];
