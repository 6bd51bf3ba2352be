import { parseShallow } from '../domain/json-text.ts';

/** More than the realm writes: deeper text is a lie, and would end whoever walks through it. */
const MAX_DEPTH = 80;

/** The value of JSON text that nobody vouches for; undefined: none, nested deeper than 80 levels, or of too many keys. */
export function readJson(text: string): unknown {
  return parseShallow(text, MAX_DEPTH);
}
