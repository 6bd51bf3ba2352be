import { AppError } from '../errors.ts';

/**
 * Parses a body. Where the meaning is plain it forgives (CONTRACT 3): NUL characters at the end go, `NaN` and `Infinity`
 * as Python writes them are read as such. INVALID_JSON says at which line and column the text stops being JSON.
 */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const forgiven = parseForgivingly(text);
    if (forgiven !== null) return forgiven.value;
    const at = findMistake(text);
    const before = text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - before.lastIndexOf('\n');
    const found =
      at >= text.length
        ? 'the body ends'
        : `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0))}`;
    throw new AppError(
      'INVALID_JSON',
      text.trim() === ''
        ? 'The body is empty; send a JSON array of entries or one entry object, and its Content-Length.'
        : `The body is not JSON: ${found} at position ${at} (line ${line}, column ${column}).`,
      { details: { position: at, line, column } },
    );
  }
}

/** Stands for a number that JSON cannot say; no sender's text holds it and can be stored. */
const NUMBER = '\0number:';
const SPECIAL = /NaN|-?Infinity/y;

/** null: it is no JSON for another reason. */
function parseForgivingly(text: string): { value: unknown } | null {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  let json = '';
  let from = 0;
  for (let at = 0; at < end; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      for (at += 1; at < end && text.charCodeAt(at) !== 0x22; at += 1) if (text.charCodeAt(at) === 0x5c) at += 1;
    } else if (code === 0x4e || code === 0x49 || code === 0x2d) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(text)?.[0];
      if (found === undefined) continue;
      json += `${text.slice(from, at)}"\\u0000number:${found}"`;
      at += found.length - 1;
      from = at + 1;
    }
  }
  if (json === '' && end === text.length) return null;
  json += text.slice(from, end);
  try {
    const value: unknown = JSON.parse(json);
    return { value: from === 0 ? value : withNumbers(value) };
  } catch {
    return null;
  }
}

/** The numbers in a body and in its entries; of what is deeper nothing is stored. */
function withNumbers(body: unknown, levels = 2): unknown {
  if (typeof body === 'string' && body.startsWith(NUMBER)) return Number(body.slice(NUMBER.length));
  if (levels === 0 || typeof body !== 'object' || body === null) return body;
  const parts = body as Record<string, unknown>;
  for (const key of Object.keys(parts)) {
    const value = withNumbers(parts[key], levels - 1);
    if (value !== parts[key]) parts[key] = value;
  }
  return body;
}

const SPACE = ' \t\r\n';
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|true\b|false\b|null\b/y;
// eslint-disable-next-line no-control-regex -- JSON forbids exactly these
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y;

/** Index of the first character that no JSON text could have there. Keeps its own stack: nesting may be deep. */
function findMistake(text: string): number {
  const open: ('[' | '{')[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const skipSpace = (): void => {
    while (at < text.length && SPACE.includes(text[at]!)) at += 1;
  };
  const takeKey = (): boolean => {
    if (!take(STRING)) return false;
    skipSpace();
    if (text[at] !== ':') return false;
    at += 1;
    return true;
  };
  for (;;) {
    skipSpace();
    const char = text[at];
    if (char === '[' || char === '{') {
      open.push(char);
      at += 1;
      skipSpace();
      if (text[at] !== (char === '[' ? ']' : '}')) {
        if (char === '{' && !takeKey()) return at;
        continue;
      }
    } else if (!(char === '"' ? take(STRING) : take(SCALAR))) return at;
    // A value ended; close what closes, or go on behind a comma.
    for (;;) {
      if (text[at] === (open.at(-1) === '{' ? '}' : ']') && open.length > 0) {
        open.pop();
        at += 1;
      }
      skipSpace();
      if (open.length === 0 || text[at] === ',') break;
      if (text[at] !== (open.at(-1) === '{' ? '}' : ']')) return at;
    }
    if (open.length === 0) return at;
    at += 1;
    skipSpace();
    if (open.at(-1) === '{' && !takeKey()) return at;
  }
}
