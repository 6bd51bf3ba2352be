import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

interface MenuProps {
  /** Name of the button. */
  label: string;
  button: ComponentChildren;
  class?: string;
  children: ComponentChildren;
}

/** A button that opens a small menu below it, or above it where it would end outside the window; a click elsewhere, Escape or a choice closes it. */
export function Menu({ label, button, class: more = '', children }: MenuProps) {
  const id = useId();
  const sheet = useRef<HTMLDivElement>(null);
  const anchor = useRef<HTMLButtonElement>(null);
  const place = (): void => {
    if (sheet.current === null || anchor.current === null) return;
    const { bottom, right } = anchor.current.getBoundingClientRect();
    sheet.current.style.top = `${bottom + 6}px`;
    sheet.current.style.right = `${Math.max(8, document.documentElement.clientWidth - right)}px`;
  };
  const raise = (): void => {
    if (sheet.current === null || anchor.current === null) return;
    const { bottom, height } = sheet.current.getBoundingClientRect();
    const { top } = anchor.current.getBoundingClientRect();
    if (bottom > innerHeight) sheet.current.style.top = `${Math.max(8, top - height - 6)}px`;
  };
  return (
    <>
      <button
        ref={anchor}
        type="button"
        class={`quiet ${more}`}
        aria-label={label}
        title={label}
        popovertarget={id}
        onClick={place}
      >
        {button}
      </button>
      <div
        ref={sheet}
        id={id}
        popover="auto"
        class="menu"
        onToggle={(event) => {
          if (event.newState === 'open') raise();
        }}
        // Close before the choice runs: a dialog that it opens restores the focus to the present element.
        onClickCapture={(event) => {
          const chosen = (event.target as Element).closest('button, a');
          if (chosen === null || chosen.hasAttribute('data-stays')) return;
          sheet.current?.hidePopover();
          anchor.current?.focus();
        }}
      >
        {children}
      </div>
    </>
  );
}
