import { eachEntry, mergeValues, writeValues } from './reading-values.ts';

/** Maximum bytes of a new reading that is stored in one row. */
export const MAX_NEW_BYTES = 8_192;
/** Maximum bytes of the row of a reading that was written again: a value that joins it rewrites no more than this. */
export const MAX_RECENT_BYTES = 1_900;
/** Minimum bytes of a text with a part of its own; the base of the 500 fields of a product has at most 18 KB then. */
const LONG_TEXT_BYTES = 32;
/** Takes the place of a text that has a part of its own: no value contains NUL. */
const MARK = '\0';
const MARK_BYTES = 12;
const EMPTY = Buffer.alloc(0);

/** Number of the part with the values of all fields but long texts. A text has the key of its field as number. */
export const BASE = -1;

/** The number of a part, and its values as `reading-values.ts` writes them. */
export type Part = [part: number, packed: Buffer];

/** The values that stay in the row of a reading, and its parts. Values of the row win over those of the base. */
interface CutReading {
  packed: Buffer;
  parts: Part[];
}

/**
 * Cuts a reading into its row and its parts. A text replaces the part that exists; the base is merged over the existing one
 * (`mergePart`).
 */
export function cutReading(values: Buffer): CutReading {
  const rest = new Map<number, Buffer>();
  const texts = new Map<number, Buffer>();
  eachEntry(values, (fieldKey, entry, textBytes) => {
    if (textBytes < LONG_TEXT_BYTES) {
      rest.set(fieldKey, entry);
      texts.delete(fieldKey);
    } else {
      rest.set(fieldKey, mark(fieldKey));
      texts.set(fieldKey, entry);
    }
  });
  const packed = Buffer.concat([...rest.values()]);
  if (packed.length <= MAX_RECENT_BYTES / 2) return { packed, parts: [...texts] };
  return { packed: EMPTY, parts: [[BASE, packed], ...texts] };
}

/** Cuts a reading that is rewritten as a whole if it is longer than `MAX_NEW_BYTES`. */
export function cutIfLong(values: Buffer): CutReading {
  return values.length > MAX_NEW_BYTES ? cutReading(values) : { packed: values, parts: [] };
}

/** Joins the row of a reading, its base and its texts (concatenated); null: it has none. */
export function wholeReading(packed: Buffer, base: Buffer | null, texts: Buffer | null): Buffer {
  if (base === null && texts === null) return packed;
  const ofFields = new Map<number, Buffer>();
  eachEntry(texts ?? EMPTY, (fieldKey, entry) => ofFields.set(fieldKey, entry));
  const entries = new Map<number, Buffer>();
  eachEntry(Buffer.concat([base ?? EMPTY, packed]), (fieldKey, entry, textBytes) => {
    const isMark = textBytes === 1 && entry.at(-1) === 0;
    const own = isMark ? ofFields.get(fieldKey) : entry;
    if (own === undefined) entries.delete(fieldKey);
    else entries.set(fieldKey, own);
  });
  return Buffer.concat([...entries.values()]);
}

/** Puts a part over an existing one with the same number. */
export function mergePart(part: number, older: Buffer, newer: Buffer): Buffer {
  return part === BASE ? mergeValues(older, newer) : newer;
}

function mark(fieldKey: number): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  return bytes.subarray(0, writeValues(bytes, 0, { fieldKeys: [fieldKey], values: [MARK] }, [0], 0, 1));
}
