import { visit } from 'jsonc-parser';
import { type Bounds, excessOf, keepLongNumbers, TOO_MANY_ENTRIES } from './json-text.ts';
import { AppError } from '../../errors.ts';

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

function parsed(text: string, reviver?: typeof keepLongNumbers): unknown {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) <= 0x20) end -= 1;
  const json = text.slice(0, end);
  const hasSpecials = json.includes('NaN') || json.includes('Infinity');
  const marked = hasSpecials ? withMarks(json) : json;
  try {
    const body: unknown = JSON.parse(marked, reviver);
    return hasSpecials ? withNumbers(body, 2) : body;
  } catch (error) {
    if (error instanceof SyntaxError) throw notJson(text, mistakeIn(marked));
    throw error;
  }
}

function tooManyEntries(limit: number): AppError {
  return new AppError('TOO_MANY_ENTRIES', `A body has at most ${limit} entries; send them in parts.`, {
    details: { limit },
  });
}

/** A string, also one that is left open, or a number that JSON cannot say. Never fails behind a quote: it is linear. */
const SPECIAL = /"(?:[^"\\]+|\\.)*"?|\bNaN\b|-?\bInfinity\b/gs;
/** Half of a surrogate pair stands for each letter of such a number: no sender's text with one can be stored. */
const MARK = '\ud800';
const NUMBERS: ReadonlyMap<unknown, number> = new Map([
  [markOf('NaN'), Number.NaN],
  [markOf('Infinity'), Infinity],
  [markOf('-Infinity'), -Infinity],
]);

/** As long as the name with quotes around it, so that places in the text stay. */
function markOf(name: string): string {
  return MARK.repeat(name.length - 2);
}

function withMarks(json: string): string {
  const pieces: string[] = [];
  let from = 0;
  for (let found = SPECIAL.exec(json); found !== null; found = SPECIAL.exec(json)) {
    const [name] = found;
    if (name.startsWith('"')) continue;
    pieces.push(json.slice(from, found.index), `"${markOf(name)}"`);
    from = SPECIAL.lastIndex;
    if (pieces.length <= 2 * MAX_SPECIALS) continue;
    SPECIAL.lastIndex = 0;
    throw new AppError('INVALID_BODY', `The body has NaN or Infinity more than ${MAX_SPECIALS} times.`, {
      details: { limit: MAX_SPECIALS },
    });
  }
  return pieces.join('') + json.slice(from);
}

/** Puts the numbers into a body and its entries; deeper values are not stored. */
function withNumbers(body: unknown, levels: number): unknown {
  if (typeof body === 'string') return body.startsWith(MARK) ? (NUMBERS.get(body) ?? body) : body;
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

class Mistake extends Error {}

/** Position of the first character that no JSON text could have there, or of the text that it spoils. */
function mistakeIn(text: string): number {
  let place = text.length;
  const onError = (_: number, offset: number): void => {
    place = offset;
    throw new Mistake();
  };
  try {
    visit(text, { onError }, { disallowComments: true });
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('INVALID_BODY', 'The body is not JSON, and nested too deeply.');
    if (!(error instanceof Mistake)) throw error;
  }
  return place;
}
