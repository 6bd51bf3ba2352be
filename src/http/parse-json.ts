import { excessOf } from '../domain/json-text.ts';
import { AppError } from '../errors.ts';

/**
 * Parses a body. Where the meaning is plain it forgives (CONTRACT 3): NUL characters at the end go, `NaN` and `Infinity`
 * as Python writes them are read as such. INVALID_JSON says at which line and column the text stops being JSON;
 * INVALID_BODY: it has too many keys.
 */
export function parseJson(text: string): unknown {
  const excess = excessOf(text);
  if (excess !== null) throw new AppError('INVALID_BODY', `The body ${excess}.`);
  try {
    return JSON.parse(text);
  } catch {
    return parseForgivingly(text);
  }
}

/** Stand for numbers that JSON cannot say; no sender's text that holds NUL can be stored. */
const NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ['\0NaN', Number.NaN],
  ['\0Infinity', Infinity],
  ['\0-Infinity', -Infinity],
]);

/** Where the mistake is, is found before anything is parsed once more. */
function parseForgivingly(text: string): unknown {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  const { mistake, specials } = new Reader(text, end).read();
  if (mistake !== null) throw notJson(text, mistake);
  if (specials.length === 0) return JSON.parse(text.slice(0, end));
  let json = '';
  let from = 0;
  for (const { at, name } of specials) {
    json += `${text.slice(from, at)}"\\u0000${name}"`;
    from = at + name.length;
  }
  return withNumbers(JSON.parse(json + text.slice(from, end)));
}

/** The numbers in a body and in its entries; of what is deeper nothing is stored. */
function withNumbers(body: unknown, levels = 2): unknown {
  const number = NUMBERS.get(body);
  if (number !== undefined) return number;
  if (levels === 0 || typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) return body.map((entry) => withNumbers(entry, levels - 1));
  const parts = body as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const value = withNumbers(parts[key], levels - 1);
    if (value !== parts[key]) parts[key] = value;
  }
  return body;
}

function notJson(text: string, at: number): AppError {
  let [line, begin] = [1, 0];
  for (let place = 0; place < at; place += 1) {
    if (text.charCodeAt(place) !== 0x0a) continue;
    line += 1;
    begin = place + 1;
  }
  const column = at - begin + 1;
  const found =
    at >= text.length
      ? 'the body ends'
      : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))}`;
  return new AppError(
    'INVALID_JSON',
    text.trim() === ''
      ? 'The body is empty; send a JSON array of entries or one entry object, and its Content-Length.'
      : `The body is not JSON: ${found} at position ${at} (line ${line}, column ${column}).`,
    { details: { position: at, line, column } },
  );
}

interface Special {
  at: number;
  name: string;
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|true\b|false\b|null\b/y;
const SPECIAL = /(?:NaN|-?Infinity)\b/y;
const HEX = /[\dA-Fa-f]{4}/y;

/** Looks for the first character that no JSON text could have there. Keeps its own stack: nesting may be deep. */
class Reader {
  readonly #text: string;
  readonly #end: number;
  readonly #specials: Special[] = [];
  #at = 0;

  constructor(text: string, end: number) {
    this.#text = text;
    this.#end = end;
  }

  /** Where the mistake is; null: there is none but `NaN` and its kin, which are listed. */
  read(): { mistake: number | null; specials: Special[] } {
    return { mistake: this.#isJson() ? null : this.#at, specials: this.#specials };
  }

  #isJson(): boolean {
    /** Of each list and object that is open, the character that closes it. */
    const open: number[] = [];
    for (;;) {
      const code = this.#next();
      if (code === 0x5b || code === 0x7b) {
        this.#at += 1;
        const close = code + 2;
        open.push(close);
        if (this.#next() !== close) {
          if (code === 0x7b && !this.#takeKey()) return false;
          continue;
        }
      } else if (!(code === 0x22 ? this.#takeString() : this.#takeScalar(code))) return false;
      // A value ended, or there is none; close what closes, or go on behind a comma.
      while (open.length > 0 && this.#next() === open.at(-1)) {
        open.pop();
        this.#at += 1;
      }
      if (open.length === 0) return Number.isNaN(this.#next());
      if (this.#next() !== 0x2c) return false;
      this.#at += 1;
      if (open.at(-1) === 0x7d && !this.#takeKey()) return false;
    }
  }

  /** The next character that is no blank; NaN at the end. */
  #next(): number {
    for (; this.#at < this.#end; this.#at += 1) {
      const code = this.#text.charCodeAt(this.#at);
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    }
    return Number.NaN;
  }

  #takeKey(): boolean {
    if (this.#next() !== 0x22 || !this.#takeString() || this.#next() !== 0x3a) return false;
    this.#at += 1;
    return true;
  }

  #takeString(): boolean {
    const text = this.#text;
    for (let at = this.#at + 1; at < this.#end; at += 1) {
      const code = text.charCodeAt(at);
      if (code === 0x22) {
        this.#at = at + 1;
        return true;
      }
      if (code < 0x20) return false;
      if (code !== 0x5c) continue;
      at += 1;
      if (text[at] === 'u') {
        HEX.lastIndex = at + 1;
        if (!HEX.test(text)) return false;
        at += 4;
      } else if (!'"\\/bfnrt'.includes(text[at] ?? 'x')) return false;
    }
    return false;
  }

  #takeScalar(code: number): boolean {
    // A regular expression for each of half a million digits takes 100 ms.
    const next = this.#text.charCodeAt(this.#at + 1);
    if (code >= 0x30 && code <= 0x39 && (next === 0x2c || next === 0x5d || next === 0x7d)) {
      this.#at += 1;
      return true;
    }
    const from = this.#at;
    if (this.#take(SCALAR)) return true;
    if (!this.#take(SPECIAL)) return false;
    this.#specials.push({ at: from, name: this.#text.slice(from, this.#at) });
    return true;
  }

  #take(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.#text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}
