import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  title: string;
  /** Called by Escape, the cross and a click beside it. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A sheet over the page, for as long as it is drawn; the focus goes into it and back. Put a form into it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const id = useId();
  const sheet = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const [before, element] = [focused(), sheet.current!];
    element.showModal();
    return () => {
      // While it is open, nothing outside of it takes the focus.
      element.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={sheet}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === sheet.current) onClose();
      }}
    >
      <div class="stack">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" aria-label="Close" onClick={onClose}>
            <Icon name="close" />
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
}

/** What has the focus, also inside of a shadow root, as the editor of decoders. */
function focused(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement != null) element = element.shadowRoot.activeElement;
  return element;
}
