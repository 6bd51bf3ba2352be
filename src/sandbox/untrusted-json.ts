/** More than the realm writes: deeper text is a lie, and would end whoever walks through it. */
const MAX_DEPTH = 80;

/** The value of JSON text that nobody vouches for; undefined when it is none, or nested deeper than 80 levels. */
export function readJson(text: string): unknown {
  try {
    const value = JSON.parse(text) as unknown;
    return isShallow(value, MAX_DEPTH) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isShallow(item, levels - 1)) return false;
  } else {
    for (const key in value) if (!isShallow((value as Record<string, unknown>)[key], levels - 1)) return false;
  }
  return true;
}
