/** What this browser keeps under a name; null: nothing, as always in a frame of another page where it keeps nothing. */
export function kept(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}
