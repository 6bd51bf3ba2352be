/**
 * Handles keys of a select that acts at once: keys that would choose the next option open its list instead, where
 * arrows move and Enter chooses.
 */
export function pickWithKeys(event: KeyboardEvent): void {
  const select = event.currentTarget as HTMLSelectElement;
  const isChoice = event.key.startsWith('Arrow') || event.key.startsWith('Page') || /^(?:Home|End|.)$/u.test(event.key);
  if (!isChoice || event.ctrlKey || event.metaKey || event.altKey || !('showPicker' in select)) return;
  event.preventDefault();
  select.showPicker();
}
