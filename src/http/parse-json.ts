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
        ? 'The body is empty; send a JSON array of entries or one entry object.'
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
    const revive = (_: string, value: unknown): unknown =>
      typeof value === 'string' && value.startsWith(NUMBER) ? Number(value.slice(NUMBER.length)) : value;
    return { value: from === 0 ? JSON.parse(json) : JSON.parse(json, revive) };
  } catch {
    return null;
  }
}

const SPACE = /[ \t\r\n]*/y;
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
  const takeKey = (): boolean => {
    if (!take(STRING)) return false;
    take(SPACE);
    if (text[at] !== ':') return false;
    at += 1;
    return true;
  };
  for (;;) {
    take(SPACE);
    const char = text[at];
    if (char === '[' || char === '{') {
      open.push(char);
      at += 1;
      take(SPACE);
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
      take(SPACE);
      if (open.length === 0 || text[at] === ',') break;
      if (text[at] !== (open.at(-1) === '{' ? '}' : ']')) return at;
    }
    if (open.length === 0) return at;
    at += 1;
    take(SPACE);
    if (open.at(-1) === '{' && !takeKey()) return at;
  }
}
