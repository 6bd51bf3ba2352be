const KEY = 'inlet.decoder.';

/** The unsaved source of the product in this tab; null: none. */
export function readDraft(productId: string): string | null {
  return sessionStorage.getItem(KEY + productId);
}

/** Keeps the source until the tab is closed, so that leaving the page loses nothing. */
export function keepDraft(productId: string, source: string): void {
  try {
    sessionStorage.setItem(KEY + productId, source);
  } catch {
    // The browser's storage is full: the source stays in the editor only.
  }
}

/** Forgets the source once it is saved. */
export function dropDraft(productId: string): void {
  sessionStorage.removeItem(KEY + productId);
}
