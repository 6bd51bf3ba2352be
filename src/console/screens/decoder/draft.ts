const KEY = 'inlet.decoder.';

/** What was written for the product in this tab and not saved; null: nothing. */
export function readDraft(productId: string): string | null {
  return sessionStorage.getItem(KEY + productId);
}

/** Keeps what is written until the tab is closed, so that leaving the page loses nothing. */
export function keepDraft(productId: string, source: string): void {
  try {
    sessionStorage.setItem(KEY + productId, source);
  } catch {
    // The browser keeps no more: it stays in the editor.
  }
}

/** Forgets what was written: it is saved. */
export function dropDraft(productId: string): void {
  sessionStorage.removeItem(KEY + productId);
}
