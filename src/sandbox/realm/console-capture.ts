/* eslint-disable @typescript-eslint/no-explicit-any */
import type { Builtins } from './builtins.ts';
import type { Write } from './output-text.ts';

/**
 * Makes the user's `console`, and the caught lines as JSON text of an array (CONTRACT 5: 64 KiB, the cut is marked).
 */
export function makeConsole(b: Builtins, write: Write, describeError: (error: unknown) => string) {
  const limit = 65_536;
  let used = 0;
  let full = false;
  let lines = '';

  const byteLength = (text: string): number => {
    let bytes = text.length;
    for (let i = 0; i < text.length; i += 1) {
      const c = b.charCodeAt(text, i);
      // Each half of a surrogate pair takes two of its four bytes.
      if (c > 0x7f) bytes += c > 0x7ff && (c < 0xd800 || c > 0xdfff) ? 2 : 1;
    }
    return bytes;
  };
  const add = (line: string): void => {
    lines += (lines === '' ? '' : ',') + b.stringify(line);
  };

  const shown = (value: any, room: number): string => {
    switch (typeof value) {
      case 'string':
        // Slicing a rope would first flatten it, perhaps half a gigabyte.
        if (value.length > 1_000_000) return '(a string of ' + value.length + ' characters)';
        return value.length > room ? b.slice(value, 0, room + 1) : value;
      case 'number':
        return value === 0 && 1 / value < 0 ? '-0' : '' + value;
      case 'undefined':
        return 'undefined';
      case 'symbol':
        return b.symbolText(value);
      case 'object':
        if (value === null) return 'null';
        if (isError(value)) return describeError(value);
    }
    return write(value, room < 16_384 ? room + 1 : 16_384, true);
  };
  const isError = (value: object): boolean => {
    for (let p = b.getPrototypeOf(value), steps = 0; p !== null && steps < 16; p = b.getPrototypeOf(p), steps += 1) {
      if (p === b.Error.prototype) return true;
    }
    return false;
  };

  /** Formats the usual `%s %d %i %f %j %o %O %%`; arguments without a directive follow, separated by blanks. */
  const format = (values: ArrayLike<any>): string => {
    let out = '';
    let next = 0;
    if (
      values.length > 1 &&
      typeof values[0] === 'string' &&
      values[0].length < limit &&
      b.indexOf(values[0], '%') >= 0
    ) {
      const pattern: string = values[0];
      next = 1;
      let from = 0;
      for (let at = b.indexOf(pattern, '%'); at >= 0 && at + 1 < pattern.length; at = b.indexOf(pattern, '%', from)) {
        const kind = pattern[at + 1]!;
        out += b.slice(pattern, from, at);
        from = at + 2;
        if (kind === '%') out += '%';
        else if (next >= values.length || b.indexOf('sdifjoO', kind) < 0) out += '%' + kind;
        else {
          const value = values[next++];
          const isNumeric = b.indexOf('dif', kind) >= 0 && typeof value !== 'symbol' && typeof value !== 'object';
          if (isNumeric) out += kind === 'i' ? parse(value, true) : parse(value, false);
          else out += shown(value, limit - used);
        }
      }
      out += b.slice(pattern, from);
    }
    for (let i = next; i < values.length && out.length <= limit - used; i += 1) {
      out += (i > 0 ? ' ' : '') + shown(values[i], limit - used);
    }
    return out;
  };
  const parse = (value: any, whole: boolean): string => {
    const number = typeof value === 'bigint' ? value : b.Number(value);
    return whole && typeof number === 'number' && b.isFinite(number) ? '' + (number - (number % 1)) : '' + number;
  };

  const catcher =
    (prefix: string) =>
    (values: ArrayLike<any>): void => {
      if (full) return;
      const line = prefix + format(values);
      const bytes = byteLength(line) + 1;
      if (used + bytes <= limit) {
        used += bytes;
        add(line);
        return;
      }
      // Cutting by characters may keep fewer bytes than fit, never more.
      full = true;
      let keep = limit - used;
      let head = b.slice(line, 0, keep);
      while (keep > 0 && byteLength(head) > limit - used) {
        keep = keep >> 1;
        head = b.slice(line, 0, keep);
      }
      if (head !== '') add(head);
      add('… console cut at 65536 bytes');
    };

  const log = catcher('');
  const failed = catcher('assert: ');
  const object: Record<string, (...values: any[]) => void> = {
    log: (...values) => log(values),
    dir: (value) => log([value]),
    table: (value) => log([value]),
    group: (...values) => log(values),
    groupCollapsed: (...values) => log(values),
    assert: (condition, ...values) => {
      if (!condition) failed(values);
    },
  };
  const levels = ['info', 'warn', 'error', 'debug', 'trace'];
  for (let i = 0; i < levels.length; i += 1) {
    const caught = catcher(levels[i] + ': ');
    object[levels[i]!] = (...values) => caught(values);
  }
  // Exist, but need a terminal or a clock.
  const silent = ['groupEnd', 'clear', 'count', 'countReset', 'time', 'timeEnd', 'timeLog'];
  for (let i = 0; i < silent.length; i += 1) object[silent[i]!] = () => {};
  return {
    object,
    /** Forgets the last run's lines. */
    clear(): void {
      used = 0;
      full = false;
      lines = '';
    },
    /** Returns `''` if nothing was printed. */
    text: (): string => lines,
  };
}
