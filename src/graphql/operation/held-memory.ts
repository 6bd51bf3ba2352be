/** What a value takes beside its characters, and a list or an object beside its values. */
export const VALUE = 32;
const CONTAINER = 64;

/** About what a value takes in memory, in bytes; looked at no further than a little over `most`. */
export function memoryOf(value: unknown, most = Infinity): number {
  return added(value, 0, most);
}

function added(value: unknown, before: number, most: number): number {
  if (typeof value === 'string') return before + VALUE + 2 * value.length;
  if (typeof value !== 'object' || value === null) return before + VALUE;
  let bytes = before + CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes = added(value[at], bytes, most);
    return bytes;
  }
  for (const name in value) {
    if (bytes > most) break;
    bytes = added((value as Record<string, unknown>)[name], bytes + VALUE + 2 * name.length, most);
  }
  return bytes;
}
