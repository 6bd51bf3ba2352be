import { useEffect, useRef } from 'preact/hooks';
import { t } from '../texts/texts.ts';

/** What takes typed characters itself: boxes to check do not. */
const TYPING = [
  'input:not([type="checkbox"], [type="radio"], [type="button"], [type="submit"], [type="range"], [type="file"])',
  'textarea',
  'select',
  '[contenteditable]',
  '[contenteditable] *',
].join(', ');

/** Runs when one of the keys is pressed anywhere but where one types or in a dialog. */
export function useShortcut(keys: readonly string[], run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const isWith = event.ctrlKey || event.metaKey;
      const name = `${isWith ? t('Ctrl ') : ''}${isWith ? event.key.toLowerCase() : event.key}`;
      if (!keys.includes(name) || event.altKey || event.defaultPrevented) return;
      // Use the path: for the decoder's editor, `target` is only the element around its shadow root.
      const [target] = event.composedPath();
      if (!isWith && target instanceof Element && target.matches(TYPING)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      latest.current();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [keys.join()]);
}
