const COMPARED = ['device', 'field', 'value', 'timestamp'] as const;

/** The entries that an example expects: without times, as those may be the time of receipt. */
export function expectedOf(
  entries: readonly { device: string | null; field: string | null; value: unknown }[],
): object[] {
  return entries.map(({ device, field, value }) => ({ ...(device === null ? {} : { device }), field, value }));
}

/** Entries as text, one per line, for comparison by people. */
export function expectedText(entries: readonly object[]): string {
  const lines = entries.map((entry) => {
    const known = entry as Record<string, unknown>;
    const parts = COMPARED.filter((key) => known[key] != null && (key !== 'timestamp' || !('code' in known)));
    return `  { ${parts.map((key) => `"${key}": ${JSON.stringify(known[key])}`).join(', ')} }`;
  });
  return `[\n${lines.join(',\n')}\n]`;
}
