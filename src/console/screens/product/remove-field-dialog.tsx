import type { ComponentChildren } from 'preact';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';

interface RemoveFieldProps {
  name: string;
  /** Name of the remove button. */
  deed: string;
  /** State of the action: in progress, and its last failure. */
  action: { busy: boolean; error: string | null };
  onRemove: () => void;
  onClose: () => void;
  /** Description of what is removed along. */
  children: ComponentChildren;
}

/** Asks for confirmation before a field of a product is removed. */
export function RemoveFieldDialog({ name, deed, action, onRemove, onClose, children }: RemoveFieldProps) {
  return (
    <Dialog title={`Remove ${name}?`} onClose={onClose}>
      <div class="stack">{children}</div>
      {action.error !== null && <Note kind="error">{action.error}</Note>}
      <div class="actions">
        <button type="button" onClick={onClose}>
          Keep it
        </button>
        <button type="button" class="danger primary" disabled={action.busy} onClick={onRemove}>
          {deed}
        </button>
      </div>
    </Dialog>
  );
}
