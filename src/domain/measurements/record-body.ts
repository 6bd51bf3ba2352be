import { AppError } from '../../errors.ts';
import { type Wasted, unexplainedPart } from '../../scheduling/invalid-input-throttle.ts';
import { type Bounds, isLongNumber, MOST_NODES } from '../text/json-text.ts';
import { parseJson } from '../text/parse-json.ts';
import type { RecordOutcome } from './recorder.ts';

/** Maximum entries per body. */
export const MOST_ENTRIES = 10_000;
const BOUNDS: Bounds = { entries: MOST_ENTRIES, nodes: MOST_NODES };
/** Bytes of the shortest entry, such as `0`, with its comma. */
const OF_LEAST_ENTRY = 2;
/** Maximum bytes of an entry with keys of its own, blanks and a value that is no long text. */
const OF_AN_ENTRY = 1_024;
/** Maximum characters of a stored text, and bytes of a character when it is written `\u00fc`. */
const [MAX_TEXT, OF_A_CHARACTER] = [4_096, 6];

/**
 * Entries of a body (CONTRACT 3); the shape decides: an array of them, or one. INVALID_JSON, INVALID_BODY or
 * TOO_MANY_ENTRIES for anything else.
 */
export function readEntries(text: string): unknown[] {
  const entries = entriesIn(parseJson(text, BOUNDS));
  return entries.some(hasLongNumber) ? entriesIn(parseJson(text, { ...BOUNDS, keepsLongNumbers: true })) : entries;
}

function hasLongNumber(entry: unknown): boolean {
  return isLongNumber((entry as { value?: unknown } | null)?.value);
}

function entriesIn(body: unknown): unknown[] {
  if (!Array.isArray(body)) {
    if (typeof body === 'object' && body !== null) return [body];
    throw new AppError(
      'INVALID_BODY',
      `The body must be a JSON array of entries or one entry object, not ${body === null ? 'null' : `a ${typeof body}`}.`,
    );
  }
  return body;
}

/** Maximum entries that a body of so many bytes may have. */
export function mostEntriesIn(bytes: number): number {
  return Math.min(MOST_ENTRIES, bytes / OF_LEAST_ENTRY);
}

/** The part of a body's entries that was refused, or the part of its bytes that its entries do not explain. */
export function inVainOf(
  { stored, rejected: { length: entries } }: RecordOutcome,
  bytes: number,
  ofTexts: number,
): Wasted {
  const refused = entries === 0 ? 0 : entries / (stored + entries);
  return { part: Math.max(refused, unexplainedPart(bytes, stored * OF_AN_ENTRY + ofTexts)), entries };
}

/** Maximum bytes of the values that are texts; 0 where the entries explain the bytes without them. */
export function bytesOfTexts(entries: readonly unknown[], bytes: number): number {
  if (bytes <= entries.length * OF_AN_ENTRY) return 0;
  let characters = 0;
  for (const entry of entries) {
    const value = (entry as { value?: unknown } | null)?.value;
    if (typeof value === 'string') characters += Math.min(value.length, MAX_TEXT);
  }
  return characters * OF_A_CHARACTER;
}

/**
 * Outcome of a body as a whole: `some` entries were stored, or nothing was wrong with them but that the product ignores
 * them; `limited`: none, and those that count are over the write limit; `none` could be stored.
 */
export function verdictOf({ stored, rejected }: RecordOutcome): 'all' | 'some' | 'limited' | 'none' {
  if (rejected.length === 0) return 'all';
  let [limited, ignored] = [0, 0];
  for (const { code } of rejected) {
    if (code === 'RATE_LIMITED') limited += 1;
    else if (code === 'NO_FIX') ignored += 1;
  }
  // Ignored entries are no fault of the sender's: it is not to send them again.
  if (stored > 0 || ignored === rejected.length) return 'some';
  return limited + ignored === rejected.length ? 'limited' : 'none';
}
