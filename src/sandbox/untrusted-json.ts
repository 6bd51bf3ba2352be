import { type Bounds, MOST_NODES, parseShallow } from '../domain/text/json-text.ts';

/** Bounds of text from a decoder process: deeper than the realm writes, and safe to walk through. */
export const UNTRUSTED: Bounds = { levels: 80, nodes: MOST_NODES };

/** Parses untrusted JSON text; undefined: it is invalid or beyond the bounds. */
export function readJson(text: string): unknown {
  return parseShallow(text, UNTRUSTED);
}
