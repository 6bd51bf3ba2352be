/** Bytes of a value beside its characters, and of a list or an object beside its values. */
export const VALUE = 32;
const CONTAINER = 64;

/** Bytes from which a value is not measured again: a message, what it asks, and its variables are each asked about. */
const LONG = 16_384;
const LEVELS = 3;
const known = new WeakMap<object, number>();

/** Estimates the bytes of a value in memory; a value asked about before must not have changed. */
export function memoryOf(value: unknown): number {
  return memoryAt(value, 0);
}

function memoryAt(value: unknown, level: number): number {
  if (typeof value === 'string') return VALUE + 2 * value.length;
  if (typeof value !== 'object' || value === null) return VALUE;
  if (level > LEVELS) return memoryOfParts(value, level + 1);
  const before = known.get(value);
  if (before !== undefined) return before;
  const bytes = memoryOfParts(value, level + 1);
  if (bytes >= LONG) known.set(value, bytes);
  return bytes;
}

function memoryOfParts(value: object, level: number): number {
  let bytes = CONTAINER;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at += 1) bytes += memoryAt(value[at], level);
    return bytes;
  }
  for (const name in value)
    bytes += VALUE + 2 * name.length + memoryAt((value as Record<string, unknown>)[name], level);
  return bytes;
}
