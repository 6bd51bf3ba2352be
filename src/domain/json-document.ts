import { badInput } from '../errors.ts';
import { checkStorable } from './text.ts';

const MAX_DEPTH = 64;

/** The JSON value itself, when both databases can keep it unchanged; else BAD_USER_INPUT naming the path of the mistake. */
export function checkJsonDocument(value: unknown, path: string, maxBytes: number): unknown {
  // First: looking at each of 70,000 parts of what is too long takes a while. Of what is no JSON there is no text.
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? '');
  if (bytes > maxBytes) throw badInput(`${path}: ${bytes} bytes as JSON, at most ${maxBytes} are allowed.`);
  checkNode(value, path, 0);
  return value;
}

function checkNode(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw badInput(`${path}: nested deeper than ${MAX_DEPTH} levels.`);
  if (typeof value === 'string') checkStorable(value, path);
  else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw badInput(`${path}: must be a finite number.`);
  } else if (Array.isArray(value)) value.forEach((item, index) => checkNode(item, `${path}[${index}]`, depth + 1));
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) {
      const at = `${path}.${key.slice(0, 50)}`;
      checkStorable(key, at);
      checkNode(item, at, depth + 1);
    }
  } else if (typeof value !== 'boolean' && value !== null) throw badInput(`${path}: is no JSON value.`);
}

/** How deep the lists and objects of a JSON text nest, counted on the text: parsing it would go as deep. */
export function jsonDepth(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x22) {
      for (at += 1; at < text.length && text.charCodeAt(at) !== 0x22; at += 1)
        if (text.charCodeAt(at) === 0x5c) at += 1;
    } else if (code === 0x5b || code === 0x7b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x5d || code === 0x7d) depth -= 1;
  }
  return deepest;
}
