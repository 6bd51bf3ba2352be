/** Estimates the bytes of JSON that an answer has; stops looking a little over `most`. */
export function answerBytes(answer: unknown, most: number): number {
  return added(answer, 0, most);
}

function added(value: unknown, before: number, most: number): number {
  if (typeof value === 'string') return before + value.length + 2;
  if (typeof value !== 'object' || value === null) return before + (typeof value === 'number' ? 10 : 5);
  let bytes = before + 2;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length && bytes <= most; at += 1) bytes = added(value[at], bytes + 1, most);
    return bytes;
  }
  for (const key in value) {
    if (bytes > most) break;
    bytes = added((value as Record<string, unknown>)[key], bytes + key.length + 4, most);
  }
  return bytes;
}
