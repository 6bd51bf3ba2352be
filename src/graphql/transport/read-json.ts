import { excessOf, parseShallow } from '../../domain/text/json-text.ts';

/** Those of a value of type JSON (500), and what stands around it: variables are written as JSON again. */
export const MAX_LEVELS = 600;

/** What clients send as JSON; undefined: it is none, nested deeper than `MAX_LEVELS`, or has too many keys. */
export function readJson(text: string): unknown {
  return parseShallow(text, { levels: MAX_LEVELS });
}

/** Why `readJson` does not read the text, as the end of a sentence; null: if it does not, it is no JSON. */
export function whyUnread(text: string): string | null {
  return excessOf(text, { levels: MAX_LEVELS });
}
