import { badInput } from '../../errors.ts';
import { checkStorable } from './text.ts';

const MAX_DEPTH = 64;

/** The JSON value itself, when both databases can keep it unchanged; else BAD_USER_INPUT naming the path of the mistake. */
export function checkJsonDocument(value: unknown, path: string, maxBytes: number): unknown {
  // Check the length first: visiting every part of a document that is too long takes longer. `undefined` has no JSON
  // text.
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
