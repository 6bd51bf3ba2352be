import { createStore, useStore } from '../api/store.ts';

interface Toast {
  id: number;
  text: string;
}

const SHOWN_MS = 5_000;
const MOST = 3;
const shown = createStore<readonly Toast[]>([]);
let count = 0;

/** Shows a short message at the edge of the page for a few seconds. */
export function toast(text: string): void {
  const id = (count += 1);
  shown.set([...shown.get(), { id, text }].slice(-MOST));
  setTimeout(() => shown.set(shown.get().filter((one) => one.id !== id)), SHOWN_MS);
}

/** The area of the toasts. */
export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {useStore(shown).map(({ id, text }) => (
        <div key={id} class="toast">
          {text}
        </div>
      ))}
    </div>
  );
}
