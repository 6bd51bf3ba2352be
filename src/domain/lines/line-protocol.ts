import { MOST_ENTRIES } from '../measurements/record-body.ts';

/** A value as line protocol has it; integers that no double holds are their digits. */
export type LineValue = number | string | boolean;

/** A line of line protocol, or why it cannot be read. `number`: its line in the body, from 1. */
export interface Line {
  number: number;
  measurement: string;
  tags: ReadonlyMap<string, string>;
  fields: readonly (readonly [string, LineValue])[];
  /** Digits in the unit of the request; null: none. */
  time: string | null;
}

/** Begins each fault, as in InfluxDB. */
export const UNPARSED = 'unable to parse';

/** A line that is no line protocol. */
interface BrokenLine {
  number: number;
  fault: string;
}

// No character fits two ways, so each takes time in proportion to what it reads; what repeats a choice has an end, as it
// takes stack. A name has at most 65,535 characters, as in InfluxDB.
const MEASUREMENT = /(?:[^\\, \r\n]|\\[^\r\n]){1,65535}/y;
const KEY = /(?:[^\\,= \r\n]|\\[^\r\n]){1,65535}/y;
const TEXT = /"[^"\\]*(?:\\[\s\S][^"\\]*){0,65535}"/y;
const PLAIN = /[^", \r\n]+/y;
const BLANKS = /[ \t]*/y;
const TIME = /-?\d+/y;
const END = /[ \t]*\r?(?:\n|$)/y;
const BLANK_LINE = /[ \t]*(?:#[^\n]*|\r?)(?:\n|$)/y;

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const INTEGER = /^[+-]?\d+(?=i$)|^\d+(?=u$)/;
const TRUE = /^(?:t|true)$/i;
const FALSE = /^(?:f|false)$/i;
/** Maximum characters of a line that its fault shows. */
const SHOWN = 100;

/** Reads a body of line protocol; a line that cannot be read loses none of the others. */
export class LineReader {
  readonly #text: string;
  #at = 0;
  #number = 1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Null: a line with nothing in it, or a comment. */
  *lines(): Generator<Line | BrokenLine | null> {
    while (this.#at < this.#text.length) {
      const [begin, number] = [this.#at, this.#number];
      if (this.#take(BLANK_LINE) === null) {
        const line = this.#line(number);
        yield typeof line === 'string' ? this.#broken(begin, number, line) : line;
      } else yield null;
      for (let at = this.#text.indexOf('\n', begin); at >= 0 && at < this.#at; at = this.#text.indexOf('\n', at + 1))
        this.#number += 1;
    }
  }

  /** The line, or its fault. */
  #line(number: number): Line | string {
    this.#take(BLANKS);
    const measurement = this.#take(MEASUREMENT);
    if (measurement === null) return 'missing measurement';
    const tags = new Map<string, string>();
    while (this.#passes(',')) {
      const pair = this.#pair(() => this.#take(KEY));
      if (pair === null) return 'invalid tag: expected <name>=<value>';
      tags.set(pair[0], unescaped(pair[1]));
    }
    if (!this.#passes(' ')) return 'missing fields';
    this.#take(BLANKS);
    const fields: [string, LineValue][] = [];
    do {
      const pair = this.#pair(() => this.#take(TEXT) ?? this.#take(PLAIN));
      if (pair === null) return fields.length === 0 ? 'missing fields' : 'invalid field: expected <name>=<value>';
      const value = readValue(pair[1]);
      if (value === null)
        return `invalid value ${pair[1].slice(0, SHOWN)} of ${pair[0].slice(0, SHOWN)} (a text stands in double quotes)`;
      fields.push([pair[0], value]);
      if (fields.length > MOST_ENTRIES) return `over ${MOST_ENTRIES.toLocaleString('en')} fields`;
    } while (this.#passes(','));
    this.#take(BLANKS);
    const time = this.#take(TIME);
    if (this.#take(END) === null)
      return time === null ? 'bad timestamp' : 'more than measurement, fields and timestamp';
    return { number, measurement: unescaped(measurement), tags, fields, time };
  }

  #pair(readText: () => string | null): [string, string] | null {
    const key = this.#take(KEY);
    if (key === null || !this.#passes('=')) return null;
    const text = readText();
    return text === null ? null : [unescaped(key), text];
  }

  #broken(begin: number, number: number, fault: string): BrokenLine {
    const end = this.#text.indexOf('\n', begin);
    this.#at = end < 0 ? this.#text.length : end + 1;
    const line = this.#text.slice(begin, end < 0 ? undefined : end).trim();
    return { number, fault: `${UNPARSED} '${line.slice(0, SHOWN)}${line.length > SHOWN ? '…' : ''}': ${fault}` };
  }

  #passes(character: string): boolean {
    const passes = this.#text[this.#at] === character;
    if (passes) this.#at += 1;
    return passes;
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at = pattern.lastIndex;
    return found[0];
  }
}

function unescaped(name: string): string {
  return name.includes('\\') ? name.replace(/\\([,= ])/g, '$1') : name;
}

function readValue(text: string): LineValue | null {
  if (text.startsWith('"')) return text.slice(1, -1).replace(/\\(["\\])/g, '$1');
  if (NUMBER.test(text)) return Number(text);
  const digits = INTEGER.exec(text)?.[0];
  if (digits !== undefined) return Number.isSafeInteger(Number(digits)) ? Number(digits) : digits;
  if (TRUE.test(text)) return true;
  return FALSE.test(text) ? false : null;
}
