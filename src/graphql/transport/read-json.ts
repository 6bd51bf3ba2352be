import { jsonDepth } from '../../domain/json-document.ts';

/** Those of a value of type JSON (500), and what stands around it. */
const MAX_DEPTH = 600;

/**
 * What clients send as JSON; undefined: it is none, or nested deeper than 600 levels. Variables are written down again,
 * which overflows the stack at some depth.
 */
export function readJson(text: string): unknown {
  if (jsonDepth(text) > MAX_DEPTH) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
