import { useCallback, useState } from 'preact/hooks';
import { wordsOf } from './api-error.ts';

/** Something a person asks for: under way or not, and why it failed last, in the server's words. */
interface Action<Arguments extends unknown[]> {
  busy: boolean;
  error: string | null;
  /** Does it; resolves true when it was done, false when it failed (then `error` says why). */
  run: (...given: Arguments) => Promise<boolean>;
  /** Takes the words of the last failure away. */
  clear: () => void;
}

/** Wraps work that may fail, so that a form can show that it is under way and why it failed. */
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

/** A button that is disabled while something is under way loses the focus: afterwards it has it again. */
function giveBackFocus(before: Element | null): void {
  if (document.activeElement === document.body && before instanceof HTMLElement) before.focus({ preventScroll: true });
}
