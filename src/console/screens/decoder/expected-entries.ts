const COMPARED = ['device', 'field', 'value', 'timestamp'] as const;

/** Entries as an example expects them: without a time, as that may be the time of the receipt. */
export function expectedOf(
  entries: readonly { device: string | null; field: string | null; value: unknown }[],
): object[] {
  return entries.map(({ device, field, value }) => ({ ...(device === null ? {} : { device }), field, value }));
}

/** Entries as text with one entry on each line, to be compared by people. */
export function expectedText(entries: readonly object[]): string {
  const lines = entries.map((entry) => {
    const known = entry as Record<string, unknown>;
    const parts = COMPARED.filter((key) => known[key] != null && (key !== 'timestamp' || !('code' in known)));
    return `  { ${parts.map((key) => `"${key}": ${JSON.stringify(known[key])}`).join(', ')} }`;
  });
  return `[\n${lines.join(',\n')}\n]`;
}
