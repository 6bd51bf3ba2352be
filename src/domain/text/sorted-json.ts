/** The same JSON with the keys of all objects in one order: PostgreSQL keeps no order of its own. */
export function sortedJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedJson);
  // JSON has one zero.
  if (typeof value !== 'object' || value === null) return value === 0 ? 0 : value;
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [key, sortedJson(item)]);
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
