/** Maximum distinct key paths per text: a key with the keys before it in its object. V8 learns each one separately. */
const MAX_WAYS = 12_000;
/** Texts of at most this many characters are not checked for paths: they cannot hold too many. */
const SHORT = 65_536;
/** Default maximum nesting; a short text cannot nest deeper and be closed again. */
const MOST_LEVELS = SHORT / 2;
/** Bits of the hash by which paths are told apart; at the bound an eighth of them collide and count as one. */
const PLACES = 16;
const known = new Uint8Array(1 << PLACES);
/** Random per process, so that colliding paths cannot be chosen from outside. */
const FACTOR = Math.trunc(Math.random() * 2 ** 32) | 1;

/** The bound on keys, for messages. */
export const MOST_KEYS = `at most ${MAX_WAYS} different keys, each order of them counted`;

/** Maximum objects and lists in a text that is checked part by part: five per entry of ten thousand. */
export const MOST_NODES = 50_000;

/** Bounds on a JSON text besides that on its distinct keys. */
export interface Bounds {
  /** Maximum nesting. */
  levels?: number;
  /** Maximum entries of a long text that is a list. */
  entries?: number;
  /** Maximum objects and lists of a long text. */
  nodes?: number;
}

/** Answer of `excessOf` for a list with more entries than `entries`. */
export const TOO_MANY_ENTRIES = 'has too many entries';

/**
 * The value of a JSON text; undefined when it is not JSON or exceeds the bounds. The nesting bound also keeps
 * `JSON.stringify` from overflowing the stack.
 */
export function parseShallow(text: string, bounds: Bounds): unknown {
  if (excessOf(text, bounds) !== null) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * The reason why a JSON text is too expensive to parse, as the end of a sentence; null when it is not. Judges the text
 * without parsing it: the parser recurses as deep as the text nests, and is slow for distinct keys or orders of keys.
 */
export function excessOf(text: string, bounds: Bounds = {}): string | null {
  const { levels = MOST_LEVELS, entries = Infinity, nodes = Infinity } = bounds;
  const counts = text.length > SHORT;
  if (!counts && levels >= MOST_LEVELS) return null;
  if (counts) known.fill(0);
  /** Path hashes of the enclosing objects and lists. */
  const around: number[] = [];
  let [way, ways, depth, from, to] = [0, 0, 0, 0, 0];
  let [opened, commas, isList] = [0, 0, false];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      from = at + 1;
      to = at = endOfText(text, at);
    } else if (code === 0x5b || code === 0x7b) {
      if (depth === 0) isList = code === 0x5b;
      opened += 1;
      if (opened > nodes) return `has more than ${nodes} objects and lists; leave out what is not stored`;
      depth += 1;
      if (depth > levels) return `is nested deeper than ${levels} levels`;
      if (counts) around.push(way);
      way = 0;
    } else if (code === 0x5d || code === 0x7d) {
      depth -= 1;
      if (counts) way = around.pop() ?? 0;
    } else if (code === 0x2c && depth === 1 && isList) {
      commas += 1;
      if (commas > entries) return TOO_MANY_ENTRIES;
    } else if (code === 0x3a && counts) {
      way = wayTo(text, from, to, way);
      const place = way >>> (32 - PLACES);
      if (known[place] === 1) continue;
      known[place] = 1;
      ways += 1;
      if (ways > MAX_WAYS) return `has too many keys; it may have ${MOST_KEYS}`;
    }
  }
  return null;
}

/** The smallest number from which a double cannot hold every whole number. */
const LONG_NUMBER = 2 ** 53;

/** True for a number that may differ from its JSON text: 9007199254740993 is read as …992. */
export function isLongNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) >= LONG_NUMBER;
}

/** Reviver of `JSON.parse` that keeps such a number as its text. */
export function keepLongNumbers(this: unknown, _key: string, value: unknown, context?: { source: string }): unknown {
  return isLongNumber(value) && context !== undefined ? context.source : value;
}

/** Index of the closing quote of the JSON string that begins there. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length && text.charCodeAt(at) !== 0x22; at += 1) if (text.charCodeAt(at) === 0x5c) at += 1;
  return at;
}

/** Maximum inner lists and objects of a text that `outermostOf` reduces. */
const MOST_INSIDE = 100;

/**
 * The JSON text with the lists and objects inside the outermost one emptied: cheap to parse, however deep they are. ''
 * when there are more than a hundred.
 */
export function outermostOf(text: string): string {
  const kept: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) at = endOfText(text, at);
    else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth !== 2) continue;
      if (kept.length === MOST_INSIDE) return '';
      kept.push(text.slice(from, at + 1));
    } else if (code === 0x5d || code === 0x7d) {
      if (depth === 2) from = at;
      depth -= 1;
    }
  }
  // An unclosed list or object is not JSON; leave its content out all the same.
  if (depth < 2) kept.push(text.slice(from));
  return kept.join('');
}

/** The path hash of the key at that place, behind the path of the key before it in its object. */
function wayTo(text: string, from: number, to: number, before: number): number {
  let hash = before + 1;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR);
  return Math.imul(hash ^ (hash >>> 15), FACTOR);
}

/** The same JSON with the keys of all objects in one order: PostgreSQL keeps no order of its own. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson);
  // JSON has one zero.
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, sortedJson(item)]);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
