import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icon.tsx';

interface DialogProps {
  title: string;
  /** Called by Escape, the cross and a click outside. */
  onClose: () => void;
  children: ComponentChildren;
}

/** A dialog over the page while mounted; takes the focus and restores it. Put a form into it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const id = useId();
  const sheet = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const [before, element] = [focused(), sheet.current!];
    element.showModal();
    return () => {
      // Close first: nothing outside an open dialog takes the focus.
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

/** The focused element, also inside a shadow root such as that of the decoder's editor. */
function focused(): Element | null {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement != null) element = element.shadowRoot.activeElement;
  return element;
}
