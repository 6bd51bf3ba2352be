/** The JSON value with every text and name in it as `mask` gives it. */
export function maskedTexts(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => maskedTexts(item, mask));
  // Without a prototype, so that `__proto__` is a name like any other.
  const copy = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) copy[mask(name)] = maskedTexts(item, mask);
  return copy;
}
