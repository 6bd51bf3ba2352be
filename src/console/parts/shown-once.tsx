import type { ComponentChildren } from 'preact';
import { CopyText } from './copy-text.tsx';
import { Dialog } from './dialog.tsx';

interface ShownOnceProps {
  title: string;
  /** What the text is, for who copies it. */
  label: string;
  text: string;
  onClose: () => void;
  children: ComponentChildren;
}

/** Shows a secret this once, to be copied, and what there is to know about it. */
export function ShownOnce({ title, label, text, onClose, children }: ShownOnceProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <CopyText label={label} text={text} />
      {children}
      <div class="actions">
        <button type="button" class="primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
