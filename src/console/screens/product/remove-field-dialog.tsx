import type { ComponentChildren } from 'preact';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';

interface RemoveFieldProps {
  name: string;
  /** What removing it is called. */
  deed: string;
  /** Under way or not, and why it failed last. */
  action: { busy: boolean; error: string | null };
  onRemove: () => void;
  onClose: () => void;
  /** What goes with it. */
  children: ComponentChildren;
}

/** Asks before a field of a product goes, and says what goes with it. */
export function RemoveFieldDialog({ name, deed, action, onRemove, onClose, children }: RemoveFieldProps) {
  return (
    <Dialog title={`Remove ${name}?`} onClose={onClose}>
      <p>{children}</p>
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
