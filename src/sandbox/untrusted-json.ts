import { type Bounds, MOST_NODES, parseShallow } from '../domain/text/json-text.ts';

/** More than the realm writes: deeper text is a lie, and would end whoever walks through it. */
export const UNTRUSTED: Bounds = { levels: 80, nodes: MOST_NODES };

/** The value of JSON text that nobody vouches for; undefined: it is none, or of more than it may have. */
export function readJson(text: string): unknown {
  return parseShallow(text, UNTRUSTED);
}
