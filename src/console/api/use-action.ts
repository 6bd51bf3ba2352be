import { useCallback, useState } from 'preact/hooks';
import { wordsOf } from './api-error.ts';

/** Work that a person asks for: whether it is in progress, and its last failure, in the server's words. */
interface Action<Arguments extends unknown[]> {
  busy: boolean;
  error: string | null;
  /** Runs it; resolves true when it succeeded, false when it failed (then `error` says why). */
  run: (...given: Arguments) => Promise<boolean>;
  /** Clears the last failure. */
  clear: () => void;
}

/** Wraps work that may fail, so that a form can show its progress and failure. */
export function useAction<Arguments extends unknown[]>(
  work: (...given: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const [state, setState] = useState<{ busy: boolean; error: string | null }>({ busy: false, error: null });
  const run = async (...given: Arguments): Promise<boolean> => {
    const before = document.activeElement;
    setState({ busy: true, error: null });
    try {
      await work(...given);
      setState({ busy: false, error: null });
      return true;
    } catch (error) {
      setState({ busy: false, error: wordsOf(error) });
      return false;
    } finally {
      requestAnimationFrame(() => giveBackFocus(before));
    }
  };
  const clear = useCallback(() => setState((before) => ({ ...before, error: null })), []);
  return { ...state, run, clear };
}

/** Restores the focus, which a button loses while it is disabled. */
function giveBackFocus(before: Element | null): void {
  if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
}
