import { type Bounds, excessOf, keepLongNumbers, TOO_MANY_ENTRIES } from '../domain/text/json-text.ts';
import { AppError } from '../errors.ts';

/** Maximum `NaN` and its kin per body: each costs more than a number, and a full batch of entries has three in each. */
const MAX_SPECIALS = 30_000;

/**
 * Parses a body. Where the meaning is plain it forgives (CONTRACT 3): NUL characters at the end go, `NaN` and
 * `Infinity` as Python writes them are read as such. INVALID_JSON says at which line and column the text stops being
 * JSON; INVALID_BODY: it has too many keys, objects and lists, or those numbers; TOO_MANY_ENTRIES: it is a list of
 * more. `keepsLongNumbers`: see there.
 */
export function parseJson(text: string, bounds: Bounds & { keepsLongNumbers?: boolean } = {}): unknown {
  const { entries = Infinity, keepsLongNumbers = false } = bounds;
  const excess = excessOf(text, bounds);
  if (excess === TOO_MANY_ENTRIES) throw tooManyEntries(entries);
  if (excess !== null) throw new AppError('INVALID_BODY', `The body ${excess}.`);
  const body = parsed(text, keepsLongNumbers ? keepLongNumbers : undefined);
  if (Array.isArray(body) && body.length > entries) throw tooManyEntries(entries);
  return body;
}

type Reviver = typeof keepLongNumbers;

function parsed(text: string, reviver?: Reviver): unknown {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  // JSON.parse does not begin with a text that it would not read to its end.
  if (text.includes('NaN') || text.includes('Infinity')) return parseForgivingly(text, end, reviver);
  try {
    return JSON.parse(text.slice(0, end), reviver);
  } catch {
    return parseForgivingly(text, end, reviver);
  }
}

function tooManyEntries(limit: number): AppError {
  return new AppError('TOO_MANY_ENTRIES', `A body has at most ${limit} entries; send them in parts.`, {
    details: { limit },
  });
}

/** Stand for numbers that JSON cannot say; no sender's text that holds NUL can be stored. */
const NUMBERS: ReadonlyMap<unknown, number> = new Map([
  ['\0NaN', Number.NaN],
  ['\0Infinity', Infinity],
  ['\0-Infinity', -Infinity],
]);

/** Parses a text with NaN or Infinity; a mistake is found before anything is parsed once more. */
function parseForgivingly(text: string, end: number, reviver?: Reviver): unknown {
  const { mistake, specials } = new Reader(text, end).read();
  if (specials.length > MAX_SPECIALS)
    throw new AppError('INVALID_BODY', `The body has NaN or Infinity more than ${MAX_SPECIALS} times.`, {
      details: { limit: MAX_SPECIALS },
    });
  if (mistake !== null) throw notJson(text, mistake);
  if (specials.length === 0) return JSON.parse(text.slice(0, end), reviver);
  const pieces: string[] = [];
  let from = 0;
  for (const { at, name } of specials) {
    pieces.push(text.slice(from, at), `"\\u0000${name}"`);
    from = at + name.length;
  }
  pieces.push(text.slice(from, end));
  return withNumbers(JSON.parse(pieces.join(''), reviver), 2);
}

/** Puts the numbers into a body and its entries; deeper values are not stored. */
function withNumbers(body: unknown, levels: number): unknown {
  if (typeof body === 'string') return body.charCodeAt(0) === 0 ? (NUMBERS.get(body) ?? body) : body;
  if (levels === 0 || typeof body !== 'object' || body === null) return body;
  if (Array.isArray(body)) {
    for (let at = 0; at < body.length; at += 1) put(body, at, body[at], levels);
    return body;
  }
  const parts = body as Record<string, unknown>;
  for (const key in parts) put(parts, key, parts[key], levels);
  return body;
}

function put<Key extends string | number>(
  container: Record<Key, unknown>,
  key: Key,
  value: unknown,
  levels: number,
): void {
  const read = withNumbers(value, levels - 1);
  if (read !== value) container[key] = read;
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

const [ZERO, MINUS, PLUS, POINT, BACKSLASH, LETTER_U] = [0x30, 0x2d, 0x2b, 0x2e, 0x5c, 0x75];
const WORDS = ['true', 'false', 'null'];
const SPECIALS = ['NaN', 'Infinity', '-Infinity'];
/** Characters that may follow a backslash, beside a `u`. */
const ESCAPES = new Set(Array.from('"\\/bfnrt', (character) => character.charCodeAt(0)));

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

  /** Place of the mistake; null: there is none but `NaN` and its kin, which are listed. */
  read(): { mistake: number | null; specials: Special[] } {
    return { mistake: this.#isJson() ? null : this.#at, specials: this.#specials };
  }

  #isJson(): boolean {
    /** The closing character of each open list and object. */
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
      if (code !== BACKSLASH) continue;
      at += 1;
      const escaped = text.charCodeAt(at);
      if (escaped === LETTER_U) {
        for (const last = at + 4; at < last; at += 1) if (!isHex(text.charCodeAt(at + 1))) return false;
      } else if (!ESCAPES.has(escaped)) return false;
    }
    return false;
  }

  /** Takes a scalar without regular expressions: they are slow for many. */
  #takeScalar(code: number): boolean {
    if (this.#takeNumber(code) || WORDS.some((word) => this.#takeWord(word))) return true;
    const at = this.#at;
    const name = SPECIALS.find((special) => this.#takeWord(special));
    // Too many are a mistake: reading ends there.
    return name !== undefined && this.#specials.push({ at, name }) <= MAX_SPECIALS;
  }

  #takeWord(word: string): boolean {
    const end = this.#at + word.length;
    if (!this.#text.startsWith(word, this.#at) || isWordy(this.#text.charCodeAt(end))) return false;
    this.#at = end;
    return true;
  }

  #takeNumber(code: number): boolean {
    const text = this.#text;
    let at = this.#at;
    if (code === MINUS) at += 1;
    const whole = text.charCodeAt(at) === ZERO ? at + 1 : digitsEnd(text, at);
    if (whole === at) return false;
    at = whole;
    if (text.charCodeAt(at) === POINT) {
      const fraction = digitsEnd(text, at + 1);
      if (fraction === at + 1) return false;
      at = fraction;
    }
    if ((text.charCodeAt(at) | 0x20) === 0x65) {
      at += 1;
      const sign = text.charCodeAt(at);
      if (sign === PLUS || sign === MINUS) at += 1;
      const exponent = digitsEnd(text, at);
      if (exponent === at) return false;
      at = exponent;
    }
    const next = text.charCodeAt(at);
    if (isWordy(next) || next === POINT || next === PLUS || next === MINUS) return false;
    this.#at = at;
    return true;
  }
}

function digitsEnd(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 0x39;
}

/** Digits, letters from A to Z and `_`. */
function isWordy(code: number): boolean {
  const small = code | 0x20;
  return isDigit(code) || (small >= 0x61 && small <= 0x7a) || code === 0x5f;
}

function isHex(code: number): boolean {
  const small = code | 0x20;
  return isDigit(code) || (small >= 0x61 && small <= 0x66);
}
