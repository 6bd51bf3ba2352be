/**
 * The value of a JSON text; undefined: it is none, or nested deeper than so many levels. What is written as JSON again
 * overflows the stack at some depth.
 */
export function parseShallow(text: string, levels: number): unknown {
  if (jsonDepth(text) > levels) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
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
