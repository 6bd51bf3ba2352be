/** Ways to a key: whoever is first to put it behind those before it. V8 takes a microsecond or two to learn each. */
const MAX_WAYS = 12_000;
/** In characters: a shorter text has not so many. */
const SHORT = 65_536;
/** A short one, closed again, nests no deeper. */
const MOST_LEVELS = SHORT / 2;
/** By their hashes; at the bound an eighth of them meet in one place, and count as one. */
const PLACES = 16;
const known = new Uint8Array(1 << PLACES);
/** Nobody outside knows which ways meet. */
const FACTOR = Math.trunc(Math.random() * 2 ** 32) | 1;

/** What texts of JSON may hold, for people. */
export const MOST_KEYS = `at most ${MAX_WAYS} different keys, each order of them counted`;

/** Objects and lists of what is looked through part by part: five for each of ten thousand entries. */
export const MOST_NODES = 50_000;

/** Beside its different keys. */
export interface Bounds {
  /** Of nesting. */
  levels?: number;
  /** A long text that is a list may hold so many. */
  entries?: number;
  /** A long text may have so many objects and lists in all. */
  nodes?: number;
}

/** What `excessOf` says of a list of more entries than were asked for. */
export const TOO_MANY_ENTRIES = 'has too many entries';

/**
 * The value of a JSON text; undefined: it is none, or has what `excessOf` says of it. What is written as JSON again
 * overflows the stack at some depth.
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
 * What makes a JSON text too dear to be parsed, as the end of a sentence; null: nothing. Looked for on the text: parsing
 * goes as deep, and a megabyte of keys that are all different, or in different orders, takes 100 ms, of others 5.
 */
export function excessOf(text: string, bounds: Bounds = {}): string | null {
  const { levels = MOST_LEVELS, entries = Infinity, nodes = Infinity } = bounds;
  const counts = text.length > SHORT;
  if (!counts && levels >= MOST_LEVELS) return null;
  if (counts) known.fill(0);
  /** Of the objects and lists around: the way so far. */
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

/** From there on a double has not each whole number. */
const LONG_NUMBER = 2 ** 53;

/** A number that may be another one in the text of JSON it was read from: 9007199254740993 is read as …992. */
export function isLongNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && Math.abs(value) >= LONG_NUMBER;
}

/** For `JSON.parse`: such a number becomes its text. */
export function keepLongNumbers(this: unknown, _key: string, value: unknown, context?: { source: string }): unknown {
  return isLongNumber(value) && context !== undefined ? context.source : value;
}

/** Where the text that begins there in a text of JSON ends: at its second quote. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length && text.charCodeAt(at) !== 0x22; at += 1) if (text.charCodeAt(at) === 0x5c) at += 1;
  return at;
}

/** Of these what is worth reading so has a few: a piece of text is kept for each. */
const MOST_INSIDE = 100;

/**
 * A text of JSON in which the lists and objects inside the outermost one are empty: cheap to parse, however deep they are.
 * '' where these are more than a hundred.
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
  // One that is not closed is no JSON; what is in it is left out all the same.
  if (depth < 2) kept.push(text.slice(from));
  return kept.join('');
}

/** The hash of the way to the key that stands there in the text, behind those of its object before it. */
function wayTo(text: string, from: number, to: number, before: number): number {
  let hash = before + 1;
  for (let at = from; at < to; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), FACTOR);
  return Math.imul(hash ^ (hash >>> 15), FACTOR);
}
