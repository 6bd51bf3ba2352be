import { excessOf, parseShallow } from '../../domain/text/json-text.ts';

/** Maximum levels per message: a value of type JSON (500), and what is around it. */
export const MAX_LEVELS = 600;

/** Reads JSON of clients; undefined: it is none, nested deeper than `MAX_LEVELS`, or has too many keys. */
export function readJson(text: string): unknown {
  return parseShallow(text, { levels: MAX_LEVELS });
}

/** The reason why `readJson` does not read the text, as the end of a sentence; null: it is no JSON, or is read. */
export function whyUnread(text: string): string | null {
  return excessOf(text, { levels: MAX_LEVELS });
}
